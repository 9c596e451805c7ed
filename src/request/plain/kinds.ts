import type { BodyOutline, Dialect } from '../../dialects/contract.ts'
import type { ClientRequest } from '../../http/client-request.ts'
import { lruCache } from '../../lru-cache.ts'
import { expectedTokens } from '../../models/counts/prompt.ts'
import type { Profile } from '../../profiles/schema.ts'
import { uncountedBelowBytes } from '../measure/measure.ts'
import type { RequestParts } from '../parts.ts'
import { nothingAsked } from '../request-options.ts'
import type { CompactedPlaces } from '../records/compacted-places.ts'
import type { AnsweredRequest, Measure } from '../request.ts'
import { isHearsay, isFull } from '../send/send-once.ts'
import { isUntouched } from '../send/outgoing-body.ts'
import { queryWithoutKey } from '../../upstream/target.ts'

/**
 * A kind of requests to which nothing is to be done as long as they are small: one of it was looked into, and went on as it
 * came. What was found out for it holds for the others: client, model and output limit are the same, and so is all that is
 * believed of the model.
 */
export type Kind = Pick<AnsweredRequest, 'profile' | 'modelKey' | 'upstreamName' | 'place'> & {
  readonly measure: Measure
  /** Smaller bodies need not be counted. */
  readonly belowBytes: number
  /** Whether the window is only what is said of the model elsewhere: an answer may still be an overflow. */
  readonly isHearsay: boolean
  /** The headers by which the answer of the one that was looked into told what was done, as far as they hold for the others. */
  readonly headers: Readonly<Record<string, string>>
}

/** The kinds of late. */
export type Kinds = {
  /** The kind of a small request; null if it has to be looked into before it is sent. */
  readonly find: (
    exchange: ClientRequest,
    dialect: Dialect,
    outline: BodyOutline,
    bytes: number,
  ) => Kind | null
  /** A request was answered, with these headers of ours. */
  readonly note: (request: AnsweredRequest, headers: Readonly<Record<string, string>>) => void
}

/** What decides on kinds. */
export type KindParts = Pick<
  RequestParts,
  'profiles' | 'models' | 'windows' | 'requestedCompactions' | 'upstreams' | 'usageInStreams'
> & { readonly compacted: Pick<CompactedPlaces, 'fewestBytes'> }

export function createKinds(parts: KindParts): Kinds {
  const { models, windows, compacted, profiles, requestedCompactions } = parts
  const kinds = lruCache<Noted>(KINDS_MAX)

  return {
    find: (exchange, dialect, outline, bytes) => {
      const name = nameOf(exchange, dialect, outline)
      const noted = kinds.get(name)
      if (noted === undefined) return null
      const { kind } = noted
      const { modelKey, measure } = kind
      const isCurrent =
        performance.now() - noted.atMs < CURRENT_MS &&
        noted.profiles === profiles() &&
        noted.revision === models.revision(modelKey)
      if (!isCurrent) {
        kinds.delete(name)
        return null
      }
      if (bytes >= kind.belowBytes || bytes >= (compacted.fewestBytes(kind.place) ?? 0)) return null
      const tokens = expectedTokens(bytes, measure.rate, null)
      if (isFull(measure, tokens) || windows.isDoubted(modelKey, tokens)) return null
      if (outline.outputTokens !== null && windows.holdsLimit(modelKey, measure.window.tokens)) return null
      return requestedCompactions.mayBeAsked() ? null : kind
    },
    note: (request, headers) => {
      const { model, outputLimit } = request.chat.body
      if (model === null) return
      const outline = { model, outputTokens: outputLimit?.tokens ?? null }
      const name = nameOf(request.exchange, request.dialect, outline)
      const kind = kindOf(request, headers, parts)
      // Before it is asked for: what is on record of the place may have to be looked up.
      if (kind === null || name.length > NAME_CHARS_MAX || compacted.fewestBytes(kind.place) === null) return
      const revision = models.revision(kind.modelKey)
      kinds.set(name, { kind, atMs: performance.now(), profiles: profiles(), revision })
    },
  }
}

// --- internal ---

const KINDS_MAX = 1_000

/** Clients choose most of what a kind goes by: of longer names none is remembered. */
const NAME_CHARS_MAX = 1_000

/** How long what was found out for one request holds for others, in milliseconds: then one is looked into again. */
const CURRENT_MS = 10_000

type Noted = {
  readonly kind: Kind
  readonly atMs: number
  readonly profiles: ReadonlyMap<string, Profile>
  readonly revision: number
}

/** All of a request that decides on its treatment, beside what it says. Keys are not kept: the credential's digest is. */
function nameOf(exchange: ClientRequest, dialect: Dialect, { model, outputTokens }: BodyOutline): string {
  const { scope, target, upstreamName, incoming } = exchange
  const beta = incoming.headers['anthropic-beta'] ?? ''
  return `${dialect.name}\n${scope.scope}\n${scope.credential}\n${upstreamName ?? ''}\n${target.path}\n${queryWithoutKey(target.query)}\n${outputTokens ?? ''}\n${String(beta)}\n${model}`
}

/** Null where the next one like it has to be looked into as well. */
function kindOf(
  request: AnsweredRequest,
  headers: Readonly<Record<string, string>>,
  { profiles, upstreams, usageInStreams }: KindParts,
): Kind | null {
  const { exchange, options, profile, measure, outcome, remembered, model, modelKey, upstreamName } = request
  // Each request of a confined client is held against its rights, and an option is one request's own.
  if (exchange.rights !== null || options !== nothingAsked) return null
  const isAsItCame = isUntouched(outcome.form) && request.chat === request.received
  const isAnsweredAtOnce =
    outcome.verdict === 'good' && outcome.attempts === 1 && outcome.answer.status === 200
  if (!isAsItCame || !isAnsweredAtOnce) return null
  if (request.whyUntouched !== null || request.failedOpen !== null || request.isForced) return null
  if (remembered.compaction !== null) return null
  // What these do depends on what a request says.
  if (profile.repair || profile.recall.enabled || profile.continuation.max > 0) return null
  if (usageInStreams === 'always' || [...profiles().values()].some(goesByHeaders)) return null
  if (measure === null || measure.counted !== null || measure.window.source === 'default') return null
  return {
    profile,
    modelKey,
    upstreamName,
    place: request.place,
    measure,
    belowBytes: uncountedBelowBytes(profile, measure.budgetTokens),
    isHearsay: isHearsay(measure, model, upstreams.addressOf(upstreamName)),
    headers: common(headers),
  }
}

/** What holds for all of a kind: nothing that is said of one conversation, or of one answer. */
const commonNames = [
  'x-foldgate-action',
  'x-foldgate-profile',
  'x-foldgate-window',
  'x-foldgate-summary',
  'x-foldgate-attempts',
] as const

function common(headers: Readonly<Record<string, string>>): Kind['headers'] {
  const chosen: Record<string, string> = {}
  for (const name of commonNames) {
    const value = headers[name]
    if (value !== undefined) chosen[name] = value
  }
  return chosen
}

function goesByHeaders({ headers }: Profile): boolean {
  return Object.keys(headers).length > 0
}
