import { z } from 'zod'
import { lruCache } from '../lru-cache.ts'
import { storeAdvice } from '../storage/store-error.ts'
import { settingOf } from '../upstream/failure.ts'
import type { BegunRow } from './journal/rows.ts'
import { grouped } from './log/lines.ts'
import type { HeldOutline, RequestEnd } from './request-report.ts'
import type { SummaryResult } from '../summaries/summary-order.ts'

const kinds = ['upstream', 'rate-limit', 'store', 'summaries', 'compaction', 'window'] as const

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
 * How things stand, by what requests, summaries and the store of this process have met of late. `storeTrouble`: why records are
 * kept in memory although they should not be, and what to do; null if they are where the settings say.
 */
export function createStatus(nowMs: () => number, storeName: string, storeTrouble: string | null) {
  const since = new Date(nowMs()).toISOString()
  /** Of upstreams, the store and summaries. */
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

  return {
    /** A request has got its answer. `around`: what stands around its messages; null if that is not known. */
    begun: (row: BegunRow, around: HeldOutline['around'] | null): void => {
      if (row.window_source === null || (row.status ?? 500) >= 400) return
      const name = `${row.upstream} ${row.model}`
      // One that was asked for, or is due after so many turns, is no sign of pressure.
      const isPressed = row.compaction === 'trigger' || row.compaction === 'overflow'
      add(models, name, isPressed ? pressureOf(row, around) : null)
      const sinceMs = guesses.get(row.model)?.sinceMs ?? nowMs()
      const guess = { tokens: row.window_tokens ?? 0, sinceMs, lastMs: nowMs() }
      if (row.window_source === 'default') guesses.set(row.model, guess)
      else guesses.delete(row.model)
    },
    /** A request has ended. Returns what its upstream did to it: null if that was well, undefined if nothing is known of it. */
    ended: (row: BegunRow, outcome: RequestEnd['outcome']): Fault | null | undefined => {
      const name = faultIn(row, outcome)
      const fault = name == null ? name : upstreamFault(name, row.upstream)
      if (fault !== undefined) add(parts, `upstream ${row.upstream}`, fault, MINUTE_MS)
      return fault
    },
    summary: (written: SummaryResult): void => {
      if (written.kind === 'written') return add(parts, 'summaries', null)
      if (written.reason === 'cancelled') return
      const what = `summaries failed (${written.reason})`
      const advice = 'recaps stand in their place; see what summary.model and summary.upstream name'
      // One that failed is no sign: it may have been hard to write.
      add(parts, 'summaries', { name: 'failed', kind: 'summaries', what, advice, least: 2, share: 0.5 })
    },
    /** What waits for it asks again and again: one that is away fails all the time. */
    storeFailed: (reason: string): void => {
      const what = `the store ${storeName} fails (${reason})`
      add(parts, 'store', { name: 'fails', kind: 'store', what, advice: storeAdvice(storeName) }, MINUTE_MS)
    },
    tell: (): Status => {
      const found = [...parts.values(), ...models.values()].flatMap((recent) => recent.troubles(nowMs()))
      found.push(...guessesTold([...guesses].filter(([, { lastMs }]) => nowMs() - lastMs < LONG_MS)))
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
 * group (default: all of its name). `name`: by which it is told.
 */
type Fault = Omit<Trouble, 'since'> & {
  readonly name: string
  readonly group?: string
  readonly least?: number
  readonly share?: number
}

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
      if (fault !== null && !standing.has(fault.name)) standing.set(fault.name, atMs)
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
        ({ fault: { name, group = name } }) => group,
      )
      return Array.from(groups.values()).flatMap((those) => {
        const [most = []] = [...Map.groupBy(those, ({ fault }) => fault.name).values()].toSorted(
          (one, other) => other.length - one.length,
        )
        const fault = most.at(-1)?.fault
        if (fault === undefined || (fault.name === UNREACHABLE && isReached)) return []
        const { name, kind, what, advice, least = 1, share = 0 } = fault
        if (those.length < Math.max(least, share * seen.length)) return []
        const since = new Date(standing.get(name) ?? those[0]?.atMs ?? nowMs).toISOString()
        const counted = `${grouped(those.length)} of the last ${grouped(seen.length)} ${what}`
        return [{ kind, what: share > 0 ? counted : what, since, advice }]
      })
    },
  }
}

/** The status of an error that the upstream answered, or the code of one in getting its answer. */
function faultIn({ action, reason, status }: BegunRow, outcome: RequestEnd['outcome']) {
  if (action === 'refused') return reason?.startsWith('upstream_') === true ? reason : undefined
  if (outcome === 'broken-off') return 'upstream_broken'
  if (status === null) return undefined
  return status >= 400 ? String(status) : null
}

/** What each says of an upstream, and what to do. */
const knownFaults: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  upstream_unreachable: ['cannot be reached', 'check that it runs and that SETTING names it'],
  upstream_timeout: ['does not answer in time', 'see what keeps it, or raise limits.first_byte_s and idle_s'],
  upstream_broken: ['breaks off', 'see what its own log says'],
  401: ['refuses the key (401)', 'see whose key it gets: x-foldgate-hint in its answers says so'],
  404: ['has no such path or model (404)', 'check the model that clients ask for, and SETTING'],
  429: ['limits rates (429)', 'send less at a time (concurrency of the upstream), or have its limit raised'],
}

const UNREACHABLE = 'upstream_unreachable'

function upstreamFault(name: string, upstream: string): Fault {
  const isRefusal = Number(name) < 500
  const why = isRefusal ? 'its answers, which clients get, say why' : 'see what its own log says'
  const [does, advice] = knownFaults[name] ?? [`answers ${name}`, why]
  const what = `requests failed: ${upstream} ${does}`
  const kind = name === '429' ? 'rate-limit' : 'upstream'
  const about = { name, kind, what, advice: advice.replace('SETTING', settingOf(upstream)) } as const
  // One is enough where nothing that a client sends is why; of an upstream that is away, the latest.
  const isAway = name === UNREACHABLE
  if (isAway || name === '401' || name === '403') return { ...about, share: isAway ? 1 / TRIES_MAX : 0.1 }
  if (name === '429') return { ...about, least: 3, share: 0.1 }
  // Most refusals are of what one client has sent.
  return { ...about, group: isRefusal ? 'refusals' : 'failures', least: 3, share: isRefusal ? 0.5 : 0.1 }
}

function pressureOf(row: BegunRow, around: HeldOutline['around'] | null): Fault {
  const [tools, system] = [around?.tools.tokens ?? 0, around?.system.tokens ?? 0]
  const percent = Math.round((100 * (tools + system)) / (row.budget_tokens ?? Infinity))
  const filled = `system text (${grouped(system)} tokens) and tools (${grouped(tools)}) fill ${percent}% of its budget`
  const what = `requests of ${row.model.slice(0, MODEL_CHARS_MAX)} had to be compacted, while ${filled},`
  const advice = 'raise window.tokens, lower target in its profile, or give the agent fewer tools'
  return { name: 'pressed', kind: 'compaction', what, advice, least: 5, share: 0.8 }
}

type Guess = { readonly tokens: number; readonly sinceMs: number; readonly lastMs: number }

/** All guesses are one trouble: clients may name as many models as they like. */
function guessesTold(all: readonly (readonly [model: string, guess: Guess])[]): Trouble[] {
  if (all.length === 0) return []
  const named = all
    .slice(0, GUESSES_NAMED)
    .map(([model, { tokens }]) => `${model.slice(0, MODEL_CHARS_MAX)} (${grouped(tokens)} tokens)`)
  const more = all.length > named.length ? ` and of ${grouped(all.length - named.length)} more` : ''
  const since = new Date(Math.min(...all.map(([, { sinceMs }]) => sinceMs))).toISOString()
  const what = `the window of ${named.join(', ')}${more} is a guess`
  return [{ kind: 'window', what, since, advice: 'set window.tokens in a profile that matches' }]
}

const GUESSES_NAMED = 3
