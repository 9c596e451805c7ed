import type { AnsweredPrompt } from './prompt.ts'

/** What an answer reported of its prompt, and what we know of that prompt. All counts are the provider's tokens. */
export type ReportedPrompt = {
  readonly promptTokens: number
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
}

export type ReportedBeginning = {
  readonly promptTokens: number
  /** What of it a template may drop later. */
  readonly looseTokens: number
  /** The text that was added since, at the least. */
  readonly addedTokensMin: number
}

/** A prompt as it was sent, in our tokens. */
export type SentCounts = {
  readonly ownTokens: number
  readonly aroundTokens: number
  readonly looseTokens: number
  /** Tools and schemas. */
  readonly toolsTokens: number
  /** The messages behind the system block, in their order. */
  readonly messageTokens: readonly number[]
  /** The provider's tokens for one of ours: as far as is known, and at the least. */
  readonly ratio: number
  readonly ratioMin: number
}

/** What a request point before this one had sent. */
export type SentBeginning = {
  readonly prompt: string
  /** What came after it and what it held, in our tokens; null where nothing was counted. */
  readonly counted: {
    /** Text alone, without media and thoughts. */
    readonly addedTextTokens: number
    /** Media and thoughts in the messages before it. */
    readonly looseTokens: number
  } | null
}

/** Holds what an answer reported against what is known of its prompt and of the prompts that it began with. */
export function reportedPrompt(
  promptTokens: number,
  sent: {
    readonly textBytes: number
    readonly counted: SentCounts | null
    readonly beginnings: readonly SentBeginning[]
    readonly expectedTokens: number
  },
  answered: readonly { readonly index: number; readonly answered: AnsweredPrompt }[],
  answeredBy: string | null,
): ReportedPrompt {
  const { counted, textBytes } = sent
  const tokensPerByte =
    counted === null ? usualTokensPerByte : (counted.ownTokens * counted.ratio) / Math.max(1, textBytes)
  const beginnings = answered.flatMap(({ index, answered: { promptTokens: before, ...each } }) => {
    const counts = sent.beginnings[index]?.counted
    const isSameModel = each.answeredBy === answeredBy
    if (before === null || counts === undefined || !isSameModel || !isWithin(each, sent)) return []
    return {
      promptTokens: before,
      looseTokens: (counts?.looseTokens ?? 0) * (counted?.ratio ?? 1),
      addedTokensMin:
        counted === null || counts === null
          ? Math.max(0, textBytes - each.textBytes) * tokensPerByte
          : counts.addedTextTokens * counted.ratioMin,
    }
  })
  return {
    promptTokens,
    textBytes,
    counted:
      counted === null
        ? null
        : {
            expectedTokens: sent.expectedTokens,
            ratio: counted.ratio,
            ownTextTokens: Math.max(0, counted.ownTokens - counted.looseTokens - counted.toolsTokens),
            ownMessageTokens: counted.messageTokens,
          },
    beginnings,
  }
}

/**
 * Whether the provider seems to have counted the whole prompt. Servers that report only what was not cached, that say
 * always the same or that have cut the prompt do not; what they say is no count, and teaches nothing.
 */
export function isWhole({ promptTokens, textBytes, counted, beginnings }: ReportedPrompt): boolean {
  if (counted !== null && promptTokens < counted.ownTextTokens * textShareMin) return false
  const isUnknown = counted === null && beginnings.length === 0
  if (isUnknown && textBytes >= thinBytesMin && promptTokens * bytesPerTokenMax < textBytes) return false
  return !beginnings.some((beginning) => hasStalled(promptTokens, beginning))
}

/** Whether the same number was reported of a beginning to which much was added: then it counts nothing. */
export function isConstant({ promptTokens, beginnings }: ReportedPrompt): boolean {
  return beginnings.some(
    (each) => each.promptTokens === promptTokens && each.addedTokensMin >= missingTokensMin,
  )
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
/** Less than this may be missing for many reasons: another replica, a tool taken away. */
const missingTokensMin = 64

/** A clock or a list of files in the system block may take so many tokens more at one time than at another. */
const aroundTokensMoreMax = 64

/** Whether the report grew by clearly less than its prompt since this beginning. */
function hasStalled(promptTokens: number, beginning: ReportedBeginning): boolean {
  const grownTokens = promptTokens - (beginning.promptTokens - beginning.looseTokens)
  return grownTokens < beginning.addedTokensMin * grownShareMin - missingTokensMin
}

/** Whether what was sent then may stand in what is sent now: with fewer tools it was another prompt. */
function isWithin(
  then: Pick<AnsweredPrompt, 'counted' | 'textBytes'>,
  now: { readonly textBytes: number; readonly counted: Pick<SentCounts, 'aroundTokens'> | null },
): boolean {
  if (then.textBytes > now.textBytes) return false
  if (then.counted === null || now.counted === null) return true
  return then.counted.aroundTokens <= now.counted.aroundTokens + aroundTokensMoreMax
}
