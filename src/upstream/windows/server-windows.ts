import { LRUCache } from 'lru-cache'
import type { WindowKind } from '../../overflow/classification.ts'
import { chatBase, type Target } from '../target.ts'
import type { Upstreams } from '../upstreams.ts'
import type { Asker, WindowTrouble } from './ask-json.ts'
import { openTimeBox } from './time-box.ts'
import type { ProbeState } from './decide.ts'
import { createKeptLists } from './kept-lists.ts'
import { probesFor } from './plan.ts'
import { createProbeMemory, type ProbeMemory } from './probe-memory.ts'
import { runProbes } from './probe-run.ts'
import { outcomeOf, type KnownWindow } from './known-window.ts'

export type WindowQuestion = {
  /** A name from the settings; null for the default upstream. */
  readonly upstream: string | null
  /** A digest of the credential: what one credential was told is never told to another. */
  readonly credential: string
  readonly model: string
  /** Of the chat completion, as the client wrote it. */
  readonly target: Target
  /** The client's headers. Its credentials travel with the question, under the same rules as its requests. */
  readonly rawHeaders: readonly string[]
  /** True where the client's credential is a key of Foldgate's own. */
  readonly withholdCredential: boolean
}

/** The window that a server states. `isAssumed`: only what this kind of server does unless told otherwise. */
export type ServerWindow = {
  readonly tokens: number
  readonly kind: WindowKind
  readonly isAssumed: boolean
}

export type ServerWindows = {
  /** What is known now. Asks in the background where nothing is known or it is old. Never waits or throws. */
  readonly lookup: (question: WindowQuestion) => ServerWindow | null
  /** Resolves once the question about this model that runs is answered, at the latest after `waitMs`. */
  readonly settled: (question: WindowQuestion, waitMs: number) => Promise<void>
  /** Whether nothing was ever found out about this model and asking may help: a first request may wait for it. */
  readonly isUnasked: (question: WindowQuestion) => boolean
  /** Asks again now, in the background: the server refused or truncated, or has loaded the model since. */
  readonly refresh: (question: WindowQuestion) => void
  /** Ends running questions and takes no more. */
  readonly close: () => Promise<void>
}

export type ServerWindowsOptions = {
  readonly upstreams: Pick<Upstreams, 'ask' | 'has' | 'addressOf'>
  readonly nowMs: () => number
  /** Called once for each upstream and kind of trouble, and only where no window was found. Must not throw. */
  readonly onTrouble: (upstreamName: string, what: WindowTrouble) => void
  /** How long a question may take in all, in milliseconds. Default 5000. */
  readonly timeBoxMs?: number
}

/** Asks upstreams what windows their models have, off the path of requests, and remembers it. */
export function createServerWindows(options: ServerWindowsOptions): ServerWindows {
  const { upstreams, nowMs, onTrouble } = options
  const timeBoxMs = options.timeBoxMs ?? TIME_BOX_MS
  const servers = new LRUCache<string, Server>({ max: SERVERS_MAX })
  const entries = new LRUCache<string, Entry>({ max: MODELS_MAX })
  const lists = createKeptLists(upstreams)
  /** By model: the questions that no answer is settled for yet. */
  const runs = new Map<string, Promise<void>>()
  const boxes = new Set<{ readonly abort: () => void; readonly ended: Promise<void> }>()
  const told = new Set<string>()
  let isClosed = false

  function subjectOf(question: WindowQuestion): Subject | null {
    const name = question.upstream ?? 'default'
    if (question.model.length > MODEL_CHARS_MAX || !upstreams.has(name)) return null
    const address = upstreams.addressOf(question.upstream)
    const base = chatBase(address, question.target)
    if (base === null) return null
    const serverKey = JSON.stringify([name, question.credential, base])
    let server = servers.get(serverKey)
    if (server === undefined) {
      server = { key: serverKey, memory: createProbeMemory(probesFor(address.origin, base)), firstRun: null }
      servers.set(serverKey, server)
    }
    return { server, key: JSON.stringify([serverKey, question.model]), question }
  }

  function tell(upstream: string | null, what: WindowTrouble | null): void {
    if (what === null || isClosed) return
    const name = upstream ?? 'default'
    if (told.has(`${name} ${what}`)) return
    told.add(`${name} ${what}`)
    onTrouble(name, what)
  }

  function conclude(
    { server, question }: Subject,
    entry: Entry,
    before: KnownWindow | null,
    states: readonly ProbeState[],
  ): void {
    const { window, freshMs, trouble } = outcomeOf(before, states)
    const now = nowMs()
    const listUntilMs = window === null ? null : lists.freshUntilMs(server.key, window.probe, now)
    entry.window = window
    entry.freshUntilMs = Math.min(now + freshMs, listUntilMs ?? Number.POSITIVE_INFINITY)
    entry.isAnswered = true
    tell(question.upstream, trouble)
  }

  /** Starts asking, or answers at once where lists that are kept say all there is to know. */
  function start(subject: Subject, isForced: boolean): void {
    const { server, key, question } = subject
    if (isClosed || runs.has(key) || boxes.size >= RUNS_MAX) return
    const now = nowMs()
    const entry = entries.get(key) ?? newEntry()
    if (isForced) {
      entry.refreshedAtMs = now
      entry.isRefreshDue = false
    }
    entries.set(key, entry)
    if (server.firstRun === null) {
      const kept = server.memory
        .due(now, isForced)
        .map((probe) => ({ probe, reading: lists.read(server.key, probe, question.model, now, isForced) }))
      if (kept.every(({ reading }) => reading !== null)) {
        conclude(subject, entry, entry.window, kept)
        return
      }
    }
    const isFirst = server.memory.isEmpty()
    const running = run(subject, entry, isForced).finally(() => {
      if (isFirst) server.firstRun = null
      runs.delete(key)
    })
    if (isFirst) server.firstRun = running
    runs.set(key, running)
  }

  async function run(subject: Subject, entry: Entry, isForced: boolean): Promise<void> {
    const { server, question } = subject
    const { memory } = server
    const before = entry.window
    // What the first question finds out spares all others most of theirs.
    if (!memory.isEmpty()) await server.firstRun
    if (isClosed) return
    const probes = memory.due(nowMs(), isForced)
    memory.started(probes, nowMs())
    const asker: Asker = { ...question, clientQuery: question.target.query }
    const { model } = question
    const box = openTimeBox(timeBoxMs)
    const { settled, ended } = runProbes(probes, {
      read: async (probe) =>
        lists.ask({ server: server.key, asker, probe, model, isForced, signal: box.signal, nowMs }),
      onReading: (probe, { use }) => memory.note(probe, use, nowMs()),
      // What a first answer says is better than nothing while the others are awaited.
      onFound: (found) => {
        if (before === null) entry.window = found
      },
    })
    // Probes that cannot change the answer any more still tell what the server is.
    const open = { abort: box.abort, ended: ended.finally(box.close) }
    boxes.add(open)
    void open.ended.finally(() => boxes.delete(open))
    const states = await settled
    if (!isClosed) conclude(subject, entry, before, states)
  }

  return {
    lookup: function lookup(question) {
      const subject = subjectOf(question)
      if (subject === null) return null
      const now = nowMs()
      const entry = entries.get(subject.key)
      if (entry?.isRefreshDue === true && isRefreshAllowed(entry, now)) start(subject, true)
      else if (entry === undefined || entry.freshUntilMs <= now) start(subject, false)
      const window = entries.get(subject.key)?.window ?? null
      if (window === null) return null
      const { tokens, kind, isAssumed } = window.figure
      return { tokens, kind, isAssumed }
    },
    settled: async function settled(question, waitMs) {
      const subject = subjectOf(question)
      const running = subject === null ? undefined : runs.get(subject.key)
      if (running === undefined) return
      const { promise: timeUp, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, waitMs)
      await Promise.race([running, timeUp])
      clearTimeout(timer)
    },
    isUnasked: function isUnasked(question) {
      const subject = subjectOf(question)
      if (subject === null) return false
      const { server, key } = subject
      const entry = entries.get(key)
      if (entry !== undefined) return !entry.isAnswered && entry.window === null
      if (server.firstRun !== null) return true
      const now = nowMs()
      return server.memory
        .due(now, false)
        .some((probe) => lists.read(server.key, probe, question.model, now, false) === null)
    },
    refresh: function refresh(question) {
      const subject = subjectOf(question)
      if (subject === null) return
      const entry = entries.get(subject.key)
      if (entry === undefined) start(subject, true)
      // One that comes while asking, or too soon, is left to the model's next request.
      else if (runs.has(subject.key) || !isRefreshAllowed(entry, nowMs())) entry.isRefreshDue = true
      else start(subject, true)
    },
    close: async function close() {
      isClosed = true
      for (const { abort } of boxes) abort()
      await Promise.all([...runs.values(), ...Array.from(boxes, ({ ended }) => ended)])
    },
  }
}

// --- internal ---

/** A place that is asked: an upstream, under one base path, as one credential sees it. */
type Server = {
  readonly key: string
  readonly memory: ProbeMemory
  /** The very first question, while it runs. */
  firstRun: Promise<void> | null
}

type Subject = { readonly server: Server; readonly key: string; readonly question: WindowQuestion }

/** What is known of a model at a server. */
type Entry = {
  window: KnownWindow | null
  freshUntilMs: number
  refreshedAtMs: number
  isRefreshDue: boolean
  isAnswered: boolean
}

function newEntry(): Entry {
  return {
    window: null,
    freshUntilMs: 0,
    refreshedAtMs: Number.NEGATIVE_INFINITY,
    isRefreshDue: false,
    isAnswered: false,
  }
}

function isRefreshAllowed({ refreshedAtMs }: Entry, nowMs: number): boolean {
  return nowMs - refreshedAtMs >= REFRESH_PAUSE_MS
}

/** A server that takes longer has the next question answered instead. */
const TIME_BOX_MS = 5_000

/** Between two refreshes of a model, in milliseconds: a run of refusals asks once. */
const REFRESH_PAUSE_MS = 5_000

/** Servers are a few; credentials may be many. */
const SERVERS_MAX = 1_000
const MODELS_MAX = 4_096

/** Longer names are no models': nobody is asked about them. */
const MODEL_CHARS_MAX = 512

/** Questions at once. Each may be a dozen requests to an upstream; more wait for the model's next request. */
const RUNS_MAX = 32
