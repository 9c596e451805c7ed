import type { Steps } from '../conversation/source.ts'
import { thresholdTokens } from '../tokens/budget.ts'
import type { Profile } from '../profiles/schema.ts'
import { targetOf } from '../profiles/effective.ts'
import {
  clipsByIndex,
  covers,
  layoutOf,
  partTokens,
  plannedTokens,
  rangeIndexes,
  UNTOUCHED,
} from './layout.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { MadeCache } from './made-cache.ts'
import { pinnedTokens, pinsAt } from './plan/pins.ts'
import { planCompaction } from './plan/plan.ts'
import type { Policy, Room } from './policy.ts'
import { quotedSystemTokensMax } from './plan/recap-caps.ts'
import type { Fold, Compaction, CompactionReason, SummaryRange } from './compaction.ts'
import type { Subject } from './subject.ts'
import { hasUnsummarised, rangesOf } from './summary-ranges.ts'
import { createTreatments } from './treatments.ts'

/** A fold that summaries are wanted for, at the frontier that a compaction will take. */
export type FoldAhead = Pick<Fold, 'frontier' | 'kept'> & {
  /** One for each run: what lies before the latest user message, and what follows it where that is folded too. */
  readonly ranges: readonly WorthyRange[]
  /** How much of a summary quoted system messages may take, and the user's words as much again, in tokens. */
  readonly systemTokensMax: number
}

/** What a summary is wanted of, and what that is worth, in tokens. */
export type WorthyRange = SummaryRange & {
  /** What it makes room for: what stands in the view for these messages; where a recap does, what the client sent. */
  readonly replacedTokens: number
  /** What the client sent. */
  readonly expiredTokens: number
}

export type AheadOptions = {
  readonly policy: Policy & Pick<Profile, 'summary'>
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
export function* foldAhead(
  subject: Subject,
  cache: MadeCache,
  options: AheadOptions,
): Steps<FoldAhead | null> {
  const { policy, compaction, room, due } = options
  const { systemCount } = subject.structure
  const point = subject.messages.length
  const ledger = createLedger(subject, policy, createTreatments(subject, policy, cache))
  const planned =
    due !== null || (yield* isNear(subject, ledger, options, 1))
      ? yield* planCompaction(subject, ledger, policy, {
          point,
          previous: compaction,
          room,
          reason: due ?? 'trigger',
          isBeyondBudget: due !== null,
          keepRecent: policy.keep.recent_messages,
          smallest: false,
          strict: options.strict,
          prepared: null,
          plannedTokensMax: policy.summary.max_tokens,
          viewTokens: null,
        })
      : null
  const chosen =
    planned ?? (compaction !== null && hasUnsummarised(compaction, systemCount) ? compaction : null)
  if (chosen === null || chosen.fold === null) return null
  const ranges: WorthyRange[] = []
  for (const range of rangesOf(chosen, systemCount))
    ranges.push(yield* worthOf(subject, ledger, compaction, range))
  const { frontier, kept } = chosen.fold
  const targetTokens = thresholdTokens(targetOf(policy), room.budgetTokens, fixedTokensIn(subject, options))
  // A recap beside the summaries quotes them itself.
  const systemTokensMax = policy.recap.beside_summaries ? 0 : quotedSystemTokensMax(targetTokens)
  return { frontier, kept, ranges, systemTokensMax }
}

/**
 * Whether a conversation may need a summary before its next compaction: a little arithmetic, and mostly not. Then there
 * is nothing to be looked up and nothing to plan.
 */
export function* mayNeedSummary(subject: Subject, cache: MadeCache, options: AheadOptions): Steps<boolean> {
  const { policy, compaction } = options
  if (compaction !== null && hasUnsummarised(compaction, subject.structure.systemCount)) return true
  const ledger = createLedger(subject, policy, createTreatments(subject, policy, cache))
  return yield* isNear(subject, ledger, options, LOOKED_AT_SHARE)
}

// --- internal ---

/** Replicas count a little differently: what one has asked for the others find somewhat earlier. */
const LOOKED_AT_SHARE = 0.9

/** Whether the view has come to this share of where the summary of its next compaction is asked for. */
function* isNear(subject: Subject, ledger: Ledger, options: AheadOptions, share: number): Steps<boolean> {
  const { policy, room, compaction } = options
  const { systemCount } = subject.structure
  const viewTokens = yield* plannedTokens(
    ledger,
    compaction ?? UNTOUCHED,
    systemCount,
    subject.messages.length,
  )
  const atTokens = thresholdTokens(policy.summary.at, room.budgetTokens, fixedTokensIn(subject, options))
  return room.aroundTokens + viewTokens >= atTokens * share
}

function fixedTokensIn(subject: Subject, { policy, room }: AheadOptions): number {
  return room.aroundTokens + pinnedTokens(subject, pinsAt(subject, policy, subject.messages.length))
}

function* worthOf(
  subject: Subject,
  ledger: Ledger,
  compaction: Compaction | null,
  range: SummaryRange,
): Steps<WorthyRange> {
  const { start, end, except } = range
  const standing = compaction ?? UNTOUCHED
  const layout = layoutOf(standing, subject.structure.systemCount)
  const clips = clipsByIndex(standing.clips)
  const weigh = (from: number, to: number): Steps<number> =>
    ledger.treatedTokens(from, to, standing.reach, clips)
  const sizeOf = (index: number): number => subject.sizes[index] ?? 0

  let replacedTokens = yield* weigh(Math.max(start, layout.tail), end)
  for (const index of except) if (index >= layout.tail) replacedTokens -= yield* weigh(index, index + 1)
  for (const index of [layout.task, ...layout.kept, layout.latestUser]) {
    if (index !== null && covers(range, index)) replacedTokens += yield* weigh(index, index + 1)
  }
  for (const part of [layout.before, layout.after]) {
    if (part === null) continue
    const { summaries, recap } = part
    replacedTokens += partTokens({
      summaries: summaries.filter((summary) => covers(range, summary.start)),
      recap: null,
    })
    if (recap === null || recap.start < start || recap.end > end) continue
    for (const index of rangeIndexes(recap, summaries)) replacedTokens += sizeOf(index)
  }
  const exceptTokens = except.reduce((sum, index) => sum + sizeOf(index), 0)
  return { ...range, replacedTokens, expiredTokens: ledger.originalTokens(start, end) - exceptTokens }
}
