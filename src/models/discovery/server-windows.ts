import { lruCache } from '../../caches.ts'
import { type HeldKeyMark, noMarks } from '../../upstream/credential.ts'
import { MODEL_NAME_CHARS_MAX } from '../../upstream/target.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import type { WindowQuestion, WindowTrouble } from './ask-json.ts'
import { FRESH_MS, isFigure, leastFigure, type WindowFigure } from './figure.ts'
import {
  createReadingCache,
  emptyReading,
  type KnownReadings,
  type Reading,
  READING_LIFE_MS,
  readProbe,
} from './reading.ts'
import type { Probe } from './probes.ts'
import { createSites, dueProbes, noteAsked, noteUse, type SiteAccess } from './sites.ts'

/** The window that a server states. */
export type ServerWindow = Pick<WindowFigure, 'tokens' | 'kind' | 'inputTokens'> & {
  /** The size that the server says it runs the model with now: no catalogue's, and none of before it unloaded the model. */
  readonly isLoaded: boolean
}

export type ServerWindows = ReturnType<typeof createServerWindows>

/** Asks upstreams what windows their models have, off the path of requests, and remembers it. */
export function createServerWindows({
  upstreams,
  nowMs = () => performance.now(),
  heldKeyMark = noMarks,
  onTrouble,
  timeBoxMs = TIME_BOX_MS,
}: {
  readonly upstreams: Pick<Upstreams, 'ask' | 'has' | 'addressOf' | 'seesCredentialOf'>
  /** Default: the process's own clock, which nobody sets back. */
  readonly nowMs?: () => number
  /** Default: no key is held that could change. */
  readonly heldKeyMark?: HeldKeyMark
  /** Called once for each upstream and kind of trouble, and only where no window was found. Must not throw. */
  readonly onTrouble: (upstreamName: string, what: WindowTrouble) => void
  /** How long asking about a model may take in all, in milliseconds. Default 5000. */
  readonly timeBoxMs?: number
}) {
  const accessOf = createSites(upstreams, heldKeyMark)
  const asked = lruCache<AskedModel>(MODELS_MAX)
  const readingsOf = createReadingCache(nowMs)
  /** A request asks the same question several times. */
  const subjects = new WeakMap<WindowQuestion, Subject | null>()
  /** By model, those that no answer is settled for yet. */
  const runs = new Map<string, Promise<void>>()
  const underway = new Set<Promise<void>>()
  const closing = new AbortController()
  const told = new Set<string>()

  function subjectOf(question: WindowQuestion): Subject | null {
    const known = subjects.get(question)
    if (known !== undefined) return known
    const { model, upstream } = question
    const isNamed = model !== null && model.length <= MODEL_NAME_CHARS_MAX
    const access = isNamed && upstreams.has(upstream ?? 'default') ? accessOf(question) : null
    const subject =
      access === null || model === null
        ? null
        : {
            access,
            site: access.site,
            said: readingsOf(access.key, model),
            model,
            key: `${access.key} ${model}`,
            question,
          }
    subjects.set(question, subject)
    return subject
  }

  /** What is known of a model; unless something was found out within a day, as if it had never been asked about. */
  function askedModel(key: string): AskedModel {
    const known = asked.get(key)
    const answeredAtMs = known?.answeredAtMs ?? nowMs()
    if (known !== undefined && (nowMs() - answeredAtMs < READING_LIFE_MS || runs.has(key))) return known
    const model = { answeredAtMs: null, refreshedAtMs: -Infinity, isRefreshDue: false, isLost: false }
    asked.set(key, model)
    return model
  }

  /** The probes to ask now about a model: of those that are of use, all whose answer is old or missing. */
  function staleProbes(subject: Subject, isForced: boolean): readonly Probe[] {
    const now = nowMs()
    return dueProbes(subject.access, now, isForced).filter((probe) => {
      const before = subject.said.get(probe)
      if (before === null) return true
      // A catalogue does not change because a server refused.
      const isCatalogue = before.freshMs === FRESH_MS.catalogue
      const freshMs = isForced ? (isCatalogue ? CATALOGUE_REFRESH_AGE_MS : 0) : before.freshMs
      return now - before.atMs >= freshMs
    })
  }

  function readings({ site, said }: Subject): readonly ProbeState[] {
    return site.probes.map((probe) => ({ probe, reading: said.get(probe)?.reading ?? null }))
  }

  /** Starts asking about a model, unless what is known is new enough, or enough is being asked already. */
  function start(subject: Subject, model: AskedModel): void {
    const { key, site } = subject
    if (closing.signal.aborted || runs.has(key)) return
    const isForced = model.isRefreshDue && nowMs() - model.refreshedAtMs >= REFRESH_PAUSE_MS
    if (staleProbes(subject, isForced).length > 0 || site.firstRun !== null) {
      if (site.origin.runsCount >= RUNS_MAX) return
      const isFirst = site.probes.length > 1 && site.worth.size === 0
      const running = run(subject, model, isForced).finally(() => {
        if (isFirst) site.firstRun = null
        runs.delete(key)
      })
      if (isFirst) site.firstRun = running
      runs.set(key, running)
    }
    if (isForced) {
      model.refreshedAtMs = nowMs()
      model.isRefreshDue = false
    }
  }

  async function run(subject: Subject, model: AskedModel, isForced: boolean): Promise<void> {
    const { site, question } = subject
    site.origin.runsCount += 1
    // What the first run finds out spares all others most of theirs.
    if (site.worth.size > 0) await site.firstRun
    const probes = closing.signal.aborted ? [] : staleProbes(subject, isForced)
    if (site.probes.length > 1) noteAsked(site, probes, nowMs())
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeBoxMs)])
    const troubles: WindowTrouble[] = []
    const { settled, ended } = runProbes(probes, {
      read: (probe) => readProbe(upstreams, question, probe, subject.model, signal),
      isDeniedToSome: (probe) => site.worth.get(probe)?.isDeniedToSome === true,
      onReading: (probe, reading) => {
        noteUse(subject.access, probe, reading.use, nowMs())
        subject.said.take(probe, reading)
        if (reading.trouble !== 'no-answer') site.origin.isMute = false
        if (reading.use !== 'failed') model.isLost = false
        else if (model.isLost) model.isRefreshDue = true
        if (reading.trouble !== null) troubles.push(reading.trouble)
      },
    })
    // Probes that cannot change the answer any more still tell what the server is.
    const ending = ended.finally(() => {
      underway.delete(ending)
      site.origin.runsCount -= 1
    })
    underway.add(ending)
    await settled
    if (closing.signal.aborted) return
    model.answeredAtMs = nowMs()
    const [trouble] = troubles
    const name = question.upstream ?? 'default'
    if (trouble === undefined || figureIn(readings(subject)) !== null || told.has(`${name} ${trouble}`))
      return
    told.add(`${name} ${trouble}`)
    onTrouble(name, trouble)
  }

  /** Asks again. While it is being asked, or too soon, that is left to the model's next request. */
  function refresh(subject: Subject): void {
    const model = askedModel(subject.key)
    model.isRefreshDue = true
    start(subject, model)
  }

  /** What a question is about where that was asked before: else nothing is known that could have changed. */
  function askedSubject(question: WindowQuestion): Subject | null {
    const subject = subjectOf(question)
    return subject !== null && asked.has(subject.key) ? subject : null
  }

  return {
    /** What is known now. Asks in the background where nothing is known or it is old. Never waits or throws. */
    lookup: (question: WindowQuestion): ServerWindow | null => {
      const subject = subjectOf(question)
      if (subject === null) return null
      start(subject, askedModel(subject.key))
      const states = readings(subject)
      const figure = figureIn(states)
      if (figure === null) return null
      const { tokens, kind, inputTokens, basis } = figure
      const isUnloaded = states.some(({ reading }) => reading?.isUnloaded === true)
      return { tokens, kind, inputTokens, isLoaded: basis === 'loaded' && !isUnloaded }
    },
    /**
     * Whether a request should look up and then wait: nothing was ever found out about this model, asking may
     * help, and nobody has waited in vain for its upstream since that said anything.
     */
    shouldWait: (question: WindowQuestion): boolean => {
      const subject = subjectOf(question)
      if (subject === null || closing.signal.aborted || subject.site.origin.isMute) return false
      const model = askedModel(subject.key)
      if (model.isLost) return runs.has(subject.key) || nowMs() - model.refreshedAtMs >= REFRESH_PAUSE_MS
      if (model.answeredAtMs !== null || figureIn(readings(subject)) !== null) return false
      return runs.has(subject.key) || subject.site.firstRun !== null || staleProbes(subject, false).length > 0
    },
    /** Resolves once what runs about this model is answered, at the latest after `waitMs`. */
    settled: async (question: WindowQuestion, waitMs: number): Promise<void> => {
      const subject = subjectOf(question)
      const running = subject === null ? undefined : runs.get(subject.key)
      if (subject === null || running === undefined || (await isDoneWithin(running, waitMs))) return
      subject.site.origin.isMute = true
    },
    /** Asks again now, in the background: the server refused or truncated. */
    refresh: (question: WindowQuestion): void => {
      const subject = subjectOf(question)
      if (subject !== null) refresh(subject)
    },
    /** The model has just answered, so it is loaded now: asks again if it was not. */
    answered: (question: WindowQuestion): void => {
      const subject = askedSubject(question)
      if (subject !== null && readings(subject).some(({ reading }) => reading?.isUnloaded === true))
        refresh(subject)
    },
    /**
     * A request found nobody there, or was broken off: who starts a server anew may give it another window. The model's next
     * request asks again, and waits for the answer as the first one did.
     */
    lost: (question: WindowQuestion): void => {
      const subject = askedSubject(question)
      if (subject !== null) Object.assign(askedModel(subject.key), { isRefreshDue: true, isLost: true })
    },
    /** Ends what runs and takes no more. */
    close: async (): Promise<void> => {
      closing.abort(new Error('The server is not asked any more.'))
      await Promise.all([...runs.values(), ...underway])
    },
  }
}

/** A probe and what it found out; null while it runs, and where it was not asked. */
type ProbeState = { readonly probe: Probe; readonly reading: Reading | null }

/**
 * The window that the probes found, as far as they have answered: a loaded size before what will be loaded, that before a
 * catalogue, and else in the order of the probes. Of several loaded sizes the least: SGLang states the model's window in its
 * list, and elsewhere what its memory holds.
 */
function figureIn(states: readonly ProbeState[]): WindowFigure | null {
  const figures = states.flatMap(({ reading }) => reading?.figure ?? [])
  const least = leastFigure(...figures.filter(({ basis }) => basis === 'loaded'))
  if (isFigure(least)) return least
  return figures.find(({ basis }) => basis !== 'catalogue') ?? figures[0] ?? null
}

/**
 * Asks the list first and all others a moment later, unless that said all there is to know: most servers then see one
 * request. The others are asked a few at a time. A credential that is denied the list, or the first of the probes that were
 * denied to others, is not tried on the rest: made-up ones would each cost the server a dozen requests.
 *
 * @internal exported for tests
 */
export function runProbes(
  probes: readonly Probe[],
  {
    read,
    isDeniedToSome,
    onReading,
  }: {
    readonly read: (probe: Probe) => Promise<Reading>
    /** Whether the server has an answer to this probe that it does not give to everybody. */
    readonly isDeniedToSome: (probe: Probe) => boolean
    readonly onReading: (probe: Probe, reading: Reading) => void
  },
) {
  const readings = new Map<Probe, Reading>()
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>()
  let isOver = false

  function take(probe: Probe, reading: Reading): void {
    readings.set(probe, reading)
    onReading(probe, reading)
    if (canChange(probes.map((each) => ({ probe: each, reading: readings.get(each) ?? null })))) return
    isOver = true
    settle()
  }

  async function askOthers(): Promise<void> {
    for (let probe = others.shift(); probe !== undefined && !isOver; probe = others.shift()) {
      const isAwaited = probe.name === 'sglang' || isDeniedToSome(probe)
      if (isAwaited) await opened
      const said = opener === undefined ? undefined : readings.get(opener)
      const isRefused = said?.use === 'denied' && (opener === list || isDeniedToSome(probe))
      // A list that is not SGLang's spares the server this one.
      const isElsewhere = probe.name === 'sglang' && said?.list != null && !said.list.isSglang
      if (isRefused || isElsewhere) take(probe, emptyReading(isRefused ? 'denied' : 'useless'))
      else if (!isOver) await isDoneWithin(asked(probe), PATIENCE_MS)
    }
  }

  const underway: Promise<void>[] = []
  function asked(probe: Probe): Promise<void> {
    const asking = read(probe)
      .catch(() => emptyReading('failed'))
      .then((reading) => take(probe, reading))
    underway.push(asking)
    return asking
  }

  const list = probes.find(({ name }) => name === 'list')
  const opener = list ?? probes.find(isDeniedToSome)
  const others = probes.filter((probe) => probe !== opener)
  const opened = opener === undefined ? Promise.resolve() : asked(opener)
  async function askAll(): Promise<void> {
    if (opener !== undefined) await isDoneWithin(opened, HEAD_START_MS)
    await Promise.all(Array.from({ length: AT_ONCE }, askOthers))
    await Promise.all(underway)
    settle()
  }
  return {
    /** Resolves as soon as no probe that still runs could change what was found. */
    settled,
    /** Resolves once every probe has answered. */
    ended: askAll(),
  }
}

/** Resolves with true as soon as the work is done, or with false once the time is up. */
async function isDoneWithin(work: Promise<unknown>, waitMs: number): Promise<boolean> {
  const { promise: timeUp, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), waitMs)
  const isDone = await Promise.race([work.then(() => true), timeUp])
  clearTimeout(timer)
  return isDone
}

// --- internal ---

type Subject = {
  readonly model: string
  readonly said: KnownReadings
  readonly access: SiteAccess
  readonly site: SiteAccess['site']
  readonly key: string
  readonly question: WindowQuestion
}

/** What was asked about a model with a credential. */
type AskedModel = {
  /** When all that could be asked was answered; null before that. */
  answeredAtMs: number | null
  refreshedAtMs: number
  isRefreshDue: boolean
  /** Whether its server was gone, and has said nothing since. */
  isLost: boolean
}

/** A server that takes longer has the next request answered instead. */
const TIME_BOX_MS = 5_000

/** What is known of a model is a few numbers. */
const MODELS_MAX = 4_096

/**
 * Runs at one origin at once, those among them that wait for the first one. Each is a request or two once it is known
 * what the server is, and a dozen before.
 */
const RUNS_MAX = 32

/** Between two refreshes of a model, in milliseconds: a run of refusals asks once. */
const REFRESH_PAUSE_MS = 5_000

/** A catalogue that is newer than this is not asked for again when a server refuses. */
const CATALOGUE_REFRESH_AGE_MS = 600_000

/**
 * Beside the list, so many are asked at once, and another in the place of each that is not heard of for this long, in
 * milliseconds: a server that answers one request at a time is not to find a dozen in front of its first chat, and one that
 * never answers some of them is not to keep the others from being asked.
 */
const AT_ONCE = 3
const PATIENCE_MS = 250

/** How long the list has for itself, in milliseconds: on a machine of one's own it takes a few. */
const HEAD_START_MS = 150

/** Whether a probe that still runs could change what was found. */
function canChange(states: readonly ProbeState[]): boolean {
  const running = states.filter(({ reading }) => reading === null).map(({ probe }) => probe)
  const figure = figureIn(states)
  if (figure === null) return running.length > 0
  if (figure.basis === 'loaded') {
    const isSglang = states.some(
      ({ probe, reading }) =>
        reading?.list?.isSglang === true || (probe.name === 'sglang' && reading?.figure != null),
    )
    return isSglang && running.some(({ name }) => name === 'list' || name === 'sglang')
  }
  return running.some(({ isCatalogue }) => !isCatalogue)
}
