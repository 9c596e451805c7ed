import type { ReadRequest, Counted, Measure } from '../request.ts'
import { rangeIndexes } from '../../compaction/layout.ts'
import type { Compacted } from '../../compaction/compact.ts'
import type { WorthyRange } from '../../compaction/ahead.ts'
import type { StandingSummary, Compaction, SummaryRange } from '../../compaction/compaction.ts'
import type { Profile } from '../../profiles/schema.ts'
import { matchProfile } from '../../profiles/match.ts'
import { resolveWindow } from '../../models/resolve-window.ts'
import { createAsk } from '../../summaries/summary-call.ts'
import type { SummaryWriter } from '../../summaries/summary-writer.ts'
import type { ParameterMemory } from '../../summaries/parameter-memory.ts'
import { transcriptOf } from '../../summaries/transcript.ts'
import type { Order } from '../../summaries/order.ts'
import { writeSummary, type Written } from '../../summaries/write-summary.ts'
import { modelKeyOf, type ModelKey } from '../../models/model-key.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import { drive } from '../../scheduling/drive.ts'
import { knownWindow } from '../measure/measure.ts'
import type { Models } from '../../models/models.ts'
import { readsFromCache } from '../../models/prompt-caches.ts'
import type { Windows } from '../../models/windows.ts'
import { digest } from '../read/body-source.ts'
import type { RateLimits } from '../../summaries/rate-limits.ts'
import { summaryKey } from '../../summaries/summary-keys.ts'
import { summaryPlace } from './summary-place.ts'
import { cachedCall } from './cached-call.ts'

/** A summary that is to be written: of which messages, for whom, and what it may cost. */
export type SummaryWish = {
  readonly request: ReadRequest
  readonly measure: Measure
  readonly counted: Counted
  /** The compaction that the conversation stands in. */
  readonly compaction: Compaction | null
  /** What the upstream has just been sent; null where it has not been sent yet. */
  readonly sent: Compacted | null
  readonly range: WorthyRange
  /** Prompt tokens that may be sent for it. */
  readonly spendableTokens: number
}

export type SummaryOrderParts = {
  readonly upstreams: Upstreams
  readonly writer: Pick<SummaryWriter, 'find'>
  readonly models: Pick<Models, 'belief' | 'suspected'>
  readonly windows: Pick<Windows, 'refused'>
  readonly parameters: ParameterMemory
  readonly rateLimits: RateLimits
  readonly profiles: () => ReadonlyMap<string, Profile>
  readonly nowMs: () => number
}

/** The model that writes summaries for a request, as what is learnt of it is kept. */
export function summaryModelKey({ profile, modelKey, model }: ReadRequest): ModelKey {
  const { summary } = profile
  return modelKeyOf(summary.upstream ?? modelKey.upstream, modelKey.credential, summary.model ?? model)
}

/**
 * Has a summary written: continued from what was summarised before, with the messages that this does not cover. Nothing
 * of the conversation is read before it is this one's turn.
 */
export async function orderSummary(
  wish: SummaryWish,
  parts: SummaryOrderParts,
  signal: AbortSignal,
): Promise<Written> {
  const { request, counted } = wish
  const { subject } = counted
  const { profile, chat } = request
  const modelKey = summaryModelKey(request)
  const { previous, indexes } = await materialOf(wish, parts.writer)
  const entries = await drive(transcriptOf(subject, indexes))
  const order: Order = {
    previous,
    entries,
    replacedTokens: wish.range.replacedTokens,
    settings: profile.summary,
    model: profile.summary.model ?? chat.completion.model,
    limitName: chat.completion.outputLimit?.name ?? 'max_tokens',
    windowTokens: windowOf(wish, parts),
    spendableTokens: wish.spendableTokens,
    warm:
      wish.sent === null || !readsFromCache(parts.models, request.modelKey)
        ? null
        : cachedCall({ request, counted, compacted: wish.sent, range: wish.range, entries, previous }),
    parametersKey: JSON.stringify([modelKey.upstream, modelKey.model]),
    count: subject.count,
    countSteps: subject.countSteps,
    run: drive,
    digest,
  }
  const ask = createAsk(summaryPlace(request), {
    upstreams: parts.upstreams,
    nowMs: parts.nowMs,
    onRateLimited: (retryAfterMs) => parts.rateLimits.note(modelKey, retryAfterMs),
  })
  const written = await writeSummary(order, ask, parts.parameters, signal)
  if (written.learntWindowTokens !== null) {
    const window = { tokens: written.learntWindowTokens, kind: 'total' as const }
    const classification = { class: 'overflow', window, promptTokens: null } as const
    // What was refused is larger: the summary's writer has seen to that.
    parts.windows.refused(modelKey, SUMMARIES, {
      classification,
      expectedTokens: window.tokens,
      outputTokens: null,
    })
  }
  return written
}

// --- internal ---

/** What is summarised already, and the messages that are not, ascending. */
type Material = { readonly previous: string | null; readonly indexes: readonly number[] }

async function materialOf(
  { request, compaction, range }: SummaryWish,
  writer: Pick<SummaryWriter, 'find'>,
): Promise<Material> {
  const standing = (compaction?.fold?.summaries ?? []).filter(
    ({ start, end }) => start >= range.start && end <= range.end,
  )
  const earlier = await earlierSummary(request, range, standing, writer)
  const known: readonly (SummaryRange & { readonly text: string })[] = earlier === null ? standing : [earlier]
  return {
    previous: known.length === 0 ? null : known.map(({ text }) => text).join('\n\n'),
    indexes: rangeIndexes(range, known),
  }
}

/**
 * A summary of the beginning of the range that is on record and reaches further than what stands: one that came too
 * late for its compaction, or was made for another model or a branch of the conversation.
 */
async function earlierSummary(
  { chat, place, profile }: ReadRequest,
  range: SummaryRange,
  standing: readonly StandingSummary[],
  writer: Pick<SummaryWriter, 'find'>,
): Promise<(SummaryRange & { readonly text: string }) | null> {
  const from = standing.reduce((furthest, { end }) => Math.max(furthest, end), range.start)
  const ranges: SummaryRange[] = []
  for (let end = range.end - 1; end > from && ranges.length < LOOKED_BACK_MAX; end -= 1) {
    if (!chat.structure.isFrontier(end)) continue
    ranges.push({ start: range.start, end, except: range.except.filter((index) => index < end) })
  }
  const keys = ranges.map((earlier) => summaryKey(chat, place.scope, profile.summary, earlier, digest))
  for (let at = 0; at < keys.length;) {
    const found = await writer.find(keys.slice(at, at + KEYS_PER_LOOKUP))
    const earlier = found === null ? undefined : ranges[at + found.index]
    if (found?.record.kind === 'written' && earlier !== undefined)
      return { ...earlier, text: found.record.text }
    // Behind one that failed there may be one that did not.
    at += found === null ? KEYS_PER_LOOKUP : found.index + 1
  }
  return null
}

/** In the place of a conversation: whichever is summarised, it is the model's window. */
const SUMMARIES = 'summaries'

/** Frontiers at which an earlier summary is looked for. */
const LOOKED_BACK_MAX = 512
const KEYS_PER_LOOKUP = 256

const UNKNOWN_WINDOW = { tokens: 'auto', max: null } as const

/** The window of the summary model, in its own tokens; null where it is a guess. */
function windowOf({ request, measure }: SummaryWish, parts: SummaryOrderParts): number | null {
  const { summary } = request.profile
  if (summary.upstream === null && summary.model === null) return knownWindow(measure)?.tokens ?? null
  const modelKey = summaryModelKey(request)
  const match = matchProfile(parts.profiles(), { model: modelKey.model, headers: {}, requested: null })
  // A profile for whatever model says nothing of this one.
  const isNamed = match.kind !== 'unknown' && match.profile.models.length > 0
  const { tokens, max } = isNamed ? match.profile.window : UNKNOWN_WINDOW
  const { source, tokens: found } = resolveWindow({
    configuredTokens: tokens === 'auto' ? null : tokens,
    maxTokens: max,
    learnt: parts.models.belief(modelKey, 'window'),
    suggestedTokens: null,
    answeredTokens: 0,
    reserveTokens: summary.max_tokens,
    server: null,
    names: [modelKey.model],
    host: new URL(parts.upstreams.addressOf(summary.upstream ?? request.upstreamName).origin).hostname,
  })
  return source === 'default' ? null : found
}
