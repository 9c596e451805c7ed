import type { Usage } from '../../overflow/completion.ts'
import { usualTokensPerByte, type ReportedPrompt } from '../../overflow/truncation.ts'
import type { Calibration } from '../../pressure/calibration/calibration.ts'
import type { AnsweredPrompt } from '../../pressure/calibration/prompt.ts'
import type { SentPrompt } from './sent-prompt.ts'

/** What is known of a prompt, beside what its answer says of it. `expectedTokens`: what the provider should count. */
export function describeReport(
  sent: SentPrompt & { readonly calibrationName: string },
  expectedTokens: number,
  usage: Usage,
  answeredBy: string | null,
  calibration: Calibration,
): ReportedPrompt {
  const { counted, textBytes, beginnings, calibrationName } = sent
  const answered = calibration.answeredAt(
    calibrationName,
    beginnings.map(({ prompt }) => prompt),
  )
  const known = answered.flatMap(({ index, answered: { promptTokens, ...each } }) => {
    const isSameModel = each.answeredBy === answeredBy
    const beginning = beginnings[index]
    if (promptTokens === null || beginning === undefined || !isSameModel || !isWithin(each, sent)) return []
    return [{ promptTokens, textBytes: each.textBytes, counts: beginning.counted }]
  })
  const tokensPerByte = tokensPerByteOf(sent, known[0] ?? null)
  const tokensSince = (bytes: number): number => Math.max(0, textBytes - bytes) * tokensPerByte
  return {
    promptTokens: usage.promptTokens,
    withCacheTokens: usage.alternativePromptTokens,
    textBytes,
    counted:
      counted === null
        ? null
        : {
            expectedTokens,
            ratio: counted.ratio,
            ownTextTokens: Math.max(0, counted.ownTokens - counted.looseTokens - counted.toolsTokens),
            ownMessageTokens: counted.messageTokens,
          },
    beginnings: known.map((each) => ({
      promptTokens: each.promptTokens,
      looseTokens: (each.counts?.looseTokens ?? 0) * (counted?.ratio ?? 1),
      addedTokensMin:
        counted === null || each.counts === null
          ? tokensSince(each.textBytes)
          : each.counts.addedTextTokens * counted.ratioMin,
    })),
    addedTokens: addedTokens(sent, answered[0] ?? null, tokensSince),
    habits: calibration.habitsOf(calibrationName),
  }
}

// --- internal ---

/** A clock or a list of files in the system block may take so many tokens more at one time than at another. */
const aroundTokensMoreMax = 64

function tokensPerByteOf(
  { counted, textBytes }: SentPrompt,
  nearest: { readonly promptTokens: number; readonly textBytes: number } | null,
): number {
  if (counted !== null) return (counted.ownTokens * counted.ratio) / Math.max(1, textBytes)
  return nearest === null ? usualTokensPerByte : nearest.promptTokens / Math.max(1, nearest.textBytes)
}

/** What a report of the uncached part alone would say. */
function addedTokens(
  { counted, beginnings }: SentPrompt,
  longest: { readonly index: number; readonly answered: AnsweredPrompt } | null,
  tokensSince: (bytes: number) => number,
): readonly number[] {
  if (longest === null) {
    // Another conversation may have left the system block and the tools in the cache.
    return counted === null ? [] : [(counted.ownTokens - counted.aroundTokens) * counted.ratio]
  }
  const { textBytes } = longest.answered
  const replyBytes = beginnings[longest.index]?.replyBytes ?? 0
  // A cache may hold the reply to the prompt before, too: then only what the client added is new to it.
  return [tokensSince(textBytes), tokensSince(textBytes + replyBytes)]
}

/** Whether what was sent then may stand in what is sent now: with fewer tools it was another prompt. */
function isWithin(then: Pick<AnsweredPrompt, 'counted' | 'textBytes'>, now: SentPrompt): boolean {
  if (then.textBytes > now.textBytes) return false
  if (then.counted === null || now.counted === null) return true
  return then.counted.aroundTokens <= now.counted.aroundTokens + aroundTokensMoreMax
}
