import { overheadIn, seenRatio } from '../models/counts/learnt-rate.ts'
import { type Field, type Values } from '../models/model-record.ts'
import { type Belief, type Beliefs, endings } from '../models/lifetimes.ts'
import type { KnownModel, WindowInForce } from '../models/models.ts'

/** What is believed of a model, as `GET /models` says it: figures and names, never a credential or a text. */
export type ModelCard = ReturnType<typeof modelCard>

export function modelCard({ id, key, beliefs, window }: KnownModel) {
  const fields: { readonly [Name in keyof Fields]?: Fields[Name] | undefined } = fieldsOf(beliefs)
  return {
    id,
    upstream: key.upstream,
    /** The beginning of a digest: enough to tell two apart. */
    credential: key.credential.slice(0, CREDENTIAL_CHARS),
    model: key.model,
    /** What its next request gets under the profile of the latest; null where none was seen since the start. */
    window_in_force: window === null ? null : windowInForce(window),
    fields,
  }
}

// --- internal ---

const CREDENTIAL_CHARS = 8

function windowInForce({ tokens, kind, source, profile, overruledTokens }: WindowInForce) {
  return { tokens, kind, source, profile, overruled_tokens: overruledTokens }
}

const asItIs = <Value>(value: Value): Value => value

type Fields = ReturnType<typeof fieldsOf>

/** Only those that hold. */
function fieldsOf(beliefs: Beliefs) {
  /** A belief, its value shown so; undefined if there is none. */
  function told<Name extends Field, Value>(field: Name, shown: (value: Values[Name]) => Value) {
    const belief: Belief<Values[Name]> | undefined = beliefs[field]
    return belief && toldOf(field, belief, shown(belief.value))
  }
  const { ratio, overhead, usage, recall } = beliefs
  const seen = ratio === undefined ? null : seenRatio(ratio.value)
  return {
    window: told('window', asItIs),
    stated: told('stated', ({ tokens, kind, isLoaded }) => ({ tokens, kind, is_loaded: isLoaded })),
    answered: told('answered', asItIs),
    ratio: seen === null ? undefined : told('ratio', (value) => ratioValue(value, seen)),
    overhead: overhead?.value.samples.length
      ? told('overhead', (value) => overheadValue(value, seen ?? 1))
      : undefined,
    placement: told('placement', asItIs),
    thoughts: told('thoughts', asItIs),
    name: told('name', asItIs),
    refuses: (usage ?? recall) && { usage: told('usage', asItIs), recall: told('recall', asItIs) },
    accepted: told('accepted', () => true),
  }
}

/** @internal exported for tests. */
export type Told<Value> = ReturnType<typeof toldOf<Value>>

/** A belief: where it comes from, since when and until when it holds (ISO 8601), and what would change it. */
function toldOf<Value>(field: Field, { from, sinceMs, untilMs }: Belief<unknown>, value: Value) {
  return {
    value,
    from,
    // A damaged record may name a time of which no date can be made.
    since: new Date(Math.max(0, sinceMs)).toISOString(),
    /** Null where nothing but an answer ends it. */
    until: Number.isFinite(untilMs) ? new Date(untilMs).toISOString() : null,
    changed_by: endings[field].changedBy,
  }
}

/** The provider's tokens for one of ours, seen over so many of ours; the newest weigh most. */
function ratioValue({ ownTokens }: Values['ratio'], ratio: number) {
  return { ratio: Math.round(ratio * 1_000) / 1_000, own_tokens: Math.round(ownTokens) }
}

/** How many sets of system block and tools are known, and what the provider counts beside our count with the newest. */
function overheadValue(overhead: Values['overhead'], ratio: number) {
  const newest = overhead.samples.at(-1)?.[0]?.aroundTokens ?? 0
  return {
    surroundings: overhead.samples.length,
    newest_tokens: overheadIn(overhead, newest, ratio)?.tokens ?? 0,
  }
}
