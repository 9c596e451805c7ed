import type { StatedWindow } from './classification.ts'

/** What an answer with output reported of its prompt, and what we know of that prompt. All counts are tokens. */
export type ReportedPrompt = {
  /** `usage.prompt_tokens`, in the provider's tokens. */
  readonly promptTokens: number
  /** What the provider should have counted, by our own count and what it reported before. */
  readonly expectedTokens: number
  /** The part of the expected tokens that is text: media, and thoughts that a template may drop, are left out. */
  readonly expectedTextTokens: number
  /** Whether earlier answers bear the expectation out. */
  readonly isCalibrated: boolean
  /** What the same model reported of the beginning of this prompt; null where it was not seen. */
  readonly beginningTokens: number | null
  /** What was added since the request before, in the provider's tokens; null where that was not seen. */
  readonly addedTokens: number | null
}

/**
 * `truncated`: the server left out part of the prompt without a word, and `window` is the smallest common size that explains
 * it; `doubtful` where the report is too small to be told from a constant. `partial`: the server reports only what it
 * had not cached. None of these says anything of how it counts.
 */
export type ReportJudgement =
  | { readonly kind: 'whole' | 'partial' }
  | { readonly kind: 'truncated' | 'doubtful'; readonly window: StatedWindow }

/** Judges what a provider reports of a prompt that it answered: Ollama counts after it has dropped the oldest messages. */
export function judgeReport(reported: ReportedPrompt): ReportJudgement {
  const { promptTokens, expectedTokens, expectedTextTokens, isCalibrated, beginningTokens } = reported
  if (expectedTokens - promptTokens < missingTokensMin) return { kind: 'whole' }
  if (isPartial(reported)) return { kind: 'partial' }
  const hasShrunk =
    beginningTokens !== null &&
    promptTokens < beginningTokens * shrunkShareMax &&
    expectedTextTokens >= beginningTokens * shrunkShareMax
  const isFar = promptTokens < expectedTextTokens * (isCalibrated ? calibratedShareMax : startingShareMax)
  if (!hasShrunk && !isFar) return { kind: 'whole' }
  const fittingTokens = Math.max(promptTokens, hasShrunk ? beginningTokens : 0)
  const kind = promptTokens < certainTokensMin ? 'doubtful' : 'truncated'
  return { kind, window: windowBetween(fittingTokens, expectedTokens) }
}

/**
 * Whether a report is so small beside a body of this size that the next prompt should be counted: few texts have so few
 * tokens.
 */
export function isSuspicious(promptTokens: number, textBytes: number): boolean {
  if (promptTokens < partialTokensMax || textBytes < suspiciousBytesMin) return false
  return promptTokens * bytesPerTokenMax < textBytes
}

// --- internal ---

/** Less than this may be missing for many reasons. */
const missingTokensMin = 256

/** Below this share of what was expected something is missing; without calibration tokenizers alone differ by a third. */
const calibratedShareMax = 0.75
const startingShareMax = 0.65

/** A prompt that grew and is reported smaller than its own beginning has lost something. */
const shrunkShareMax = 0.97

/** How far a report of the uncached part may be off what was added. */
const partialToleranceShare = 0.15
const partialToleranceTokens = 48

/** A prompt of thousands of tokens is never cut to fewer than this: nobody drops the system block and the last message. */
const partialTokensMax = 16

/** No server has a window below this; a smaller report may come from one that always says the same. */
const certainTokensMin = 1024

/** As JSON, prose has about five bytes a token and code four. */
const bytesPerTokenMax = 6
const suspiciousBytesMin = 8192

/** Context sizes that servers are started with are doublings of this. */
const commonWindowTokensMin = 2048

function isPartial({ promptTokens, addedTokens }: ReportedPrompt): boolean {
  if (promptTokens < partialTokensMax) return true
  if (addedTokens === null) return false
  const tolerance = Math.max(partialToleranceTokens, addedTokens * partialToleranceShare)
  return Math.abs(promptTokens - addedTokens) <= tolerance
}

/** What fits lies below the window, what was sent above it. */
function windowBetween(fittingTokens: number, sentTokens: number): StatedWindow {
  let tokens = commonWindowTokensMin
  while (tokens < fittingTokens) tokens *= 2
  return tokens < sentTokens ? { tokens, kind: 'total' } : { tokens: fittingTokens, kind: 'input' }
}
