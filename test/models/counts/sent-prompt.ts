import type { SentCount, SentPrompt } from '../../../src/models/counts/prompt.ts'

/** A prompt of so many of our tokens, counted as the provider counts. */
export function sentPrompt(ownTokens: number, given: Partial<SentCount> = {}): SentPrompt {
  const counted = {
    ownTokens,
    aroundTokens: 0,
    looseTokens: 0,
    conversationTokens: ownTokens,
    toolsTokens: 0,
    messageTokens: [],
    ratio: 1,
    ratioMin: 1,
    anchor: null,
    ...given,
  }
  return { prompt: 'p', encoding: 'e', beginnings: [], textBytes: ownTokens * 4, counted }
}
