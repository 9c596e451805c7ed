import { z } from 'zod'
import { isFailed, type UsageRow } from '../journal/rows.ts'
import { inOrder } from './conversation-list.ts'

const name = z.string().nullable()
const count = z.number()

const figures = z.object({
  requests: count,
  /** Requests that were changed. */
  changed: count,
  /** Tokens that came and were not sent on, by Foldgate's own count; below 0 if more was sent than came. */
  saved_tokens: count,
  /** Prompt tokens by the provider's count, and those among them that it read from its cache. */
  prompt_tokens: count,
  cached_tokens: count,
})

export const savingsSchema = z.object({
  /** In UTC, as `2026-11-29`. */
  day: z.string(),
  client: name,
  model: name,
  profile: name,
  ...figures.shape,
  /** In the currency of the prices, of changed requests whose price is known; null if none of them has one. */
  saved_money: count.nullable(),
})

/** What the requests of one day, client, model and profile come to. */
export type Savings = z.output<typeof savingsSchema>

/** What requests come to by day, client, model and profile: those of this process, and what others have written down. */
export function createSavingsKeeper() {
  const all: Days = new Map()
  const unwritten: Days = new Map()

  return {
    add: (row: UsageRow): void => {
      for (const days of [all, unwritten]) take(days, savingsOf(row))
    },
    /** What has come since this was last asked for. */
    takeUnwritten: (): readonly Savings[] => {
      const parts = partsOf(unwritten)
      unwritten.clear()
      return parts
    },
    /** What another process has written down. */
    addWritten: (parts: readonly Savings[]): void => {
      for (const part of parts) take(all, part)
    },
    /** Those of the latest `days` days, today's among them, the latest first. */
    latest: (days: number, now: Date): readonly Savings[] => {
      const since = dayBefore(now, days - 1)
      const parts = partsOf(all).filter(({ day }) => day >= since)
      return parts.toSorted((one, other) => inOrder(other.day, one.day))
    },
  }
}

/** The day in UTC that was so many days ago. */
export function dayBefore(now: Date, days: number): string {
  return dayOf(new Date(now.getTime() - days * DAY_MS).toISOString())
}

/** The parts joined that have the same name; `name` is what one of them is about. */
export function savingsBy(
  parts: readonly Savings[],
  nameOf: (part: Savings) => string | null,
): ReadonlyMap<string | null, Savings> {
  return new Map(
    Array.from(Map.groupBy(parts, nameOf), ([each, those]) => [
      each,
      those.reduce((sum, part) => joined(sum, part)),
    ]),
  )
}

// --- internal ---

const DAY_MS = 86_400_000

/** Clients name themselves and their models: what comes to a day beyond so many parts is one part without names. */
const PARTS_A_DAY_MAX = 300

/** The earliest day goes first. */
const DAYS_MAX = 367

/** By day, then by what else tells them apart. */
type Days = Map<string, Map<string, Savings>>

const dayOf = (time: string): string => time.slice(0, 10)

const partsOf = (days: Days): readonly Savings[] => [...days.values()].flatMap((parts) => [...parts.values()])

const keyOf = ({ day, client, model, profile }: Savings): string =>
  JSON.stringify([day, client, model, profile])

function savingsOf(row: UsageRow): Savings {
  const { prompt_cost: cost, whole_prompt_cost: whole } = row
  const isChanged = row.passes.length > 0 && !isFailed(row)
  return {
    day: dayOf(row.time),
    client: row.client,
    model: row.model,
    profile: row.profile,
    requests: 1,
    changed: isChanged ? 1 : 0,
    saved_tokens: isFailed(row) ? 0 : row.saved_tokens,
    prompt_tokens: row.prompt_tokens ?? 0,
    cached_tokens: row.cached_tokens ?? 0,
    saved_money: isChanged && cost !== null && whole !== null ? whole - cost : null,
  }
}

function take(days: Days, part: Savings): void {
  const parts = days.get(part.day) ?? new Map<string, Savings>()
  days.set(part.day, parts)
  const isRoom = parts.size < PARTS_A_DAY_MAX || parts.has(keyOf(part))
  const kept = isRoom ? part : { ...part, client: null, model: OTHERS, profile: null }
  const key = keyOf(kept)
  const sum = parts.get(key)
  parts.set(key, sum === undefined ? kept : joined(sum, kept))
  if (days.size > DAYS_MAX) days.delete([...days.keys()].toSorted(inOrder)[0] ?? '')
}

const OTHERS = '(others)'

const summed = figures.keyof().options

function joined(one: Savings, { saved_money: money, ...other }: Savings): Savings {
  const sum = { ...one }
  for (const each of summed) sum[each] += other[each]
  if (money !== null) sum.saved_money = (one.saved_money ?? 0) + money
  return sum
}
