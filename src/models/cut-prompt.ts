import type { StatedWindow } from '../overflow/classification.ts'
import type { SentCount } from './counts/prompt.ts'
import type { ReportedPrompt } from './counts/reported-prompt.ts'

/** Between what a cut prompt still had and the first size that did not fit: there lies the window. */
export type CutBounds = {
  readonly fitsTokens: number
  readonly exceedsTokens: number
  /** How many prompts say so. */
  readonly cuts: number
}

/**
 * Where the window lies of a server that drops the oldest messages, or cuts what is left to its size; null where the report
 * is not what such a server would say. To be asked only of a server that is known to cut: others have many ways to report
 * less than a prompt has.
 */
export function cutBounds(reported: ReportedPrompt): CutBounds | null {
  const { promptTokens, expectedTokens, sent } = reported
  if (sent.counted === null) return null
  const missingTokens = expectedTokens - promptTokens
  const tolerance = missingTokensMin + expectedTokens * expectedErrorShare
  if (missingTokens <= tolerance) return null
  // The newest message alone may exceed the window: then what is left of it is the window itself.
  if (isRound(promptTokens) && !hasDroppedOldest(reported))
    return { fitsTokens: promptTokens, exceedsTokens: promptTokens + 1, cuts: 1 }
  const { droppedTokens, lastTokens } = oldestDropped(sent.counted, missingTokens - tolerance)
  if (droppedTokens < missingTokens - tolerance)
    return { fitsTokens: promptTokens, exceedsTokens: expectedTokens, cuts: 1 }
  // The last message that was dropped is the first that did not fit.
  const exceedsTokens = Math.min(expectedTokens, Math.ceil(promptTokens + lastTokens + tolerance))
  return { fitsTokens: promptTokens, exceedsTokens, cuts: 1 }
}

/** Whether just the oldest messages are missing, none of them in part. */
export function hasDroppedOldest({ promptTokens, expectedTokens, sent }: ReportedPrompt): boolean {
  if (sent.counted === null) return false
  const missingTokens = expectedTokens - promptTokens
  const tolerance = missingTokensMin + expectedTokens * anchoredErrorShare
  const { droppedTokens } = oldestDropped(sent.counted, missingTokens - tolerance)
  return missingTokens > tolerance && Math.abs(droppedTokens - missingTokens) <= tolerance
}

/** What two cut prompts say together; the newer alone where they contradict each other: the server was started anew. */
export function narrowed(before: CutBounds | null, now: CutBounds): CutBounds {
  if (before === null) return now
  const fitsTokens = Math.max(before.fitsTokens, now.fitsTokens)
  const exceedsTokens = Math.min(before.exceedsTokens, now.exceedsTokens)
  return fitsTokens < exceedsTokens ? { fitsTokens, exceedsTokens, cuts: before.cuts + now.cuts } : now
}

/**
 * The likeliest window within bounds: the roundest number, since people choose windows. Null as long as the bounds are too
 * far apart; a second cut prompt ends the waiting.
 */
export function windowWithin({ fitsTokens, exceedsTokens, cuts }: CutBounds): StatedWindow | null {
  const isWide = fitsTokens < exceedsTokens * narrowShareMin
  if (isWide && cuts < cutsMax) return null
  const doubled = 2 ** Math.ceil(Math.log2(fitsTokens))
  const candidates = [doubled, ...steps.map((step) => Math.ceil(fitsTokens / step) * step)]
  const tokens = candidates.find((each) => each < exceedsTokens)
  return tokens === undefined ? { tokens: fitsTokens, kind: 'input' } : { tokens, kind: 'total' }
}

/** Whether a number looks like a context size, or one less: the only ones that a cut prompt may have again and again. */
export function isRound(tokens: number): boolean {
  return tokens % roundTokens === 0 || (tokens + 1) % roundTokens === 0
}

// --- internal ---

/** Bounds are narrow if the lower one is at least this share of the upper one. */
const narrowShareMin = 0.85

/** So many prompts may come out cut before a window is concluded. */
const cutsMax = 2

/** Less than this may be missing for many reasons: another template, our own count. */
const missingTokensMin = 64
/** How far what is expected may be off, and how far where a beginning of the prompt was counted. */
const expectedErrorShare = 0.05
const anchoredErrorShare = 0.02

const roundTokens = 256

/** Beside doublings, the likelier first. */
const steps: readonly number[] = [1000, 1024, 512, 500, 256, 100]

/** The oldest messages that come to at least so many tokens, all but the newest at most, and the last of them. */
function oldestDropped(
  { messageTokens, ratio }: Pick<SentCount, 'messageTokens' | 'ratio'>,
  leastTokens: number,
): { readonly droppedTokens: number; readonly lastTokens: number } {
  let droppedTokens = 0
  let lastTokens = 0
  for (const ownTokens of messageTokens.slice(0, -1)) {
    if (droppedTokens >= leastTokens) break
    lastTokens = ownTokens * ratio
    droppedTokens += lastTokens
  }
  return { droppedTokens, lastTokens }
}
