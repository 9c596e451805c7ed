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
  return length === 0 ? 'All well' : length === 1 ? '1 thing is not well' : `${length} things are not well`
}

/**
 * How things stand, by what requests, summaries and the store of this process have met of late. `storeTrouble`: why records are
 * kept in memory although they should not be, and what to do; null if they are where the settings say.
 */
export function createStatus(nowMs: () => number, storeName: string, storeTrouble: string | null) {
  const since = new Date(nowMs()).toISOString()
  /** Of upstreams, the store, summaries and models; clients name those as they like. */
  const all = lruCache<ReturnType<typeof createRecent>>(NAMES_MAX)

  function add(name: string, fault: Fault | null, spanMs = LONG_MS): void {
    const recent = all.get(name) ?? createRecent(spanMs)
    recent.add(fault, nowMs())
    all.set(name, recent)
  }

  return {
    /** A request has got its answer. `around`: what stands around its messages; null if that is not known. */
    begun: (row: BegunRow, around: HeldOutline['around'] | null): void => {
      if (row.window_source === null || (row.status ?? 500) >= 400) return
      const name = `${row.upstream} ${row.model}`
      // One that was asked for, or is due after so many turns, is no sign of pressure.
      const isPressed = row.compaction === 'trigger' || row.compaction === 'overflow'
      add(`pressure ${name}`, isPressed ? pressureOf(row, around) : null)
      if (row.window_source === 'default') add(`window ${name}`, guessOf(row))
      else all.delete(`window ${name}`)
    },
    /** A request has ended. Returns what its upstream did to it: null if that was well, undefined if nothing is known of it. */
    ended: (row: BegunRow, outcome: RequestEnd['outcome']): Fault | null | undefined => {
      const name = faultIn(row, outcome)
      const fault = name == null ? name : upstreamFault(name, row.upstream)
      if (fault !== undefined) add(`upstream ${row.upstream}`, fault, MINUTE_MS)
      return fault
    },
    summary: (written: SummaryResult): void => {
      if (written.kind === 'failed' && written.reason === 'cancelled') return
      const what = written.kind === 'failed' ? `summaries failed (${written.reason})` : null
      const advice = 'recaps stand in their place; see what summary.model and summary.upstream name'
      // One that failed is no sign: it may have been hard to write.
      const fault = { name: 'failed', kind: 'summaries', advice, least: 2, share: 0.5 } as const
      add('summaries', what === null ? null : { ...fault, what })
    },
    /** What waits for it asks again and again: one that is away fails all the time. */
    storeFailed: (reason: string): void => {
      const what = `the store ${storeName} fails (${reason})`
      add('store', { name: 'fails', kind: 'store', what, advice: storeAdvice(storeName) }, MINUTE_MS)
    },
    tell: (): Status => {
      const found = [...all.values()].flatMap((recent) => recent.troubles(nowMs()))
      const what = 'records are kept in memory, and end with the process,'
      if (storeTrouble !== null) found.push({ kind: 'store', what, since, advice: storeTrouble })
      const troubles = found.toSorted((one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind))
      return { well: troubles.length === 0, troubles: troubles.slice(0, TROUBLES_MAX) }
    },
  }
}

// --- internal ---

type Trouble = Status['troubles'][number]

/** What is a trouble from so many on (default 1), and from this share of all tries (default: any). `name`: by which it is counted. */
type Fault = Omit<Trouble, 'since'> & {
  readonly name: string
  readonly least?: number
  readonly share?: number
}

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
    return (last?.fault != null && isLost(last.fault.name) ? last.atMs : nowMs) - spanMs
  }
  return {
    add: (fault: Fault | null, atMs: number): void => {
      if (fault === null || (tries.at(-1)?.atMs ?? atMs) <= fromMs(atMs)) standing.clear()
      if (fault !== null && !standing.has(fault.name)) standing.set(fault.name, atMs)
      tries.push({ fault, atMs })
      if (tries.length > TRIES_MAX) tries.shift()
    },
    /** Each fault that has come often enough, as it was told the last time. */
    troubles: (nowMs: number): Trouble[] => {
      const beginMs = fromMs(nowMs)
      const seen = tries.filter(({ atMs }) => atMs > beginMs)
      const byName = Map.groupBy(seen, ({ fault }) => fault?.name)
      return Array.from(byName.values()).flatMap((those) => {
        const fault = those.at(-1)?.fault ?? null
        const { least = 1, share = 0 } = fault ?? {}
        if (fault === null || those.length < Math.max(least, share * seen.length)) return []
        const since = new Date(standing.get(fault.name) ?? those[0]?.atMs ?? nowMs).toISOString()
        const counted = `${grouped(those.length)} of the last ${grouped(seen.length)} ${fault.what}`
        return [{ kind: fault.kind, what: share > 0 ? counted : fault.what, since, advice: fault.advice }]
      })
    },
  }
}

/** Whether no whole answer came, of the code of an error of Foldgate's own. */
function isLost(fault: string): boolean {
  return fault.startsWith('upstream_')
}

/** The status of an error that the upstream answered, or the code of one in getting its answer. */
function faultIn(
  { action, reason, status }: BegunRow,
  outcome: RequestEnd['outcome'],
): string | null | undefined {
  if (action === 'refused') return reason !== null && isLost(reason) ? reason : undefined
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

function upstreamFault(name: string, upstream: string): Fault {
  const isRefusal = Number(name) < 500
  const why = isRefusal ? 'its answers, which clients get, say why' : 'see what its own log says'
  const [does, advice] = knownFaults[name] ?? [`answers ${name}`, why]
  const what = `requests failed: ${upstream} ${does}`
  const kind = name === '429' ? 'rate-limit' : 'upstream'
  // Most refusals are of what one client has sent.
  const share = isRefusal && !/401|403|429/.test(name) ? 0.5 : 0.1
  return { name, kind, what, advice: advice.replace('SETTING', settingOf(upstream)), share }
}

function pressureOf(row: BegunRow, around: HeldOutline['around'] | null): Fault {
  const [tools, system] = [around?.tools.tokens ?? 0, around?.system.tokens ?? 0]
  const percent = Math.round((100 * (tools + system)) / (row.budget_tokens ?? Infinity))
  const filled = `system text (${grouped(system)} tokens) and tools (${grouped(tools)}) fill ${percent}% of its budget`
  const what = `requests of ${row.model.slice(0, MODEL_CHARS_MAX)} had to be compacted, while ${filled},`
  const advice = 'raise window.tokens, lower target in its profile, or give the agent fewer tools'
  return { name: 'pressed', kind: 'compaction', what, advice, least: 5, share: 0.8 }
}

function guessOf(row: BegunRow): Fault {
  const what = `the window of ${row.model.slice(0, MODEL_CHARS_MAX)} is a guess (${grouped(row.window_tokens ?? 0)} tokens)`
  const advice = 'set window.tokens in a profile that matches it'
  return { name: 'guessed', kind: 'window', what, advice }
}
