import type { AnsweredPrompt, SentCount, SentPrompt } from './prompt.ts'

/** What an answer reported of its prompt, and what we know of that prompt. All counts are the provider's tokens. */
export type ReportedPrompt = {
  readonly promptTokens: number
  /** What the provider should have counted; an upper bound where we did not count the prompt. */
  readonly expectedTokens: number
  readonly sent: SentPrompt
  /** What the same model reported of beginnings of this prompt, the longest first. */
  readonly beginnings: readonly Beginning[]
}

type Beginning = {
  readonly promptTokens: number
  /** What of it a template may drop later. */
  readonly looseTokens: number
  /** The text that was added since, at the least. */
  readonly addedTokensMin: number
}

/**
 * Holds what an answer reported against what is known of its prompt and of the prompts that it began with. `answeredAt`: what
 * was taken of one of those.
 */
export function reportedPrompt(
  promptTokens: number,
  expectedTokens: number,
  sent: SentPrompt,
  answeredAt: (beginning: string) => AnsweredPrompt | undefined,
  answeredBy: string | null,
): ReportedPrompt {
  const { counted, textBytes } = sent
  const tokensPerByte =
    counted === null ? usualTokensPerByte : (counted.ownTokens * counted.ratio) / Math.max(1, textBytes)
  const beginnings: Beginning[] = []
  for (const { prompt, counted: counts } of sent.beginnings) {
    const before = answeredAt(prompt)
    if (before === undefined || before.promptTokens === null) continue
    if (before.answeredBy !== answeredBy || !isWithin(before, sent)) continue
    beginnings.push({
      promptTokens: before.promptTokens,
      looseTokens: (counts?.looseTokens ?? 0) * (counted?.ratio ?? 1),
      addedTokensMin:
        counted === null || counts === null
          ? Math.max(0, textBytes - before.textBytes) * tokensPerByte
          : counts.addedTextTokens * counted.ratioMin,
    })
  }
  return { promptTokens, expectedTokens, sent, beginnings }
}

/** Our count of the text of messages, without tools, media and thoughts. */
export function ownTextTokens({ ownTokens, looseTokens, toolsTokens }: SentCount): number {
  return Math.max(0, ownTokens - looseTokens - toolsTokens)
}

/**
 * Whether the provider seems to have counted the whole prompt. Servers that report only what was not cached, that say
 * always the same or that have cut the prompt do not; what they say is no count, and teaches nothing.
 */
export function isWhole({ promptTokens, sent, beginnings }: ReportedPrompt): boolean {
  const { counted, textBytes } = sent
  if (counted !== null && promptTokens < ownTextTokens(counted) * textShareMin) return false
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
function hasStalled(promptTokens: number, beginning: Beginning): boolean {
  const grownTokens = promptTokens - (beginning.promptTokens - beginning.looseTokens)
  return grownTokens < beginning.addedTokensMin * grownShareMin - missingTokensMin
}

/** Whether what was sent then may stand in what is sent now: with fewer tools it was another prompt. */
function isWithin(
  then: Pick<AnsweredPrompt, 'counted' | 'textBytes'>,
  now: Pick<SentPrompt, 'counted' | 'textBytes'>,
): boolean {
  if (then.textBytes > now.textBytes) return false
  if (then.counted === null || now.counted === null) return true
  return then.counted.aroundTokens <= now.counted.aroundTokens + aroundTokensMoreMax
}
