import type { Pausable } from '../json/source.ts'
import { type Profile, targetOf } from '../profiles/schema.ts'
import { type Room, thresholdTokens } from '../tokens/budget.ts'
import { type Compaction, type CompactionReason, type SummaryRange, UNTOUCHED } from './compaction.ts'
import { covers, foldedRanges, hasUnsummarised, layoutOf, partTokens, rangeIndexes } from './folded-parts.ts'
import type { MadeCache } from './made-cache.ts'
import { quotedSystemTokensMax } from './shares.ts'
import { pinnedTokens } from './plan/pins.ts'
import { planCompaction } from './plan/plan.ts'
import type { History } from './history/history.ts'
import { countsOf, plannedTokens, type TokenCounts } from './token-counts.ts'
import { editsOf } from './edits.ts'

/** A fold that summaries are wanted for, at the frontier that a compaction will take. */
export type FoldAhead =
  ReturnType<typeof foldAhead> extends Pausable<infer Made> ? Readonly<NonNullable<Made>> : never

/** What a summary is wanted of, and what that is worth, in tokens. */
export type WorthyRange = SummaryRange & {
  /** What it makes room for: what stands in the view for these messages; where a recap does, what the client sent. */
  readonly replacedTokens: number
  /** What the client sent. */
  readonly expiredTokens: number
}

export type AheadOptions = {
  readonly profile: Profile
  /** The compaction that the conversation stands in; where one is due, the one before that. */
  readonly compaction: Compaction | null
  readonly room: Room
  readonly strict: boolean
  /** Why a compaction is due now; null: none is, and the next one is planned if the view has come near enough to it. */
  readonly due: CompactionReason | null
}

/**
 * The fold that the next compaction will have if its summaries are there: planned from `summary.at` on, with their caps
 * for what they weigh. Below that a recap that stands is a reason for one: what it stands for was never
 * summarised. Null where nothing is to be summarised.
 */
export function* foldAhead(history: History, cache: MadeCache, options: AheadOptions) {
  const { profile, compaction, room, due } = options
  const { systemCount } = history.structure
  const counts = countsOf(history, profile, cache)
  let chosen = compaction !== null && hasUnsummarised(compaction, systemCount) ? compaction : null
  if (due !== null || (yield* isNear(counts, options, 1))) {
    const planned = yield* planCompaction(counts, {
      point: history.messages.length,
      previous: compaction,
      room,
      reason: due ?? 'trigger',
      isBeyondBudget: due !== null,
      keepRecent: profile.keep.recent_messages,
      smallest: false,
      strict: options.strict,
      prepared: null,
      plannedTokensMax: profile.summary.max_tokens,
      viewTokens: null,
    })
    chosen = planned ?? chosen
  }
  if (chosen === null || chosen.fold === null) return null
  /** One for each run: what lies before the latest user message, and what follows it where that is folded too. */
  const ranges: WorthyRange[] = []
  for (const range of foldedRanges(chosen, systemCount))
    ranges.push(yield* worthOf(counts, compaction, range))
  const { frontier, kept } = chosen.fold
  const targetTokens = thresholdIn(history, options, targetOf(profile))
  /**
   * How much of a summary quoted system messages may take, and the user's words as much again, in tokens. A recap beside the
   * summaries quotes them itself.
   */
  const systemTokensMax = profile.recap.beside_summaries ? 0 : quotedSystemTokensMax(targetTokens)
  return { frontier, kept, ranges, systemTokensMax }
}

/**
 * Whether a conversation may need a summary before its next compaction: a little arithmetic, and mostly not. Then there
 * is nothing to be looked up and nothing to plan.
 */
export function* mayNeedSummary(
  history: History,
  cache: MadeCache,
  options: AheadOptions,
): Pausable<boolean> {
  const { profile, compaction } = options
  if (compaction !== null && hasUnsummarised(compaction, history.structure.systemCount)) return true
  return yield* isNear(countsOf(history, profile, cache), options, LOOKED_AT_SHARE)
}

// --- internal ---

/** Replicas count a little differently: what one has asked for the others find somewhat earlier. */
const LOOKED_AT_SHARE = 0.9

/** Whether the view has come to this share of where the summary of its next compaction is asked for. */
function* isNear(counts: TokenCounts, options: AheadOptions, share: number): Pausable<boolean> {
  const { profile, room, compaction } = options
  const { history } = counts
  const viewTokens = yield* plannedTokens(counts, compaction ?? UNTOUCHED, history.messages.length)
  return room.aroundTokens + viewTokens >= thresholdIn(history, options, profile.summary.at) * share
}

/** A threshold in tokens of the whole prompt. */
function thresholdIn(history: History, { profile, room }: AheadOptions, setting: number): number {
  const fixedTokens = room.aroundTokens + pinnedTokens(history, profile, history.messages.length)
  return thresholdTokens(setting, room.budgetTokens, fixedTokens)
}

function* worthOf(
  { history, editedTokens, originalTokens }: TokenCounts,
  compaction: Compaction | null,
  range: SummaryRange,
): Pausable<WorthyRange> {
  const { start, end, except } = range
  const standing = compaction ?? UNTOUCHED
  const { pinned, before, after, tail } = layoutOf(standing, history.structure.systemCount)
  const edits = editsOf(standing)
  let expiredTokens = originalTokens(start, end)
  let replacedTokens = yield* editedTokens(Math.max(start, tail), end, edits)
  for (const index of except) {
    expiredTokens -= history.sizes[index] ?? 0
    if (index >= tail) replacedTokens -= yield* editedTokens(index, index + 1, edits)
  }
  for (const index of pinned)
    if (covers(range, index)) replacedTokens += yield* editedTokens(index, index + 1, edits)
  for (const part of [before, after]) {
    if (part === null) continue
    const { summaries, recap } = part
    const replaced = summaries.filter((summary) => covers(range, summary.start))
    replacedTokens += partTokens({ summaries: replaced, recap: null })
    if (recap === null || recap.start < start || recap.end > end) continue
    for (const index of rangeIndexes(recap, summaries)) replacedTokens += history.sizes[index] ?? 0
  }
  return { ...range, replacedTokens, expiredTokens }
}
