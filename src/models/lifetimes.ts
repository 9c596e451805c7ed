import type { BeliefSource, Field, ModelRecord, RecordedBelief, Values } from './model-record.ts'

/** What is believed now. */
export type Belief<Value> = {
  readonly value: Value
  readonly from: BeliefSource
  /** Since when, by this process's clock. */
  readonly sinceMs: number
  /** Until when, unless something else ends it; infinite where nothing does. */
  readonly untilMs: number
}

export type Beliefs = { readonly [Name in Field]?: Belief<Values[Name]> }

/** A belief as far as it holds now. `knownSinceMs`: since when, as far as this process knows; default: as was recorded. */
export function beliefAt<Name extends Field>(
  record: ModelRecord,
  field: Name,
  nowMs: number,
  knownSinceMs?: number,
): Belief<Values[Name]> | null {
  const known: RecordedBelief<Values[Name]> | undefined = record[field]
  if (known === undefined || known.value === null) return null
  // What was said by a clock that is ahead, or before this one went back, must not last for as long as that.
  const sinceMs = Math.min(knownSinceMs ?? known.atMs, nowMs)
  const untilMs = sinceMs + lifetimeMs(field, known.value)
  return untilMs <= nowMs ? null : { value: known.value, from: known.from, sinceMs, untilMs }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** When beliefs end, and for the operator what would change them. */
export const endings: Readonly<Record<Field, { readonly lifetimeMs: number; readonly changedBy: string }>> = {
  window: {
    lifetimeMs: HOUR_MS,
    changedBy:
      'ends after an hour; an answered prompt beyond it, another refusal with numbers, a server that states another window',
  },
  stated: {
    lifetimeMs: DAY_MS,
    changedBy: 'asked of the server again after a minute, and when a refusal or an answer contradicts it',
  },
  answered: { lifetimeMs: HOUR_MS, changedBy: 'ends after an hour; a larger prompt that is answered' },
  ratio: { lifetimeMs: Infinity, changedBy: 'each answer that states its usage' },
  overhead: { lifetimeMs: Infinity, changedBy: 'each answer that states its usage' },
  placement: { lifetimeMs: DAY_MS, changedBy: 'ends after a day (strict) or ten minutes (original)' },
  thoughts: { lifetimeMs: DAY_MS, changedBy: 'ends after a day' },
  name: { lifetimeMs: HOUR_MS, changedBy: 'ends after an hour; the next answer' },
  usage: { lifetimeMs: DAY_MS, changedBy: 'ends after a day, a guess after an hour' },
  recall: { lifetimeMs: HOUR_MS, changedBy: 'ends after an hour' },
  accepted: { lifetimeMs: DAY_MS, changedBy: 'ends after a day; another key' },
}

export const fields = Object.keys(endings).filter((name): name is Field => name in endings)

export function isNewer(
  one: { readonly atMs: number } | undefined,
  other: { readonly atMs: number } | undefined,
): boolean {
  return (one?.atMs ?? -Infinity) > (other?.atMs ?? -Infinity)
}

// --- internal ---

/** For how long a belief holds, in milliseconds. Its end is the probe: whatever was wrong with it ends by itself. */
function lifetimeMs<Name extends Field>(field: Name, value: Values[Name] | null): number {
  if (value === 'original') return ORIGINAL_MS
  return value === 'guessed' ? HOUR_MS : endings[field].lifetimeMs
}

/** One odd refusal must not end compaction for long. */
const ORIGINAL_MS = 600_000
