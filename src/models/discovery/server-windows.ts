import { LRUCache } from 'lru-cache'
import { noMarks, type HeldKeyMark } from '../../upstream/held-key-marks.ts'
import { MODEL_NAME_CHARS_MAX } from '../../upstream/model-name.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import { createAccounts, type Account } from './accounts.ts'
import type { Asker, WindowTrouble } from './ask-json.ts'
import type { ProbeState } from './decide.ts'
import { isRefreshAllowed, newEntry, refreshed, statedIn, type Entry } from './entry.ts'
import { createKeptLists } from './kept-lists.ts'
import { hasEnded, newlyKnown, outcomeOf, type KnownWindow } from './known-window.ts'
import type { Probe } from './plan.ts'
import { runProbes } from './probe-run.ts'
import type { Reading } from './reading.ts'
import { isDoneWithin, openTimeBox } from './time-box.ts'
import type { ServerWindow, WindowQuestion } from './window-question.ts'

export type { ServerWindow, WindowQuestion } from './window-question.ts'

export type ServerWindows = {
  /** What is known now. Asks in the background where nothing is known or it is old. Never waits or throws. */
  readonly lookup: (question: WindowQuestion) => ServerWindow | null
  /**
   * Whether a request should look up and then wait: nothing was ever found out about this model, asking may
   * help, and nobody has waited in vain for it or for its upstream.
   */
  readonly shouldWait: (question: WindowQuestion) => boolean
  /** Resolves once what runs about this model is answered, at the latest after `waitMs`. */
  readonly settled: (question: WindowQuestion, waitMs: number) => Promise<void>
  /** Asks again now, in the background: the server refused or truncated. */
  readonly refresh: (question: WindowQuestion) => void
  /** The model has just answered, so it is loaded now: asks again if it was not, or if its window was assumed. */
  readonly answered: (question: WindowQuestion) => void
  /** Ends what runs and takes no more. */
  readonly close: () => Promise<void>
}

export type ServerWindowsOptions = {
  readonly upstreams: Pick<Upstreams, 'ask' | 'has' | 'addressOf' | 'seesCredentialOf'>
  readonly nowMs: () => number
  /** Default: no key is held that could change. */
  readonly heldKeyMark?: HeldKeyMark
  /** Called once for each upstream and kind of trouble, and only where no window was found. Must not throw. */
  readonly onTrouble: (upstreamName: string, what: WindowTrouble) => void
  /** How long asking about a model may take in all, in milliseconds. Default 5000. */
  readonly timeBoxMs?: number
}

/** Asks upstreams what windows their models have, off the path of requests, and remembers it. */
export function createServerWindows(options: ServerWindowsOptions): ServerWindows {
  const { upstreams, nowMs, onTrouble } = options
  const timeBoxMs = options.timeBoxMs ?? TIME_BOX_MS
  const accountOf = createAccounts({ upstreams, nowMs, heldKeyMark: options.heldKeyMark ?? noMarks })
  const entries = new LRUCache<string, Entry>({ max: MODELS_MAX })
  const lists = createKeptLists(upstreams)
  /** A request asks the same question several times. */
  const subjects = new WeakMap<WindowQuestion, Subject | null>()
  /** By model, those that no answer is settled for yet. */
  const runs = new Map<string, Promise<void>>()
  const boxes = new Set<{ readonly abort: () => void; readonly ended: Promise<void> }>()
  const told = new Set<string>()
  let isClosed = false

  function subjectOf(question: WindowQuestion): Subject | null {
    const known = subjects.get(question)
    if (known !== undefined) return known
    const subject = findSubject(question)
    subjects.set(question, subject)
    return subject
  }

  function findSubject(question: WindowQuestion): Subject | null {
    const { model } = question
    if (model === null || model.length > MODEL_NAME_CHARS_MAX) return null
    if (!upstreams.has(question.upstream ?? 'default')) return null
    const account = accountOf(question)
    return account === null ? null : { account, model, key: JSON.stringify([account.key, model]), question }
  }

  /** What is known of a model, unless it is too old to be believed. */
  function entryOf(key: string): Entry | undefined {
    const entry = entries.get(key)
    if (entry?.window == null || runs.has(key) || !hasEnded(entry.window, nowMs())) return entry
    entries.delete(key)
    return undefined
  }

  function dueProbes({ denials, site }: Account, isForced: boolean): readonly Probe[] {
    const now = nowMs()
    return site.memory.due(now, isForced).filter((probe) => !denials.isPaused(probe, now))
  }

  function tell(upstream: string | null, what: WindowTrouble | null): void {
    if (what === null || isClosed) return
    const name = upstream ?? 'default'
    if (told.has(`${name} ${what}`)) return
    told.add(`${name} ${what}`)
    onTrouble(name, what)
  }

  function conclude(
    { account, question }: Subject,
    entry: Entry,
    before: KnownWindow | null,
    states: readonly ProbeState[],
  ): void {
    const now = nowMs()
    const { window, isUnloaded, freshMs, trouble } = outcomeOf(before, states, now)
    const listUntilMs = window === null ? null : lists.freshUntilMs(account.key, window.probe, now)
    entry.window = window
    entry.isUnloaded = isUnloaded ?? entry.isUnloaded
    entry.freshUntilMs = Math.min(now + freshMs, listUntilMs ?? Number.POSITIVE_INFINITY)
    entry.isAnswered = true
    tell(question.upstream, trouble)
  }

  /** Starts asking, or answers at once where lists that are kept say all there is to know. */
  function start(subject: Subject, isForced: boolean): void {
    const { account, key, model } = subject
    const { site } = account
    if (isClosed || runs.has(key)) return
    const now = nowMs()
    const entry = entries.get(key) ?? newEntry()
    if (site.firstRun === null) {
      const kept = dueProbes(account, isForced).map((probe) => ({
        probe,
        reading: lists.read(account.key, probe, model, now, isForced),
      }))
      if (kept.every(({ reading }) => reading !== null)) {
        entries.set(key, refreshed(entry, isForced, now))
        conclude(subject, entry, entry.window, kept)
        return
      }
    }
    if (site.origin.runsCount >= RUNS_MAX) {
      // Left to the model's next request.
      entry.isRefreshDue ||= isForced
      return
    }
    entries.set(key, refreshed(entry, isForced, now))
    const isFirst = site.isOfUnknownKind && site.memory.isEmpty()
    const running = run(subject, entry, isForced).finally(() => {
      if (isFirst) site.firstRun = null
      runs.delete(key)
    })
    if (isFirst) site.firstRun = running
    runs.set(key, running)
  }

  async function run(subject: Subject, entry: Entry, isForced: boolean): Promise<void> {
    const { account, model, question } = subject
    const { site, denials } = account
    const { memory, origin } = site
    const before = entry.window
    origin.runsCount += 1
    // What the first run finds out spares all others most of theirs.
    if (!memory.isEmpty()) await site.firstRun
    const probes = isClosed ? [] : dueProbes(account, isForced)
    if (site.isOfUnknownKind) memory.started(probes, nowMs())
    const asker: Asker = { ...question, clientQuery: question.target.query }
    const box = openTimeBox(timeBoxMs)
    const { settled, ended } = runProbes(probes, {
      read: async (probe) =>
        lists.ask({ account: account.key, asker, probe, model, isForced, signal: box.signal, nowMs }),
      isDeniedToSome: memory.isDeniedToSome,
      onReading: (probe, { use, trouble }) => note(probe, use, trouble),
      // What a first answer says is better than nothing while the others are awaited.
      onFound: (found) => {
        if (before === null) entry.window = found === null ? null : newlyKnown(found, nowMs())
      },
    })

    function note(probe: Probe, use: Reading['use'], trouble: WindowTrouble | null): void {
      memory.note(probe, use, nowMs())
      denials.note(probe, use, nowMs())
      if (trouble !== 'no-answer') origin.isMute = false
    }

    // Probes that cannot change the answer any more still tell what the server is.
    const open = { abort: box.abort, ended }
    boxes.add(open)
    void ended.finally(() => {
      box.close()
      boxes.delete(open)
      origin.runsCount -= 1
    })
    const states = await settled
    if (!isClosed) conclude(subject, entry, before, states)
  }

  function refreshSubject(subject: Subject): void {
    const entry = entries.get(subject.key)
    // One that comes while asking, or too soon, is left to the model's next request.
    if (entry !== undefined && (runs.has(subject.key) || !isRefreshAllowed(entry, nowMs()))) {
      entry.isRefreshDue = true
      return
    }
    start(subject, true)
  }

  return {
    lookup: function lookup(question) {
      const subject = subjectOf(question)
      if (subject === null) return null
      const now = nowMs()
      const entry = entryOf(subject.key)
      if (entry?.isRefreshDue === true && isRefreshAllowed(entry, now)) start(subject, true)
      else if (entry === undefined || entry.freshUntilMs <= now) start(subject, false)
      const known = entries.get(subject.key)
      return known === undefined ? null : statedIn(known)
    },
    shouldWait: function shouldWait(question) {
      const subject = subjectOf(question)
      if (subject === null || isClosed) return false
      const { account, key, model } = subject
      const { site } = account
      if (site.origin.isMute) return false
      const entry = entryOf(key)
      if (entry !== undefined) return !entry.isAnswered && !entry.isWaitOver && entry.window === null
      if (site.firstRun !== null) return true
      const now = nowMs()
      return dueProbes(account, false).some(
        (probe) => lists.read(account.key, probe, model, now, false) === null,
      )
    },
    settled: async function settled(question, waitMs) {
      const subject = subjectOf(question)
      const running = subject === null ? undefined : runs.get(subject.key)
      if (subject === null || running === undefined || (await isDoneWithin(running, waitMs))) return
      const entry = entries.get(subject.key)
      if (entry !== undefined) entry.isWaitOver = true
      subject.account.site.origin.isMute = true
    },
    refresh: function refresh(question) {
      const subject = subjectOf(question)
      if (subject !== null) refreshSubject(subject)
    },
    answered: function answered(question) {
      const subject = subjectOf(question)
      const entry = subject === null ? undefined : entries.get(subject.key)
      if (subject === null || entry === undefined) return
      if (entry.isUnloaded || entry.window?.figure.isAssumed === true) refreshSubject(subject)
    },
    close: async function close() {
      isClosed = true
      for (const { abort } of boxes) abort()
      await Promise.all([...runs.values(), ...Array.from(boxes, ({ ended }) => ended)])
    },
  }
}

// --- internal ---

type Subject = {
  readonly account: Account
  readonly model: string
  readonly key: string
  readonly question: WindowQuestion
}

/** A server that takes longer has the next request answered instead. */
const TIME_BOX_MS = 5_000

/** What is known of a model is a few numbers. */
const MODELS_MAX = 4_096

/**
 * Runs at one origin at once, those among them that wait for the first one. Each is a request or two once it is known
 * what the server is, and fifteen before.
 */
const RUNS_MAX = 32
