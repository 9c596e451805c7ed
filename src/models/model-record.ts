import { z } from 'zod'
import { parseJsonText } from '../json/json-value.ts'
import { seenRatioSchema, surroundingsSchema } from './counts/learnt-rate.ts'

/** Where a belief comes from. `unstated`: refusals without numbers. */
const beliefSources = ['refusal', 'cut', 'unstated', 'server', 'answer'] as const
export type BeliefSource = (typeof beliefSources)[number]

/** A value of null says that what was believed is not believed any more: so that a replica does not bring it back. */
function recorded<Schema extends z.ZodType>(schema: Schema) {
  return z
    .object({ value: schema.nullable(), from: z.enum(beliefSources), atMs: z.number() })
    .readonly()
    .optional()
    .catch(undefined)
}

/** How a window's tokens are counted: prompt and output together, or the prompt only. */
const kind = z.enum(['total', 'input'])
const tokens = z.number().min(1).max(1_000_000_000)

/**
 * What is believed of a model at an upstream, under one credential. Each field stands for itself: it has its value, where
 * that comes from, and since when. All times are the clock's, in milliseconds; all counts are the provider's tokens.
 */
const recordSchema = z
  .object({
    /** What a refusal stated, a cut prompt gave away, or refusals without numbers suggest. */
    window: recorded(z.object({ tokens, kind })),
    /**
     * The window that the server states now. Not kept: it is asked again. `hasChanged`: whether it said something else before,
     * as far as this process knows; only then it was started anew.
     */
    stated: recorded(z.object({ tokens, kind, isLoaded: z.boolean(), hasChanged: z.boolean() })),
    /** The largest prompt that was answered: no window that is only inferred lies below it. */
    answered: recorded(tokens),
    /** How many of the provider's tokens one of ours makes. */
    ratio: recorded(seenRatioSchema),
    /** What the provider counts with every prompt that has the same surroundings. */
    overhead: recorded(surroundingsSchema),
    /** How rewritten requests have to be placed: user messages joined, or no rewriting at all. */
    placement: recorded(z.enum(['strict', 'original'])),
    /** What a refusal said of thoughts: all of them stay with their replies, those of the newest do, or they are bound. */
    thoughts: recorded(z.enum(['kept', 'newest-kept', 'bound'])),
    /** The model that answers under this name. */
    name: recorded(z.string().max(256)),
    /** Why the usage of a stream is not asked for: it comes unasked, or asking was refused. */
    usage: recorded(z.enum(['stated', 'named', 'guessed'])),
    /** Which requests are refused with the tool of `recall`. */
    recall: recorded(z.enum(['plain', 'with-schema', 'any'])),
    /** The mark of the held key with which the credential was accepted; empty where none is held. */
    accepted: recorded(z.string().max(64)),
  })
  .readonly()

type Recorded = z.output<typeof recordSchema>
export type Field = keyof Recorded
export type Values = { readonly [Name in Field]: NonNullable<NonNullable<Recorded[Name]>['value']> }

export type RecordedBelief<Value> = {
  readonly value: Value | null
  readonly from: BeliefSource
  readonly atMs: number
}

export type ModelRecord = { readonly [Name in Field]?: RecordedBelief<Values[Name]> | undefined }

/** The record as the store keeps it; a damaged field is as if it were absent. */
export function readModelRecord(text: string): ModelRecord {
  return recordSchema.safeParse(parseJsonText(text)).data ?? {}
}

/** What of a record is kept. */
export function keptFields(record: ModelRecord): ModelRecord {
  return { ...record, stated: undefined }
}

/** What is learnt of a model is learnt for this: the same model differs by provider, and by the tier that a credential buys. */
export type ModelKey = Readonly<ReturnType<typeof modelKeyOf>>

/**
 * The name under which is learnt of a model that a request has its server load with so many tokens: with others it is loaded
 * anew, and what was learnt of the one does not hold for the other.
 */
export function nameLoaded(model: string, windowTokens: number | null): string {
  return windowTokens === null ? model : `${model}[${windowTokens}]`
}

/** `credential`: a digest of it. `address`: where the upstream is, at another the same name is another server. */
export function modelKeyOf(upstream: string, credential: string, model: string, address: string) {
  /** All of it as one text. */
  const name = JSON.stringify([upstream, address, credential, model])
  return { upstream, address, credential, model, name }
}
