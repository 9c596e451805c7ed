import { overheadIn, seenRatio } from '../models/counts/learnt-rate.ts'
import {
  type Belief,
  type Beliefs,
  type BeliefSource,
  endings,
  type Field,
  type Values,
} from '../models/model-record.ts'
import type { KnownModel, WindowInForce } from '../models/models.ts'

/** What is believed of a model, as `GET /models` says it: figures and names, never a credential or a text. */
export type ModelCard = ReturnType<typeof modelCard>

/** A belief: where it comes from, since when and until when it holds (ISO 8601), and what would change it. */
export type Told<Value> = {
  readonly value: Value
  readonly from: BeliefSource
  readonly since: string
  /** Null where nothing but an answer ends it. */
  readonly until: string | null
  readonly changed_by: string
}

export function modelCard({ id, key, beliefs, window }: KnownModel) {
  return {
    id,
    upstream: key.upstream,
    /** The beginning of a digest: enough to tell two apart. */
    credential: key.credential.slice(0, CREDENTIAL_CHARS),
    model: key.model,
    /** What its next request gets under the profile of the latest; null where none was seen since the start. */
    window_in_force: window === null ? null : windowInForce(window),
    fields: fieldsOf(beliefs),
  }
}

// --- internal ---

const CREDENTIAL_CHARS = 8

function windowInForce({ tokens, kind, source, profile, overruledTokens }: WindowInForce) {
  return { tokens, kind, source, profile, overruled_tokens: overruledTokens }
}

/** Only those that hold. */
function fieldsOf(beliefs: Beliefs) {
  const { window, stated, answered, ratio, overhead, placement, thoughts, name, usage, recall, accepted } =
    beliefs
  const seen = ratio === undefined ? null : seenRatio(ratio.value)
  const refuses = {
    ...(usage && { usage: told('usage', usage, usage.value) }),
    ...(recall && { recall: told('recall', recall, recall.value) }),
  }
  return {
    ...(window && { window: told('window', window, window.value) }),
    ...(stated && { stated: told('stated', stated, statedValue(stated.value)) }),
    ...(answered && { answered: told('answered', answered, answered.value) }),
    ...(ratio && seen !== null && { ratio: told('ratio', ratio, ratioValue(ratio.value, seen)) }),
    ...(overhead &&
      overhead.value.samples.length > 0 && {
        overhead: told('overhead', overhead, overheadValue(overhead.value, seen ?? 1)),
      }),
    ...(placement && { placement: told('placement', placement, placement.value) }),
    ...(thoughts && { thoughts: told('thoughts', thoughts, thoughts.value) }),
    ...(name && { name: told('name', name, name.value) }),
    ...((usage ?? recall) && { refuses }),
    ...(accepted && { accepted: told('accepted', accepted, true as const) }),
  }
}

function told<Value>(field: Field, { from, sinceMs, untilMs }: Belief<unknown>, value: Value): Told<Value> {
  return {
    value,
    from,
    // A damaged record may name a time of which no date can be made.
    since: new Date(Math.max(0, sinceMs)).toISOString(),
    until: Number.isFinite(untilMs) ? new Date(untilMs).toISOString() : null,
    changed_by: endings[field].changedBy,
  }
}

function statedValue({ tokens, kind, isLoaded }: Values['stated']) {
  return { tokens, kind, is_loaded: isLoaded }
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
