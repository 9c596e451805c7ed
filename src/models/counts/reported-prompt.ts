import type { StatedWindow } from '../../overflow/classification.ts'
import type { CutBounds, OddReport } from '../suspicions.ts'
import type { AnsweredPrompt, SentCount, SentPrompt } from './counted-prompt.ts'

/** What an answer reported of its prompt, and what we know of that prompt. All counts are the provider's tokens. */
export type ReportedPrompt = Readonly<ReturnType<typeof reportedPrompt>>

/**
 * Holds what an answer reported against what is known of its prompt and of the prompts that it began with. `answeredAt`: what
 * was taken of one of those. `expectedTokens`: what the provider should have counted; an upper bound where we did not count it.
 */
export function reportedPrompt(
  promptTokens: number,
  expectedTokens: number,
  sent: SentPrompt,
  answeredAt: (beginning: string) => AnsweredPrompt | undefined,
  answeredBy: string | null,
) {
  const { counted, textBytes } = sent
  const tokensPerByte =
    counted === null ? usualTokensPerByte : (counted.ownTokens * counted.ratio) / Math.max(1, textBytes)
  /** What the same model reported of beginnings of this prompt, the longest first. */
  const beginnings = sent.beginnings.flatMap(({ prompt, counted: counts }) => {
    const before = answeredAt(prompt)
    if (before === undefined || before.promptTokens === null) return []
    if (before.answeredBy !== answeredBy || !isWithin(before, sent)) return []
    /** The text that was added since, at the least. */
    const addedTokensMin =
      counted === null || counts === null
        ? Math.max(0, textBytes - before.textBytes) * tokensPerByte
        : counts.addedTextTokens * counted.ratioMin
    /** What of it a template may drop later. */
    const looseTokens = (counts?.looseTokens ?? 0) * (counted?.ratio ?? 1)
    return { promptTokens: before.promptTokens, looseTokens, addedTokensMin }
  })
  return { promptTokens, expectedTokens, sent, beginnings }
}

/** Our count of the text of messages, without tools, media and thoughts. */
export function ownTextTokens({ ownTokens, looseTokens, toolsTokens }: SentCount): number {
  return Math.max(0, ownTokens - looseTokens - toolsTokens)
}

/**
 * Whether the provider seems to have counted the whole prompt. Servers that report only what was not cached, that say
 * always the same or that have cut the prompt do not; what they say is no count, and teaches nothing.
 *
 * @internal exported for tests
 */
export function isWhole({ promptTokens, sent, beginnings }: ReportedPrompt): boolean {
  const { counted, textBytes } = sent
  if (counted !== null && promptTokens < ownTextTokens(counted) * textShareMin) return false
  const isUnknown = counted === null && beginnings.length === 0
  if (isUnknown && textBytes >= thinBytesMin && promptTokens * bytesPerTokenMax < textBytes) return false
  // It grew by clearly less than its prompt since one of them.
  return !beginnings.some((before) => {
    const grownTokens = promptTokens - (before.promptTokens - before.looseTokens)
    return grownTokens < before.addedTokensMin * grownShareMin - missingTokensMin
  })
}

/** Whether a number that was reported of a beginning to which much was added comes again: then it counts nothing. */
export function isConstant({ promptTokens, beginnings }: ReportedPrompt): boolean {
  const isSame = beginnings.some(
    (each) => each.promptTokens === promptTokens && each.addedTokensMin >= missingTokensMin,
  )
  return isSame && !isRound(promptTokens)
}

/** What is known of the server that reported, and of its last report that was no count. */
export type Reporter = {
  /** The window that it says it has loaded; null where it says none. */
  readonly loadedTokens: number | null
  /** Whether it calls itself Ollama, which cuts prompts to its window without a word. */
  readonly isOllama: boolean
  /** A prompt of this size has come out whole, or is what was left of one. */
  readonly fittingTokens: number
  /** The last report in this conversation that was no count. */
  readonly before: OddReport | null
}

/**
 * What a report is: a `count` of the whole prompt, `none`, what is left of a prompt that was `cut`, or something that looks
 * `like-cut`. A cut is concluded only by the server's own word that it has not loaded that much, or of a server that calls itself
 * Ollama, and there only if nothing else explains the report.
 */
export function judgeReport(
  reported: ReportedPrompt,
  { loadedTokens, isOllama, fittingTokens, before }: Reporter,
): 'count' | 'none' | 'cut' | 'like-cut' {
  const { promptTokens, expectedTokens, beginnings, sent } = reported
  const { counted } = sent
  const plain = isWhole(reported) ? 'count' : 'none'
  if (counted === null) return plain
  const isShort = promptTokens < expectedTokens * cutShareMax
  if (loadedTokens !== null) {
    const isLeft = promptTokens <= loadedTokens && promptTokens > loadedTokens * leftShareMin
    return isShort && expectedTokens > loadedTokens && isLeft ? 'cut' : plain
  }
  const textTokens = ownTextTokens(counted)
  const addedTokens = before?.ownTextTokens == null ? 0 : textTokens - before.ownTextTokens
  const grownTokens = promptTokens - (before?.promptTokens ?? 0)
  // A cap does not grow with its prompt; a count does, by half of our own in the tersest of tokenizers.
  const isFlat = addedTokens > 0 && grownTokens < addedTokens * flatShareMax
  const isLeftOver =
    isRound(promptTokens) || isFlat || (beginnings.length > 0 && hasDroppedOldest(reported, counted))
  if (isOllama && isShort && expectedTokens > Math.max(uncutTokens, fittingTokens)) {
    const isTooFew = promptTokens < textTokens * terseShareMin
    if (isTooFew || isRound(promptTokens) || isFlat || (plain === 'none' && isLeftOver)) return 'cut'
    // One that was small and has grown as its prompt did, at the rate that it has itself, is a terse tokenizer's.
    const evenTokens = addedTokens * (promptTokens / Math.max(1, textTokens))
    const isEven = addedTokens > 0 && Math.abs(grownTokens - evenTokens) <= evenTokens * evenShareMax
    if (plain === 'count' && isEven) return 'count'
    return before === null ? 'none' : 'like-cut'
  }
  return plain === 'none' && promptTokens >= leftTokensMin && isLeftOver ? 'like-cut' : plain
}

/**
 * Where the window lies of a server that drops the oldest messages, or cuts what is left to its size; null where the report
 * is not what such a server would say. To be asked only of a server that is known to cut: others have many ways to report
 * less than a prompt has.
 */
export function cutBounds(reported: ReportedPrompt): CutBounds | null {
  const { promptTokens, expectedTokens, sent } = reported
  if (sent.counted === null) return null
  const tolerance = missingTokensMin + expectedTokens * expectedErrorShare
  const leastTokens = expectedTokens - promptTokens - tolerance
  if (leastTokens <= 0) return null
  // The newest message alone may exceed the window: then what is left of it is the window itself.
  if (isRound(promptTokens) && !hasDroppedOldest(reported, sent.counted))
    return { fitsTokens: promptTokens, exceedsTokens: promptTokens + 1, cuts: 1 }
  const { droppedTokens, lastTokens } = oldestDropped(sent.counted, leastTokens)
  // The last message that was dropped is the first that did not fit.
  const firstTokens = Math.ceil(promptTokens + lastTokens + tolerance)
  const exceedsTokens = droppedTokens < leastTokens ? expectedTokens : Math.min(expectedTokens, firstTokens)
  return { fitsTokens: promptTokens, exceedsTokens, cuts: 1 }
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
  if (fitsTokens < exceedsTokens * narrowShareMin && cuts < cutsMax) return null
  const doubled = 2 ** Math.ceil(Math.log2(fitsTokens))
  const candidates = [doubled, ...steps.map((step) => Math.ceil(fitsTokens / step) * step)]
  const tokens = candidates.find((each) => each < exceedsTokens)
  return tokens === undefined ? { tokens: fitsTokens, kind: 'input' } : { tokens, kind: 'total' }
}

// --- internal ---

/** Prose and code as JSON; only for prompts of which nothing was counted. */
const usualTokensPerByte = 0.25
/** No tokenizer takes fewer tokens for a text than this share of ours; Chinese in the models made for it comes near. */
const textShareMin = 0.6
/** As JSON, prose has about five bytes a token and code four. */
const bytesPerTokenMax = 6
const thinBytesMin = 8192
/** A report that grew by less than this share of the text that was added has left something out. */
const grownShareMin = 0.5
/** Less than this may be missing for many reasons: another template or replica, a tool taken away, our own count. */
const missingTokensMin = 64
/** A clock or a list of files in the system block may take so many tokens more at one time than at another. */
const aroundTokensMoreMax = 64

/** Of a server that cuts, what reports less than this share of what was expected of a prompt may have been cut. */
const cutShareMax = 0.9
/** Who cuts to a window leaves at least this share of it, and nobody cuts to less than so many tokens. */
const leftShareMin = 0.4
const leftTokensMin = 1_024
/** No server that cuts has a window below this. */
const uncutTokens = 2_048
/** Of a server that cuts, less than this share of our count of the texts is no tokenizer's. */
const terseShareMin = 0.45
/** A prompt that grew by less than this share of the text that was added has been capped. */
const flatShareMax = 0.4
/** How far growth may be off the rate of the whole. */
const evenShareMax = 0.25

/** How far what is expected may be off, and how far where a beginning of the prompt was counted. */
const expectedErrorShare = 0.05
const anchoredErrorShare = 0.02
/** Bounds are narrow if the lower one is at least this share of the upper one. */
const narrowShareMin = 0.85
/** So many prompts may come out cut before a window is concluded. */
const cutsMax = 2
const roundTokens = 256
/** Beside doublings, the likelier first. */
const steps: readonly number[] = [1000, 1024, 512, 500, 256, 100]

/** Whether what was sent then may stand in what is sent now: with fewer tools it was another prompt. */
function isWithin(then: AnsweredPrompt, now: SentPrompt): boolean {
  if (then.textBytes > now.textBytes) return false
  if (then.counted === null || now.counted === null) return true
  return then.counted.aroundTokens <= now.counted.aroundTokens + aroundTokensMoreMax
}

/** Whether a number looks like a context size, or one less: the only ones that a cut prompt may have again and again. */
function isRound(tokens: number): boolean {
  return tokens % roundTokens === 0 || (tokens + 1) % roundTokens === 0
}

/** Whether just the oldest messages are missing, none of them in part. */
function hasDroppedOldest({ promptTokens, expectedTokens }: ReportedPrompt, counted: SentCount): boolean {
  const missingTokens = expectedTokens - promptTokens
  const tolerance = missingTokensMin + expectedTokens * anchoredErrorShare
  const { droppedTokens } = oldestDropped(counted, missingTokens - tolerance)
  return missingTokens > tolerance && Math.abs(droppedTokens - missingTokens) <= tolerance
}

/** The oldest messages that come to at least so many tokens, all but the newest at most, and the last of them. */
function oldestDropped({ messageTokens, ratio }: SentCount, leastTokens: number) {
  let droppedTokens = 0
  let lastTokens = 0
  for (const ownTokens of messageTokens.slice(0, -1)) {
    if (droppedTokens >= leastTokens) break
    lastTokens = ownTokens * ratio
    droppedTokens += lastTokens
  }
  return { droppedTokens, lastTokens }
}
