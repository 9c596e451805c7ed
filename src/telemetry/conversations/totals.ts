import { z } from 'zod'
import { parseJsonText } from '../../json/json-value.ts'
import { isFailed, type UsageRow } from '../journal/rows.ts'
import { LRUCache } from 'lru-cache'
import { inOrder } from './conversation-list.ts'
import { createSavingsKeeper, savingsSchema } from './savings.ts'

const count = z.number().default(0)

const figures = z.object({
  requests: count,
  /** Requests that got an error or half an answer: of these nothing but their number is told. */
  failed: count,
  /** Of the others, those that would have been refused as they came, and those of which that is not known. */
  beyond_window: count,
  beyond_unknown: count,
  compactions: count,
  recoveries: count,
  /** Tokens that were received and not sent on, by Foldgate's own count; below 0 if more was sent than came. */
  saved_tokens: count,
  /** What profiles that only observe would have saved. */
  observed_tokens: count,
  /** Prompt and completion tokens of summary calls, by the provider's count. */
  summary_tokens: count,
  /** Requests that were relayed unread, since their conversation is kept at the server, or since the server compacts it. */
  stateful_requests: count,
  native_requests: count,
  /** In the currency of `prices`, in US dollars where those are the listed ones: of the requests that were changed and the summaries whose price is known. */
  saved_money: count,
  summary_money: count,
  priced_requests: count,
  unknown_requests: count,
  priced_summaries: count,
  unknown_summaries: count,
})

export const totalsSchema = figures.extend({
  process: z.string(),
  /** When the first of them was; ISO 8601, in UTC. */
  since: z.string(),
  /** The same by day, client, model and profile, of the time that they are of alone. */
  savings: z.array(savingsSchema).default([]),
})

/** What requests and summaries come to, over a time and in one process, as the journal keeps it. */
export type Totals = z.output<typeof totalsSchema>

export type TotalsKeeper = ReturnType<typeof createTotalsKeeper>

/** What all requests on record come to: those of this process as they end, those of others as they are read. */
export function createTotalsKeeper(options: {
  readonly process: string
  readonly writeDown: (totals: Totals) => void
}) {
  const { process, writeDown } = options
  const savings = createSavingsKeeper()
  let written: Totals | null = null
  let unwritten: Totals | null = null

  function openAt(time: string): Totals {
    unwritten ??= totalsSchema.parse({ process, since: time })
    if (time < unwritten.since) unwritten.since = time
    return unwritten
  }

  function write(): void {
    if (unwritten === null) return
    writeDown({ ...unwritten, savings: [...savings.takeUnwritten()] })
    written = joined(written, unwritten)
    unwritten = null
  }
  const timer = setInterval(write, PERIOD_MS)
  timer.unref()

  return {
    addRow: (row: UsageRow): void => {
      savings.add(row)
      const sum = openAt(row.time)
      const { tokens_received: received, prompt_cost: cost, whole_prompt_cost: whole } = row
      sum.requests += 1
      if (row.compaction !== null) sum.compactions += 1
      if (row.action === 'relayed' && row.reason === 'stateful') sum.stateful_requests += 1
      if (row.action === 'relayed' && row.reason === 'native') sum.native_requests += 1
      if (row.action === 'recovered') sum.recoveries += 1
      if (isFailed(row)) return void (sum.failed += 1)
      if (row.beyond_window === true) sum.beyond_window += 1
      if (row.beyond_window === null && row.status !== null) sum.beyond_unknown += 1
      sum.saved_tokens += row.saved_tokens
      // A bound is no count: what was not counted was sent as it came.
      if (received !== null && !row.tokens_are_bounds)
        sum.observed_tokens += received - (row.observed_tokens_sent ?? received)
      if (row.passes.length === 0) return
      if (cost === null || whole === null) sum.unknown_requests += 1
      else {
        sum.priced_requests += 1
        sum.saved_money += whole - cost
      }
    },
    addSummary: (
      { tokens, cost }: { readonly tokens: number; readonly cost: number | null },
      time: string,
    ): void => {
      const sum = openAt(time)
      sum.summary_tokens += tokens
      sum.summary_money += cost ?? 0
      if (cost === null) sum.unknown_summaries += 1
      else sum.priced_summaries += 1
    },
    /** A row of the journal, which another process may have written. */
    addWritten: (text: string): void => {
      const totals = totalsSchema.safeParse(parseJsonText(text)).data
      // This process has added up already what it has written down.
      if (totals === undefined || totals.process === process) return
      written = joined(written, totals)
      savings.addWritten(totals.savings)
    },
    /** Null if nothing is on record. */
    all: (): Totals | null => (unwritten === null ? written : joined(written, unwritten)),
    /** What they come to by day, client, model and profile, of the latest days. */
    savings: savings.latest,
    /** Writes down what has come since it last did. */
    write,
    close: (): void => {
      clearInterval(timer)
      write()
    },
  }
}

/** Requests of one kind that are part of no conversation: they were not read, refused, or came by an API that is not compacted. */
export type UnreadCard = Pick<UsageRow, 'client' | 'dialect' | 'action' | 'reason' | 'status'> & {
  /** The path of an API that is not compacted; null for all others. */
  readonly path: string | null
  readonly requests: number
  /** ISO 8601, in UTC. */
  readonly last_seen: string
}

export type UnreadTally = ReturnType<typeof createUnreadTally>

/** Requests that no conversation shows, counted by who sent them and why they were not read. */
export function createUnreadTally() {
  const kinds = new LRUCache<string, UnreadCard>({ max: KINDS_MAX })

  function add({ last_seen: lastSeen, ...kind }: Omit<UnreadCard, 'requests'>): void {
    const { client, dialect, path, action, reason, status } = kind
    const key = JSON.stringify([client, dialect, path, action, reason, status])
    const known = kinds.get(key)
    const last_seen = known !== undefined && known.last_seen > lastSeen ? known.last_seen : lastSeen
    kinds.set(key, { ...kind, requests: (known?.requests ?? 0) + 1, last_seen })
  }

  return {
    add,
    /** The same of a request with a row of its own. */
    addRow: ({ client, dialect, action, reason, status, time }: UsageRow): void =>
      add({ client, dialect, path: null, action, reason, status, last_seen: time }),
    /** The latest first. */
    cards: (): readonly UnreadCard[] =>
      [...kinds.values()].toSorted((one, other) => inOrder(other.last_seen, one.last_seen)),
  }
}

// --- internal ---

/** How often they are written down, in milliseconds. */
const PERIOD_MS = 60_000

function joined(one: Totals | null, other: Totals): Totals {
  const sum = { ...other, savings: [] }
  if (one === null) return sum
  if (one.since < sum.since) sum.since = one.since
  for (const name of figures.keyof().options) sum[name] += one[name]
  return sum
}

/** Clients name themselves: those that were seen longest ago are forgotten. */
const KINDS_MAX = 100
