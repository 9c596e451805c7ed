import type { Habits } from '../pressure/calibration/calibration.ts'
import type { StatedWindow } from './classification.ts'

/** What an answer with output reported of its prompt, and what we know of that prompt. All counts are the provider's tokens. */
export type ReportedPrompt = {
  /** `usage.prompt_tokens`. */
  readonly promptTokens: number
  /** The same with what was cached, where the report may have left that out; null where it says nothing of a cache. */
  readonly withCacheTokens: number | null
  /** What the provider should have counted. */
  readonly expectedTokens: number
  /** Our count of the text of messages, without tools, media and thoughts; null where nothing was counted. */
  readonly ownTextTokens: number | null
  /** What was sent, without what media took of it. */
  readonly textBytes: number
  /** What the same model reported of beginnings of this prompt. */
  readonly beginnings: readonly ReportedBeginning[]
  /** What a report of the uncached part alone would say: what was added since the request before, with and without its reply. */
  readonly addedTokens: readonly number[]
  readonly habits: Habits
}

export type ReportedBeginning = {
  readonly promptTokens: number
  /** What of it a template may drop later. */
  readonly looseTokens: number
  /** What was added since, at the least. */
  readonly addedTokensMin: number
}

/**
 * - `whole`: the provider counted this prompt, at `promptTokens`.
 * - `useless`: it reports only what it had not cached, or says always the same.
 * - `doubtful`: it may have left out part of the prompt, or count it in a way that we do not know; one more report may tell.
 * - `cut`: it left out part of the prompt without a word. `window` is the smallest common size that explains it.
 */
export type ReportJudgement =
  | { readonly kind: 'whole'; readonly promptTokens: number }
  | { readonly kind: 'useless' }
  | {
      readonly kind: 'doubtful' | 'cut'
      /** Whether more than half of the text is missing. */
      readonly isFar: boolean
      /** Whether the report may be the size of what fits; a smaller one is what is left behind a message that went. */
      readonly isSize: boolean
      readonly window: StatedWindow
    }

/** Judges what a provider reports of a prompt that it answered: Ollama counts after it has dropped the oldest messages. */
export function judgeReport(reported: ReportedPrompt): ReportJudgement {
  if (isConstant(reported)) return { kind: 'useless' }
  const promptTokens = nearestReading(reported)
  const { expectedTokens, beginnings, habits } = reported
  const textTokens = reported.ownTextTokens ?? 0
  // Each request may add little, and each cut take little away: it shows against the oldest that is known.
  const leastOfBeginning = Math.max(
    0,
    ...beginnings.map((each) => each.promptTokens - each.looseTokens + each.addedTokensMin),
  )
  const leeway = Math.max(missingTokensMin, leastOfBeginning * missingShareMin)
  const isEnough = promptTokens >= textTokens * textShareMin && promptTokens >= leastOfBeginning - leeway
  if (isEnough && !isThin(reported)) return { kind: 'whole', promptTokens }
  if (isPartial(reported)) return { kind: 'useless' }

  const isFar = promptTokens < textTokens * farShareMax
  const hasShrunk = reported.ownTextTokens !== null && promptTokens < leastOfBeginning * shrunkShareMax
  const isBelieved = habits.hasCounted || isRound(promptTokens)
  const isSize = promptTokens >= certainTokensMin || habits.hasCounted
  const isCertain =
    (promptTokens >= certainTokensMin || habits.countsCached) && ((isFar && isBelieved) || hasShrunk)
  const fittingTokens = Math.max(promptTokens, ...beginnings.map((each) => each.promptTokens))
  const window = windowBetween(fittingTokens, expectedTokens)
  return { kind: isCertain ? 'cut' : 'doubtful', isFar, isSize, window }
}

/** Whether a number looks like a context size, or one less: the only ones that a cut prompt may have again and again. */
export function isRound(tokens: number): boolean {
  return tokens % roundTokens === 0 || (tokens + 1) % roundTokens === 0
}

// --- internal ---

/** Less than this may be missing for many reasons: another replica, a tool taken away. */
const missingTokensMin = 64
const missingShareMin = 0.005

/** No tokenizer takes fewer tokens for a text than this share of ours; Chinese in the models made for it comes near. */
const textShareMin = 0.6
/** Below this share nothing that is known to happen in a template explains it. */
const farShareMax = 0.45

/** Of what the provider has counted once it may count a little less: other templates, another replica, tools taken away. */
const shrunkShareMax = 0.9

/** How far a report of the uncached part may be off what was added; caches hold whole blocks of tokens. */
const partialToleranceShare = 0.25
const partialToleranceTokens = 64
const cacheBlockTokensMax = 128

/** A prompt of thousands of tokens is never cut to fewer than this: nobody drops the system block and the last message. */
const nothingTokensMax = 16

/** No server has a window below this; a smaller report may come from one that does not count. */
const certainTokensMin = 1024

/** As JSON, prose has about five bytes a token and code four. */
const bytesPerTokenMax = 6
const thinBytesMin = 8192

/** Context sizes that servers are started with are doublings of this. */
const commonWindowTokensMin = 2048
const roundTokens = 256

/** Whether so little was reported, of a prompt that nobody has counted any of, that few texts have so few tokens. */
function isThin({ promptTokens, textBytes, ownTextTokens, beginnings }: ReportedPrompt): boolean {
  if (ownTextTokens !== null || beginnings.length > 0 || textBytes < thinBytesMin) return false
  return promptTokens * bytesPerTokenMax < textBytes
}

/** Whether the same was reported of a prompt that cannot have it, or of a beginning to which much was added. */
function isConstant({ promptTokens, habits, beginnings }: ReportedPrompt): boolean {
  if (promptTokens === habits.constantTokens) return true
  // Who has counted before cuts prompts of equal messages to equal sizes.
  if (habits.countsCached) return false
  const isRepeated = beginnings.some(
    (each) => each.promptTokens === promptTokens && each.addedTokensMin >= missingTokensMin,
  )
  return isRepeated && !isRound(promptTokens)
}

/** Gateways in front of Anthropic pass its numbers on, and there the prompt is what was not cached. */
function nearestReading({ promptTokens, withCacheTokens, expectedTokens }: ReportedPrompt): number {
  if (withCacheTokens === null) return promptTokens
  const distance = (tokens: number) => Math.abs(tokens - expectedTokens)
  return distance(withCacheTokens) < distance(promptTokens) ? withCacheTokens : promptTokens
}

function isPartial({ promptTokens, addedTokens, habits }: ReportedPrompt): boolean {
  if (promptTokens < nothingTokensMax) return true
  // Who has counted what was cached does not leave it out now.
  if (habits.countsCached) return false
  return addedTokens.some((added) => {
    const tolerance = partialToleranceTokens + added * partialToleranceShare
    return promptTokens >= added - tolerance && promptTokens <= added + tolerance + cacheBlockTokensMax
  })
}

/** What fits lies below the window, what was sent above it. */
function windowBetween(fittingTokens: number, sentTokens: number): StatedWindow {
  let tokens = commonWindowTokensMin
  while (tokens < fittingTokens) tokens *= 2
  return tokens < sentTokens ? { tokens, kind: 'total' } : { tokens: fittingTokens, kind: 'input' }
}
