import { z } from 'zod'
import { seenRatioSchema } from './counts/seen-ratio.ts'
import { surroundingsSchema } from './counts/overheads.ts'

/**
 * What is believed of a model at an upstream, under one credential. Each field stands for itself: it has its value, where
 * that comes from, and since when. All times are the clock's, in milliseconds; all counts are the provider's tokens.
 */

/** How a window's tokens are counted: prompt and output together, or the prompt only. */
const kind = z.enum(['total', 'input'])
const tokens = z.number().min(1).max(1_000_000_000)

const schemas = {
  /** What a refusal stated, a cut prompt gave away, or refusals without numbers suggest. */
  window: z.object({ tokens, kind }),
  /** The window that the server states now. Not kept: it is asked again. */
  stated: z.object({
    tokens,
    kind,
    isLoaded: z.boolean(),
    /** Whether it said something else before, as far as this process knows: only then it was started anew. */
    hasChanged: z.boolean(),
  }),
  /** The largest prompt that was answered: no window that is only inferred lies below it. */
  answered: tokens,
  /** How many of the provider's tokens one of ours makes. */
  ratio: seenRatioSchema,
  /** What the provider counts with every prompt that has the same surroundings. */
  overhead: surroundingsSchema,
  /** How rewritten requests have to be placed: user messages joined, or no rewriting at all. */
  placement: z.enum(['strict', 'original']),
  /** The model that answers under this name. */
  name: z.string().max(256),
  /** Why the usage of a stream is not asked for: it comes unasked, or asking was refused. */
  usage: z.enum(['stated', 'named', 'guessed']),
  /** Which requests are refused with the tool of `recall`. */
  recall: z.enum(['plain', 'with-schema', 'any']),
  /** The mark of the held key with which the credential was accepted; empty where none is held. */
  accepted: z.string().max(64),
} as const

export type Field = keyof typeof schemas
export type Values = { readonly [Name in Field]: z.output<(typeof schemas)[Name]> }

export const fields = Object.keys(schemas).filter((name): name is Field => name in schemas)

/** Where a belief comes from. `unstated`: refusals without numbers. */
const beliefSources = ['refusal', 'cut', 'unstated', 'server', 'answer'] as const
export type BeliefSource = (typeof beliefSources)[number]

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

/** A value of null says that what was believed is not believed any more: so that a replica does not bring it back. */
export type RecordedBelief<Value> = {
  readonly value: Value | null
  readonly from: BeliefSource
  readonly atMs: number
}

export type ModelRecord = { readonly [Name in Field]?: RecordedBelief<Values[Name]> | undefined }

/** The record as the store keeps it; a damaged field is as if it were absent. */
export function readModelRecord(text: string): ModelRecord {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return {}
  }
  return recordSchema.safeParse(value).data ?? {}
}

/** What of a record is kept. */
export function keptFields(record: ModelRecord): ModelRecord {
  return { ...record, stated: undefined }
}

/** For how long a belief holds, in milliseconds. Its end is the probe: whatever was wrong with it ends by itself. */
export function lifetimeMs<Name extends Field>(field: Name, value: Values[Name] | null): number {
  if (value === 'original') return ORIGINAL_MS
  return value === 'guessed' ? HOUR_MS : lifetimesMs[field]
}

/** What would change a belief, for the operator. */
export const changedBy: Readonly<Record<Field, string>> = {
  window:
    'ends after an hour; an answered prompt beyond it, another refusal with numbers, a server that states another window',
  stated: 'asked of the server again after a minute, and when a refusal or an answer contradicts it',
  answered: 'ends after an hour; a larger prompt that is answered',
  ratio: 'each answer that states its usage',
  overhead: 'each answer that states its usage',
  placement: 'ends after a day (strict) or ten minutes (original)',
  name: 'ends after an hour; the next answer',
  usage: 'ends after a day, a guess after an hour',
  recall: 'ends after an hour',
  accepted: 'ends after a day; another key',
}

// --- internal ---

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** One odd refusal must not end compaction for long. */
const ORIGINAL_MS = 600_000

const lifetimesMs: Readonly<Record<Field, number>> = {
  window: HOUR_MS,
  stated: DAY_MS,
  answered: HOUR_MS,
  ratio: Infinity,
  overhead: Infinity,
  placement: DAY_MS,
  name: HOUR_MS,
  usage: DAY_MS,
  recall: HOUR_MS,
  accepted: DAY_MS,
}

function recorded<Schema extends z.ZodType>(schema: Schema) {
  return z
    .object({ value: schema.nullable(), from: z.enum(beliefSources), atMs: z.number() })
    .optional()
    .catch(undefined)
}

const recordSchema: z.ZodType<ModelRecord> = z.object({
  window: recorded(schemas.window),
  answered: recorded(schemas.answered),
  ratio: recorded(schemas.ratio),
  overhead: recorded(schemas.overhead),
  placement: recorded(schemas.placement),
  name: recorded(schemas.name),
  usage: recorded(schemas.usage),
  recall: recorded(schemas.recall),
  accepted: recorded(schemas.accepted),
})
