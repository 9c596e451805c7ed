import { clipText } from '../compaction/passes/clip.ts'
import type { CountSteps } from '../subject/subject.ts'
import type { Steps } from '../conversation/source.ts'
import type { StatedWindow } from '../overflow/classification.ts'
import type { TranscriptMessage } from './transcript.ts'

/** The model's tokens for one of ours, at the most that is usual. */
export const TOKENS_RATIO = 1.25

/** How much goes into one call, as far as that is known. */
export type Capacity = {
  /** In the model's tokens; null if it is not known. */
  readonly windowTokens: number | null
  /** The most of a transcript that one call may carry, by our count. */
  readonly pieceTokensMax: number
}

export function startingCapacity(windowTokens: number | null): Capacity {
  return { windowTokens, pieceTokensMax: windowTokens === null ? UNKNOWN_PIECE_TOKENS : PIECE_TOKENS_MAX }
}

/**
 * How much of the transcript the next call may carry beside its instructions, by our count; null if that would be too
 * little. The output has its place in the window, half of it at the most.
 */
export function pieceRoom(
  { windowTokens, pieceTokensMax }: Capacity,
  frameTokens: number,
  outputTokens: number,
): number | null {
  let roomTokens = pieceTokensMax
  if (windowTokens !== null) {
    const promptTokens = windowTokens - Math.min(outputTokens, Math.floor(windowTokens / 2))
    roomTokens = Math.min(roomTokens, Math.floor(promptTokens / TOKENS_RATIO) - frameTokens)
  }
  return roomTokens < PIECE_TOKENS_MIN ? null : roomTokens
}

/** As many of the messages as there is room for. One that is too large alone is clipped. */
export function* firstPiece(
  messages: readonly TranscriptMessage[],
  roomTokens: number,
  countSteps: CountSteps,
): Steps<readonly TranscriptMessage[]> {
  let tokens = 0
  let end = 0
  for (const message of messages) {
    tokens += message.tokens + BREAK_TOKENS
    if (tokens > roomTokens) break
    end += 1
  }
  const [first] = messages
  if (end > 0 || first === undefined) return messages.slice(0, end)
  const text = yield* clipText(first.text, first.tokens, roomTokens, countSteps)
  return [{ text, tokens: yield* countSteps(text) }]
}

/** A prompt that was too large, and what the answer says of it. */
export type Overflowed = {
  readonly window: StatedWindow | null
  /** As the model counts it; null if it is not stated. */
  readonly promptTokens: number | null
  /** As we count it. */
  readonly ownPromptTokens: number
  readonly piece: readonly TranscriptMessage[]
}

/** The capacity after an overflow: half of the piece that overflowed, or what fits the window that was stated. */
export function capacityAfter(capacity: Capacity, overflowed: Overflowed): Capacity {
  const { window, promptTokens, ownPromptTokens, piece } = overflowed
  const pieceTokens = piece.reduce((sum, { tokens }) => sum + tokens + BREAK_TOKENS, 0)
  const half = Math.floor(pieceTokens / 2)
  if (window === null) return { ...capacity, pieceTokensMax: half }
  // A window that was known, and is still too small: only a smaller piece helps.
  if (capacity.windowTokens !== null && window.tokens >= capacity.windowTokens)
    return { ...capacity, pieceTokensMax: half }
  // The model counts more than is usual for one of ours.
  const ratio = promptTokens === null ? 1 : Math.max(1, promptTokens / ownPromptTokens / TOKENS_RATIO)
  return { windowTokens: window.tokens, pieceTokensMax: Math.floor(pieceTokens / ratio) }
}

// --- internal ---

/** Unknown windows are taken for one that holds this and an answer. */
const UNKNOWN_PIECE_TOKENS = 32_000
/** Even in a larger window: models lose what stands in the middle of a longer text, and we count it in one go. */
const PIECE_TOKENS_MAX = 64_000
/** A piece with less room is not worth its instructions. */
const PIECE_TOKENS_MIN = 256

/** The blank line behind a message. */
const BREAK_TOKENS = 1
