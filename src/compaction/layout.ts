import type { Steps } from '../conversation/source.ts'
import { textTokens } from '../pressure/message-tokens.ts'
import type { Ledger } from './ledger.ts'
import type { Clip, Reach, Stride } from './stride.ts'

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

/**
 * Where everything stands in the view of a stride: the leading system block, the task, what is kept of old
 * turns, the recap of what lies before the latest user message, that message, the recap of what follows it,
 * the tail.
 */
export type Layout = {
  readonly task: number | null
  /** Requests and replies of old turns, in their order. */
  readonly kept: readonly number[]
  readonly before: FoldedRun | null
  readonly latestUser: number | null
  readonly after: FoldedRun | null
  /** Index of the first message of the tail. */
  readonly tail: number
}

export function layoutOf(stride: Pick<Stride, 'task' | 'latestUser' | 'fold'>, systemCount: number): Layout {
  const { fold } = stride
  if (fold === null)
    return { task: null, kept: [], before: null, latestUser: null, after: null, tail: systemCount }
  const { frontier } = fold
  const task = stride.task !== -1 && stride.task < frontier ? stride.task : null
  const latestUser =
    stride.latestUser !== -1 && stride.latestUser < frontier && stride.latestUser !== task
      ? stride.latestUser
      : null
  const kept = fold.kept.filter((index) => index !== task && index < (latestUser ?? fold.frontier))
  const except = task === null ? kept : [task, ...kept]
  return {
    task,
    kept,
    before: run(systemCount, latestUser ?? frontier, except, fold.beforeTokensMax, fold.systemTokensMax),
    latestUser,
    after:
      latestUser === null
        ? null
        : run(latestUser + 1, frontier, except, fold.afterTokensMax, fold.systemTokensMax),
    tail: frontier,
  }
}

/** What a recap weighs in a plan: its cap and the framing of the message it stands in. */
export function recapTokens(folded: FoldedRun | null): number {
  return folded === null ? 0 : folded.tokensMax + RECAP_FRAME_TOKENS
}

/**
 * Tokens of the view of a stride up to `end`, without the leading system block, as planned: recaps weigh
 * their caps. The view that is written is never larger.
 */
export function* plannedTokens(
  ledger: Ledger,
  stride: Pick<Stride, 'task' | 'latestUser' | 'fold' | 'clips' | 'reach'>,
  systemCount: number,
  end: number,
): Steps<number> {
  const layout = layoutOf(stride, systemCount)
  const clips = clipsByIndex(stride.clips)
  let tokens = recapTokens(layout.before) + recapTokens(layout.after)
  for (const index of [layout.task, ...layout.kept, layout.latestUser]) {
    if (index !== null) tokens += yield* ledger.treatedTokens(index, index + 1, stride.reach, clips)
  }
  return tokens + (yield* ledger.treatedTokens(layout.tail, end, stride.reach, clips))
}

/** The clips of a stride, for looking up. */
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

/** The framing of the message that a recap stands in. */
export const RECAP_FRAME_TOKENS = textTokens('', () => 0)

/** A stride that does nothing yet: what the first one starts from. */
export const UNTOUCHED = {
  task: -1,
  latestUser: -1,
  fold: null,
  clips: [],
  reach: { render: 0, preview: 0, clear: 0 } as Reach,
} as const

// --- internal ---

function run(
  start: number,
  end: number,
  except: readonly number[],
  tokensMax: number,
  systemTokensMax: number,
): FoldedRun | null {
  const inside = except.filter((index) => index >= start && index < end)
  return end - start - inside.length > 0 ? { start, end, except: inside, tokensMax, systemTokensMax } : null
}
