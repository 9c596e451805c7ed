import { countBelow } from '../conversation/structure.ts'
import { sum } from '../conversation/sizes.ts'
import { MESSAGE_FRAME_TOKENS } from '../tokens/message-tokens.ts'
import type { Fold, StandingSummary, SummaryRange, Treatment } from './compaction.ts'

/**
 * A run of folded messages: those from `start` up to `end` but for the pinned ones among them. Its recap
 * has at most `tokensMax` tokens, tags included, of which quoted system messages take at most `systemTokensMax`.
 */
export type FoldedRun = SummaryRange & { readonly tokensMax: number; readonly systemTokensMax: number }

/** What stands for a run of folded messages: summaries for their ranges, and a recap. */
export type FoldedPart = NonNullable<ReturnType<typeof partOf>>

/**
 * Where everything stands in the view of a compaction: the leading system block, the task, what is kept of old turns, what
 * stands for the messages before the latest user message, that message, what stands for those behind it, what of the
 * folded messages holds for all that follows, the tail.
 */
export function layoutOf(compaction: Folding, systemCount: number) {
  const { fold } = compaction
  if (fold === null)
    return {
      head: [],
      before: null,
      latestUser: null,
      after: null,
      restated: [],
      tail: systemCount,
      pinned: [],
    }
  const { frontier, restated } = fold
  const task = compaction.task !== -1 && compaction.task < frontier ? compaction.task : null
  const isPassed =
    compaction.latestUser !== -1 && compaction.latestUser < frontier && compaction.latestUser !== task
  const latestUser = isPassed ? compaction.latestUser : null
  const kept = fold.kept.filter((index) => index !== task && index < (latestUser ?? frontier))
  const head = task === null ? kept : [task, ...kept]
  const staying = [...head, ...restated].sort((one, other) => one - other)
  return {
    /** The task and then the requests and replies of old turns, in their order. */
    head,
    before: partOf(fold, systemCount, latestUser ?? frontier, staying, fold.beforeTokensMax),
    latestUser,
    after: latestUser === null ? null : partOf(fold, latestUser + 1, frontier, staying, fold.afterTokensMax),
    /** Messages from before the tail that hold for all that follows. */
    restated,
    /** Index of the first message of the tail. */
    tail: frontier,
    /** The client's messages before the tail, in their order. */
    pinned: [...head, ...(latestUser === null ? [] : [latestUser]), ...restated],
  }
}

/** What a plan counts for what stands for folded messages: recaps at their caps, and each with the framing of its message. */
export function partTokens(part: FoldedPart | null): number {
  if (part === null) return 0
  const recapTokens = part.recap === null ? [] : [part.recap.tokensMax]
  const tokens = [...recapTokens, ...part.summaries.map((summary) => summary.tokens)]
  return sum(tokens) + tokens.length * RECAP_FRAME_TOKENS
}

/** Whether a summary of this range stands for message `index`. */
export function covers({ start, end, except }: SummaryRange, index: number): boolean {
  return index >= start && index < end && !isAmong(except, index)
}

/** The messages of a range that none of these summaries covers, ascending. */
export function rangeIndexes(range: SummaryRange, covered: readonly SummaryRange[]): number[] {
  const indexes: number[] = []
  for (let index = range.start; index < range.end; index += 1)
    if (isLeft(range, index, covered)) indexes.push(index)
  return indexes
}

/** The runs that a compaction folds, whatever stands for them: what one summary each would cover. */
export function foldedRanges(compaction: Folding, systemCount: number): readonly SummaryRange[] {
  const bare = compaction.fold === null ? null : { ...compaction.fold, summaries: [] }
  const { before, after } = layoutOf({ ...compaction, fold: bare }, systemCount)
  const runs = [before?.recap ?? null, after?.recap ?? null].filter((run) => run !== null)
  return runs.map(({ start, end, except }) => ({ start, end, except }))
}

/** What decides where everything stands: the pinned messages and the fold. */
type Folding = Pick<Treatment, 'task' | 'latestUser' | 'fold'>

/** Whether something that a compaction folds was never summarised. */
export function hasUnsummarised(compaction: Folding, systemCount: number): boolean {
  const summaries = compaction.fold?.summaries ?? []
  return foldedRanges(compaction, systemCount).some((range) => {
    for (let index = range.start; index < range.end; index += 1)
      if (isLeft(range, index, summaries)) return true
    return false
  })
}

/** The framing of the message that a recap stands in. */
export const RECAP_FRAME_TOKENS = MESSAGE_FRAME_TOKENS

// --- internal ---

/** Whether message `index` belongs to a range and to none of those that are covered. */
function isLeft(range: SummaryRange, index: number, covered: readonly SummaryRange[]): boolean {
  return covers(range, index) && !covered.some((summary) => covers(summary, index))
}

function partOf(fold: Fold, start: number, end: number, pinned: readonly number[], tokensMax: number) {
  const except = pinned.filter((index) => index >= start && index < end)
  if (end - start - except.length <= 0) return null
  const summaries = fold.summaries.filter((summary) => summary.start >= start && summary.end <= end)
  const leftTokens = tokensMax - sum(summaries.map(({ tokens }) => tokens))
  const { systemTokensMax } = fold
  const run = { start, end, except, tokensMax: Math.max(0, leftTokens), systemTokensMax }
  const isWhole = fold.recapsBeside || fold.keptTokensMax > 0
  // The recap has as many tokens as the summaries leave.
  return { summaries, recap: isWhole ? run : runBeside(summaries, run) }
}

/** What of a run no summary covers; null where nothing is left. */
function runBeside(summaries: readonly StandingSummary[], run: FoldedRun): FoldedRun | null {
  if (summaries.length === 0) return run
  let { start } = run
  for (let at = -1; at !== start && start < run.end;) {
    at = start
    if (isAmong(run.except, start)) start += 1
    const standing = summaries.find((summary) => covers(summary, start))
    if (standing !== undefined)
      start = standing.except[countBelow(standing.except, start + 1)] ?? standing.end
  }
  if (start >= run.end) return null
  const except = new Set(run.except.filter((index) => index > start))
  for (const summary of summaries) {
    for (let index = Math.max(start, summary.start); index < summary.end; index += 1)
      if (covers(summary, index)) except.add(index)
  }
  return { ...run, start, except: [...except].sort((one, other) => one - other) }
}

/** Whether an index is one of these ascending ones. */
function isAmong(ascending: readonly number[], index: number): boolean {
  return ascending[countBelow(ascending, index)] === index
}
