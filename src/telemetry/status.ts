import { z } from 'zod'
import { lruCache } from '../caches.ts'
import { storeAdvice } from '../storage/store-error.ts'
import type { Settings } from '../config/settings.ts'
import type { FailingPart } from './failures.ts'
import type { BegunRow } from './journal/rows.ts'
import { grouped } from './log/lines.ts'
import type { HeldOutline, RequestEnd, RequestReport } from './request-report.ts'
import type { SummaryResult } from '../summaries/summary-order.ts'

const kinds = [
  'upstream',
  'rate-limit',
  'overflow',
  'foldgate',
  'store',
  'summaries',
  'compaction',
  'window',
] as const

const troubleSchema = z.object({
  kind: z.enum(kinds),
  /** What is not well, as a sentence that goes on with since when. */
  what: z.string(),
  /** ISO 8601, in UTC. */
  since: z.string(),
  advice: z.string(),
})

export const statusSchema = z.object({ well: z.boolean(), troubles: z.array(troubleSchema) })

/** Whether all is well, and what is not: since when, and what to do about it. */
export type Status = z.output<typeof statusSchema>

/** The same in a few words. */
export function statusWords({ troubles: { length } }: Status): string {
  if (length === TROUBLES_MAX) return `${length} things or more are not well`
  return length === 0 ? 'All well' : length === 1 ? '1 thing is not well' : `${length} things are not well`
}

/**
 * How things stand, by what requests, summaries and parts of this process have met of late. What fails comes by one of four ways,
 * whichever kind it is of: as an answer, as a refusal of Foldgate's own, as a part that has failed, or as a summary.
 * `storeTrouble`: why records are kept in memory although they should not be, and what to do; null if they are where the settings say.
 */
export function createStatus(
  nowMs: () => number,
  { upstreams, profiles }: Pick<Settings, 'upstreams' | 'profiles'>,
  storeName: string,
  storeTrouble: string | null,
) {
  const since = new Date(nowMs()).toISOString()
  /** Of upstreams, parts of Foldgate and summaries. */
  const parts = lruCache<Recent>(NAMES_MAX)
  /** Of models, which clients name as they like: they drive out one another, and nothing else. */
  const models = lruCache<Recent>(NAMES_MAX)
  /** Windows that are guesses, by model. */
  const guesses = lruCache<Guess>(NAMES_MAX)

  function add(to: typeof parts, name: string, fault: Fault | null, spanMs = LONG_MS): void {
    const recent = to.get(name) ?? createRecent(spanMs)
    recent.add(fault, nowMs())
    to.set(name, recent)
  }

  const windowAdvice = (model: string): string =>
    `write a profile into ${profiles}, with models: [${model}] and window: {tokens: NUMBER}`
  const nameOf = (upstream: string): string => `${upstream} (${upstreams.get(upstream)?.url ?? 'unknown'})`

  /** Foldgate itself has refused a request. As of any server, a status below 500 says that its client is to blame. */
  function refused(code: string, status: number): undefined {
    if (status >= 500)
      add(parts, 'foldgate', { ...faultOf(code, 'Foldgate itself', ''), kind: 'foldgate' }, MINUTE_MS)
  }

  return {
    refused,
    /** A request has got its answer. `around`: what stands around its messages; null if that is not known. */
    begun: (row: BegunRow, around: HeldOutline['around'] | null): void => {
      if (row.window_source === null || (row.status ?? 500) >= 400) return
      const [model, place] = [row.model.slice(0, MODEL_CHARS_MAX), nameOf(row.upstream)]
      const name = `${model} at ${place}`
      // One that was asked for, or is due after so many turns, is no sign of pressure.
      const isPressed = row.compaction === 'trigger' || row.compaction === 'overflow'
      const what = `requests of ${model} had to be sent twice: too long for ${place} at first,`
      const recovery = { kind: 'overflow', what, advice: windowAdvice('NAME'), least: 3, share: 0.5 } as const
      add(models, name, row.action === 'recovered' ? recovery : isPressed ? pressureOf(row, around) : null)
      const sinceMs = guesses.get(name)?.sinceMs ?? nowMs()
      const guess = { tokens: row.window_tokens ?? 0, sinceMs, lastMs: nowMs() }
      if (row.window_source === 'default') guesses.set(name, guess)
      else guesses.delete(name)
    },
    /** A request has ended. Returns what its upstream did to it: null if that was well, undefined if nothing is known of it. */
    ended: (report: Refusable, outcome: RequestEnd['outcome']) => {
      const { action, reason, status, upstream, model } = report.row
      if (action === 'refused' && reason?.startsWith('upstream_') !== true)
        return refused(reason ?? '', status ?? 0)
      const name = faultIn(report, outcome)
      if (name === undefined) return undefined
      const named = windowAdvice(JSON.stringify(model.slice(0, MODEL_CHARS_MAX)))
      const setting = name === 'overflow' ? named : upstreams.get(upstream)?.set_by
      const fault = name === null ? null : faultOf(name, nameOf(upstream), setting ?? '')
      add(parts, `upstream ${upstream}`, fault, MINUTE_MS)
      add(parts, 'foldgate', null, MINUTE_MS)
      return fault
    },
    summary: (written: SummaryResult): void => {
      if (written.kind === 'failed' && written.reason === 'cancelled') return
      const what = `summaries failed (${written.kind === 'failed' ? written.reason : ''})`
      const advice = 'recaps stand in their place; see what summary.model and summary.upstream name'
      // One that failed is no sign: it may have been hard to write.
      const fault = { kind: 'summaries', what, advice, least: 2, share: 0.5 } as const
      add(parts, 'summaries', written.kind === 'failed' ? fault : null)
    },
    /** A part of Foldgate has failed, whichever, and the request has gone on. `reason`: as far as it is the operator's to mend. */
    failed: (part: FailingPart, reason: string | null): void => {
      const what = part === 'store' ? `the store ${storeName} fails` : `a part of Foldgate fails: ${part}`
      const mend = reason === null ? 'report what the log says of it' : 'see that its folder takes writes'
      const advice = part === 'store' ? storeAdvice(storeName) : `requests go on without it; ${mend}`
      const told = { what: reason === null ? what : `${what} (${reason})`, advice }
      // What waits for the store asks again and again: one that is away fails all the time.
      if (part === 'store') add(parts, part, { ...told, kind: part }, MINUTE_MS)
      else add(parts, part, { ...told, kind: 'foldgate' })
    },
    tell: (): Status => {
      const found = [...parts.values(), ...models.values()].flatMap((recent) => recent.troubles(nowMs()))
      const latest = [...guesses.entries()].filter(([, { lastMs }]) => nowMs() - lastMs < LONG_MS)
      found.push(...guessesTold(latest, windowAdvice('NAME')))
      const what = 'records are kept in memory, and end with the process,'
      if (storeTrouble !== null) found.push({ kind: 'store', what, since, advice: storeTrouble })
      const troubles = found.toSorted((one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind))
      return { well: troubles.length === 0, troubles: troubles.slice(0, TROUBLES_MAX) }
    },
  }
}

// --- internal ---

type Trouble = Status['troubles'][number]

/**
 * What is a trouble from so many on (default 1), and from this share of all tries (default: any), together with all others of its
 * group (default: its name). `name`: by which it is told (default: its kind).
 */
type Fault = Omit<Trouble, 'since'> & {
  readonly name?: string
  readonly group?: string
  readonly least?: number
  readonly share?: number
}

type Refusable = Pick<RequestReport, 'row' | 'refusal'>

const nameOfFault = ({ name, kind }: Fault): string => name ?? kind

type Recent = ReturnType<typeof createRecent>

const NAMES_MAX = 300
const TRIES_MAX = 100
const TROUBLES_MAX = 10
const MODEL_CHARS_MAX = 80

/** Over how long requests to an upstream are looked at, and what is rarer; in milliseconds. */
const MINUTE_MS = 60_000
const LONG_MS = 600_000

/** What came of the latest tries at something. */
function createRecent(spanMs: number) {
  const tries: { readonly fault: Fault | null; readonly atMs: number }[] = []
  /** Since when each fault has come without a good end in between, nor a time in which there was no try. */
  const standing = new Map<string, number>()

  /** From when on tries count. What could not be reached is not well again before it is. */
  function fromMs(nowMs: number): number {
    const last = tries.at(-1)
    return (last?.fault?.name === UNREACHABLE ? last.atMs : nowMs) - spanMs
  }
  return {
    add: (fault: Fault | null, atMs: number): void => {
      if (fault === null || (tries.at(-1)?.atMs ?? atMs) <= fromMs(atMs)) standing.clear()
      if (fault !== null && !standing.has(nameOfFault(fault))) standing.set(nameOfFault(fault), atMs)
      tries.push({ fault, atMs })
      if (tries.length > TRIES_MAX) tries.shift()
    },
    /** Each group of faults that has come often enough, by that which came most, as it was told the last time. */
    troubles: (nowMs: number): Trouble[] => {
      const beginMs = fromMs(nowMs)
      // A clock may be set back.
      const seen = tries.filter(({ atMs }) => atMs > beginMs && atMs <= nowMs + spanMs)
      const isReached = seen.at(-1)?.fault?.name !== UNREACHABLE
      const groups = Map.groupBy(
        seen.flatMap(({ fault, atMs }) => (fault === null ? [] : [{ fault, atMs }])),
        ({ fault }) => fault.group ?? nameOfFault(fault),
      )
      return Array.from(groups.values()).flatMap((those) => {
        const [most = []] = [...Map.groupBy(those, ({ fault }) => nameOfFault(fault)).values()].toSorted(
          (one, other) => other.length - one.length,
        )
        const fault = most.at(-1)?.fault
        if (fault === undefined || (fault.name === UNREACHABLE && isReached)) return []
        const { kind, what, advice, least = 1, share = 0 } = fault
        if (those.length < Math.max(least, share * seen.length)) return []
        const since = new Date(standing.get(nameOfFault(fault)) ?? those[0]?.atMs ?? nowMs).toISOString()
        const counted = `${grouped(those.length)} of the last ${grouped(seen.length)} ${what}`
        return [{ kind, what: share > 0 ? counted : what, since, advice }]
      })
    },
  }
}

/** The status of an error that the upstream answered, or the code of one in getting its answer. */
function faultIn({ row, refusal }: Refusable, outcome: RequestEnd['outcome']): string | null | undefined {
  if (row.action === 'refused') return row.reason
  if (refusal === 'overflow') return refusal
  if (outcome === 'broken-off') return 'upstream_broken'
  if (row.status === null) return undefined
  return row.status >= 400 ? String(row.status) : null
}

/** What each says of who answers, and what to do. */
const knownFaults: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  upstream_unreachable: ['cannot be reached', 'check that it runs and that SETTING names it'],
  upstream_timeout: ['does not answer in time', 'see what keeps it, or raise limits.first_byte_s and idle_s'],
  upstream_broken: ['breaks off', 'see what its own log says'],
  401: ['refuses the key (401)', 'see whose key it gets: x-foldgate-hint in its answers says so'],
  404: ['has no such path or model (404)', 'check the model that clients ask for, and SETTING'],
  429: ['limits rates (429)', 'send less at a time (concurrency of the upstream), or have its limit raised'],
  overflow: ['refuses prompts as too long, in every form', 'its answers say how much it takes: SETTING'],
  overloaded: ['is full', 'raise limits.concurrent or limits.bytes_in_flight_mb, or send less at a time'],
  529: ['is overloaded (529)', 'send less at a time (concurrency of the upstream), or wait'],
}

const UNREACHABLE = 'upstream_unreachable'

/** `setting`: where what it is about was set, or is to be. */
function faultOf(name: string, who: string, setting: string): Fault {
  const isRefusal = Number(name) < 500
  const why = isRefusal ? 'its answers, which clients get, say why' : 'see what its own log says'
  const [does, advice] = knownFaults[name] ?? [`answers ${name}`, why]
  const what = `requests failed: ${who} ${does}`
  const kind = name === '429' ? 'rate-limit' : name === 'overflow' ? name : 'upstream'
  const about = { name, kind, what, advice: advice.replace('SETTING', () => setting) } as const
  // One is enough where nothing that a client sends is why; of an upstream that is away, the latest.
  const isAway = name === UNREACHABLE
  if (isAway || name === '401' || name === '403') return { ...about, share: isAway ? 1 / TRIES_MAX : 0.1 }
  // Of overflows few are enough: they are what Foldgate is there to prevent.
  if (kind !== 'upstream') return { ...about, least: 3, share: name === '429' ? 0.1 : 0.03 }
  // Most refusals are of what one client has sent.
  return { ...about, group: isRefusal ? 'refusals' : 'failures', least: 3, share: isRefusal ? 0.5 : 0.1 }
}

function pressureOf(row: BegunRow, around: HeldOutline['around'] | null): Fault {
  const [tools, system] = [around?.tools.tokens ?? 0, around?.system.tokens ?? 0]
  const percent = Math.round((100 * (tools + system)) / (row.budget_tokens ?? Infinity))
  const filled = `system text (${grouped(system)} tokens) and tools (${grouped(tools)}) fill ${percent}% of its budget`
  const what = `requests of ${row.model.slice(0, MODEL_CHARS_MAX)} had to be compacted, while ${filled},`
  const advice = 'raise window.tokens, lower target in its profile, or give the agent fewer tools'
  return { kind: 'compaction', what, advice, least: 5, share: 0.8 }
}

type Guess = { readonly tokens: number; readonly sinceMs: number; readonly lastMs: number }

/** All guesses are one trouble: clients may name as many models as they like. */
function guessesTold(all: readonly (readonly [name: string, guess: Guess])[], advice: string): Trouble[] {
  if (all.length === 0) return []
  const named = all.slice(0, GUESSES_NAMED).map(([name, { tokens }]) => `${name} (${grouped(tokens)} tokens)`)
  const more = all.length > named.length ? ` and ${grouped(all.length - named.length)} more` : ''
  const since = new Date(Math.min(...all.map(([, { sinceMs }]) => sinceMs))).toISOString()
  const what = `requests meet a window that is a guess: ${named.join(', ')}${more}`
  return [{ kind: 'window', what, since, advice }]
}

const GUESSES_NAMED = 3
