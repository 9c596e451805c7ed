import type { Steps } from '../conversation/source.ts'
import { textTokens } from '../tokens/message-tokens.ts'
import type { Ledger } from './ledger.ts'
import type { Clip, Fold, Reach, StandingSummary, Compaction, SummaryRange } from './compaction.ts'

/**
 * A run of folded messages: those from `start` up to `end` but for the pinned ones among them. Its recap
 * has at most `tokensMax` tokens, tags included, of which quoted system messages take at most `systemTokensMax`.
 */
export type FoldedRun = {
  readonly start: number
  readonly end: number
  readonly except: readonly number[]
  readonly tokensMax: number
  readonly systemTokensMax: number
}

/** What stands for a run of folded messages: summaries for their ranges, and a recap. */
export type FoldedPart = {
  readonly summaries: readonly StandingSummary[]
  /** The recap's run: it has as many tokens as the summaries leave; null where there is no recap. */
  readonly recap: FoldedRun | null
}

/**
 * Where everything stands in the view of a compaction: the leading system block, the task, what is kept of old
 * turns, what stands for that before the latest user message, that message, what stands for that behind it,
 * the tail.
 */
export type Layout = {
  readonly task: number | null
  /** Requests and replies of old turns, in their order. */
  readonly kept: readonly number[]
  readonly before: FoldedPart | null
  readonly latestUser: number | null
  readonly after: FoldedPart | null
  /** Index of the first message of the tail. */
  readonly tail: number
}

export function layoutOf(
  compaction: Pick<Compaction, 'task' | 'latestUser' | 'fold'>,
  systemCount: number,
): Layout {
  const { fold } = compaction
  if (fold === null)
    return { task: null, kept: [], before: null, latestUser: null, after: null, tail: systemCount }
  const { frontier } = fold
  const task = compaction.task !== -1 && compaction.task < frontier ? compaction.task : null
  const latestUser =
    compaction.latestUser !== -1 && compaction.latestUser < frontier && compaction.latestUser !== task
      ? compaction.latestUser
      : null
  const kept = fold.kept.filter((index) => index !== task && index < (latestUser ?? fold.frontier))
  const except = task === null ? kept : [task, ...kept]
  return {
    task,
    kept,
    before: partOf(fold, systemCount, latestUser ?? frontier, except, fold.beforeTokensMax),
    latestUser,
    after: latestUser === null ? null : partOf(fold, latestUser + 1, frontier, except, fold.afterTokensMax),
    tail: frontier,
  }
}

/** What stands for folded messages weighs this in a plan: recaps their caps, and each the framing of its message. */
export function partTokens(part: FoldedPart | null): number {
  if (part === null) return 0
  const { summaries, recap } = part
  return (
    summaries.reduce((sum, { tokens }) => sum + tokens + RECAP_FRAME_TOKENS, 0) +
    (recap === null ? 0 : recap.tokensMax + RECAP_FRAME_TOKENS)
  )
}

/**
 * Tokens of the view of a compaction up to `end`, without the leading system block, as planned: recaps weigh
 * their caps. The view that is written is never larger.
 */
export function* plannedTokens(
  ledger: Ledger,
  compaction: Pick<Compaction, 'task' | 'latestUser' | 'fold' | 'clips' | 'reach'>,
  systemCount: number,
  end: number,
): Steps<number> {
  const layout = layoutOf(compaction, systemCount)
  const clips = clipsByIndex(compaction.clips)
  let tokens = partTokens(layout.before) + partTokens(layout.after)
  for (const index of [layout.task, ...layout.kept, layout.latestUser]) {
    if (index !== null) tokens += yield* ledger.treatedTokens(index, index + 1, compaction.reach, clips)
  }
  return tokens + (yield* ledger.treatedTokens(layout.tail, end, compaction.reach, clips))
}

/** Whether a summary stands for message `index`. */
export function covers({ start, end, except }: SummaryRange, index: number): boolean {
  return index >= start && index < end && !except.includes(index)
}

/** The messages of a range that none of these summaries covers, ascending. */
export function rangeIndexes(range: SummaryRange, covered: readonly SummaryRange[]): number[] {
  const indexes: number[] = []
  for (let index = range.start; index < range.end; index += 1) {
    if (covers(range, index) && !covered.some((summary) => covers(summary, index))) indexes.push(index)
  }
  return indexes
}

/** The clips of a compaction, for looking up. */
export type Clips = {
  readonly byIndex: ReadonlyMap<number, Clip>
  /** The last clipped message; -1 where there is none. */
  readonly furthest: number
}

export function clipsByIndex(clips: readonly Clip[]): Clips {
  return {
    byIndex: new Map(clips.map((clip) => [clip.index, clip])),
    furthest: clips.reduce((furthest, clip) => Math.max(furthest, clip.index), -1),
  }
}

export const NO_CLIPS = clipsByIndex([])

/** The framing of the message that a recap stands in. */
export const RECAP_FRAME_TOKENS = textTokens('', () => 0)

/** A compaction that does nothing yet: what the first one starts from. */
export const UNTOUCHED = {
  task: -1,
  latestUser: -1,
  fold: null,
  clips: [],
  reach: { render: 0, preview: 0, clear: 0 } as Reach,
} as const

// --- internal ---

function partOf(
  fold: Fold,
  start: number,
  end: number,
  except: readonly number[],
  tokensMax: number,
): FoldedPart | null {
  const inside = except.filter((index) => index >= start && index < end)
  if (end - start - inside.length <= 0) return null
  const summaries = fold.summaries.filter((summary) => summary.start >= start && summary.end <= end)
  const run = { start, end, except: inside, tokensMax, systemTokensMax: fold.systemTokensMax }
  const recap = fold.recapsBeside ? run : runBeside(summaries, run)
  const leftTokens = tokensMax - summaries.reduce((sum, { tokens }) => sum + tokens, 0)
  return { summaries, recap: recap === null ? null : { ...recap, tokensMax: Math.max(0, leftTokens) } }
}

/** What of a run no summary covers; null where nothing is left. */
function runBeside(summaries: readonly StandingSummary[], run: FoldedRun): FoldedRun | null {
  if (summaries.length === 0) return run
  let { start } = run
  for (let at = -1; at !== start && start < run.end;) {
    at = start
    if (run.except.includes(start)) start += 1
    const standing = summaries.find((summary) => covers(summary, start))
    if (standing !== undefined) start = standing.except.find((index) => index > start) ?? standing.end
  }
  if (start >= run.end) return null
  const except = run.except.filter((index) => index > start)
  for (const summary of summaries) {
    for (let index = Math.max(start, summary.start); index < summary.end; index += 1) {
      if (covers(summary, index) && !except.includes(index)) except.push(index)
    }
  }
  return { ...run, start, except: except.sort((one, other) => one - other) }
}
