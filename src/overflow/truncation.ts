import type { Habits } from '../pressure/calibration/evidence.ts'
import type { StatedWindow } from './classification.ts'

/** What an answer with output reported of its prompt, and what we know of that prompt. All counts are the provider's tokens. */
export type ReportedPrompt = {
  /** `usage.prompt_tokens`. */
  readonly promptTokens: number
  /** The same with what was cached, where the report may have left that out; null where it says nothing of a cache. */
  readonly withCacheTokens: number | null
  /** What was sent, without what media took of it. */
  readonly textBytes: number
  /** Null where we did not count the prompt. */
  readonly counted: {
    /** What the provider should have counted. */
    readonly expectedTokens: number
    /** The provider's tokens for one of ours. */
    readonly ratio: number
    /** Our count of the text of messages, without tools, media and thoughts. */
    readonly ownTextTokens: number
    /** Our counts of the messages behind the system block that were sent, in their order. */
    readonly ownMessageTokens: readonly number[]
  } | null
  /** What the same model reported of beginnings of this prompt, the longest first. */
  readonly beginnings: readonly ReportedBeginning[]
  /** What a report of the uncached part alone would say, in all the ways that there are. */
  readonly addedTokens: readonly number[]
  readonly habits: Habits
}

export type ReportedBeginning = {
  readonly promptTokens: number
  /** What of it a template may drop later. */
  readonly looseTokens: number
  /** The text that was added since, at the least. */
  readonly addedTokensMin: number
}

/**
 * - `whole`: the provider counted this prompt, at `promptTokens`.
 * - `partial`: it reports only what it had not cached.
 * - `constant`: it says always the same, or a number that is no size of anything.
 * - `doubtful`: it may have left out part of the prompt, or count it in a way that we do not know; one more report may tell.
 * - `cut`: it left out part of the prompt without a word. `window` is the smallest common size that explains it.
 */
export type ReportJudgement =
  | { readonly kind: 'whole'; readonly promptTokens: number }
  | { readonly kind: 'partial' | 'constant' }
  | Suspicion

export type Suspicion = {
  readonly kind: 'doubtful' | 'cut'
  readonly promptTokens: number
  readonly window: StatedWindow
  /** Whether it is what would be left if the largest message had gone: such a report grows with its prompt, and is a cut. */
  readonly isRemainder: boolean
}

/** Judges what a provider reports of a prompt that it answered: Ollama counts after it has dropped the oldest messages. */
export function judgeReport(reported: ReportedPrompt): ReportJudgement {
  if (isConstant(reported)) return { kind: 'constant' }
  const promptTokens = nearestReading(reported)
  const { counted, beginnings, habits } = reported
  const textTokens = counted?.ownTextTokens ?? 0
  const hasStalled = beginnings.some((each) => isStalled(promptTokens, each))
  const isShort = promptTokens < textTokens * textShareMin || isThin(reported, promptTokens)
  if (!hasStalled && !isShort) return { kind: 'whole', promptTokens }
  if (isPartial(reported)) return { kind: 'partial' }

  const fittedTokens = Math.max(0, ...beginnings.map((each) => each.promptTokens))
  const largestTokens = largestOf(counted?.ownMessageTokens ?? [])
  // Who cuts drops whole messages, or shifts by half its context: it leaves more than this.
  if (promptTokens < (fittedTokens - largestTokens) * leftShareMin) return { kind: 'partial' }

  const isFar = promptTokens < textTokens * farShareMax
  const hasShrunk =
    counted !== null &&
    beginnings.some((each) => promptTokens < (each.promptTokens - each.looseTokens) * shrunkShareMax)
  // Another replica may count less, but hardly by just what the oldest messages take.
  const isBelieved =
    (isFar && (habits.hasCounted || isRound(promptTokens))) ||
    (hasShrunk && hasDroppedOldest(reported, promptTokens, fittedTokens))
  const isSize = promptTokens >= sizeTokensMin || fittedTokens >= sizeTokensMin
  const isLeft = isFar && isRemainder(promptTokens, textTokens - largestTokens)
  if (!isSize && !isLeft) return { kind: 'constant' }
  const sentTokens = counted?.expectedTokens ?? reported.textBytes * usualTokensPerByte
  return {
    kind: isBelieved && isSize ? 'cut' : 'doubtful',
    promptTokens,
    window: windowBetween(Math.max(promptTokens, fittedTokens), sentTokens),
    isRemainder: isLeft,
  }
}

/** Whether a server counted what it must have had in its cache: more than was added, and as much more than before. */
export function hasCountedCached({ addedTokens, beginnings }: ReportedPrompt, promptTokens: number): boolean {
  const [nearest] = beginnings
  if (nearest === undefined || addedTokens.length === 0) return false
  const hasGrown = promptTokens - nearest.promptTokens >= nearest.addedTokensMin * grownShareMin
  return hasGrown && promptTokens > Math.max(...addedTokens) * uncachedFactorMax + uncachedTokensMin
}

/** Prose and code as JSON; only for prompts of which nothing was ever counted. */
export const usualTokensPerByte = 0.25

/** Whether a number looks like a context size, or one less: the only ones that a cut prompt may have again and again. */
export function isRound(tokens: number): boolean {
  return tokens % roundTokens === 0 || (tokens + 1) % roundTokens === 0
}

// --- internal ---

/** No tokenizer takes fewer tokens for a text than this share of ours; Chinese in the models made for it comes near. */
const textShareMin = 0.6
/** Below this share nothing that is known to happen in a template explains it. */
const farShareMax = 0.45

/** A report that grew by less than this share of the text that was added has left something out. */
const grownShareMin = 0.5
/** Less than this may be missing for many reasons: another replica, a tool taken away. */
const missingTokensMin = 64

/** What was counted once may be counted a little lower: other templates, another replica. */
const shrunkShareMax = 0.9

/** How far what is expected may be off once a beginning was counted. */
const expectedErrorShare = 0.02

/** How far a report of the uncached part may be off what was added; caches hold whole blocks of tokens. */
const partialToleranceShare = 0.25
const partialToleranceTokens = 64
const cacheBlockTokensMax = 128
/** A report of the uncached part alone is no larger than this: our count may be off, and caches hold whole blocks. */
const uncachedFactorMax = 1.3
const uncachedTokensMin = 256
const cachedCountsMin = 2

/** A prompt of thousands of tokens is never cut to fewer than this: nobody drops the system block and the last message. */
const nothingTokensMax = 16
/** Of what fits, less the largest message, a cut leaves at least this share. */
const leftShareMin = 0.5
/** No server has a window below this. */
const sizeTokensMin = 1024

/** As JSON, prose has about five bytes a token and code four. */
const bytesPerTokenMax = 6
const thinBytesMin = 8192

/** Context sizes that servers are started with are doublings of this. */
const commonWindowTokensMin = 2048
const roundTokens = 256

/** Whether the report grew by clearly less than its prompt since this beginning. */
function isStalled(promptTokens: number, beginning: ReportedBeginning): boolean {
  const grownTokens = promptTokens - (beginning.promptTokens - beginning.looseTokens)
  return grownTokens < beginning.addedTokensMin * grownShareMin - missingTokensMin
}

/** Whether so little was reported, of a prompt that nobody has counted any of, that few texts have so few tokens. */
function isThin({ textBytes, counted, beginnings }: ReportedPrompt, promptTokens: number): boolean {
  if (counted !== null || beginnings.length > 0 || textBytes < thinBytesMin) return false
  return promptTokens * bytesPerTokenMax < textBytes
}

/** Whether the same was reported of a prompt that cannot have it, or of a beginning to which much was added. */
function isConstant({ promptTokens, habits, beginnings }: ReportedPrompt): boolean {
  if (promptTokens === habits.constantTokens) return true
  // Who has counted before cuts prompts of equal messages to equal sizes.
  if (isKnownToCount(habits) || isRound(promptTokens)) return false
  return beginnings.some(
    (each) => each.promptTokens === promptTokens && each.addedTokensMin >= missingTokensMin,
  )
}

/** Whether a server is known to count what it has cached: it may have lost its cache once. */
function isKnownToCount({ cachedCounts }: Habits): boolean {
  return cachedCounts >= cachedCountsMin
}

/** Gateways in front of Anthropic pass its numbers on, and there the prompt is what was not cached. */
function nearestReading({ promptTokens, withCacheTokens, counted }: ReportedPrompt): number {
  if (withCacheTokens === null || counted === null) return promptTokens
  const distance = (tokens: number) => Math.abs(tokens - counted.expectedTokens)
  return distance(withCacheTokens) < distance(promptTokens) ? withCacheTokens : promptTokens
}

function isPartial({ promptTokens, addedTokens, habits }: ReportedPrompt): boolean {
  if (promptTokens < nothingTokensMax) return true
  if (isKnownToCount(habits)) return false
  return addedTokens.some((added) => {
    const tolerance = partialToleranceTokens + added * partialToleranceShare
    return promptTokens >= added - tolerance && promptTokens <= added + tolerance + cacheBlockTokensMax
  })
}

/** Whether just the oldest messages are missing, and the newest of them did not fit any more. */
function hasDroppedOldest({ counted }: ReportedPrompt, promptTokens: number, fittedTokens: number): boolean {
  if (counted === null) return false
  const { expectedTokens, ratio, ownMessageTokens } = counted
  const missingTokens = expectedTokens - promptTokens
  const tolerance = missingTokensMin + expectedTokens * expectedErrorShare
  let droppedTokens = 0
  for (const ownTokens of ownMessageTokens.slice(0, -1)) {
    const tokens = ownTokens * ratio
    droppedTokens += tokens
    if (droppedTokens > missingTokens + tolerance) return false
    const isAll = droppedTokens >= missingTokens - tolerance
    if (isAll && promptTokens + tokens + tolerance >= fittedTokens) return true
  }
  return false
}

function largestOf(tokens: readonly number[]): number {
  return tokens.reduce((largest, each) => Math.max(largest, each), 0)
}

function isRemainder(promptTokens: number, leftTokens: number): boolean {
  const isEnough = promptTokens >= leftTokens * leftShareMin
  return isEnough && promptTokens <= leftTokens / textShareMin + cacheBlockTokensMax
}

/** What fits lies below the window, what was sent above it. */
function windowBetween(fittingTokens: number, sentTokens: number): StatedWindow {
  let tokens = commonWindowTokensMin
  while (tokens < fittingTokens) tokens *= 2
  if (tokens < sentTokens) return { tokens, kind: 'total' }
  return { tokens: Math.max(sizeTokensMin, fittingTokens), kind: 'input' }
}
