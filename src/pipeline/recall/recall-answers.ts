import type { Counted, Form } from '../request.ts'
import { answerRecall } from '../../recall/answer-recall.ts'
import { drive } from '../../scheduling/drive.ts'

/** What a model is told that has called the tool too often, or read so much that there is no room for more. */
export const RECALL_NO_MORE =
  'No more of the conversation can be read back in this reply. Answer with what you have, or call another tool.'

/** With less room than this nothing more is read back in a reply that has read something, in our tokens. */
export const RECALL_ROOM_TOKENS_MIN = 512

/**
 * Answers calls of the tool from the client's own conversation: a page of at most a quarter of what is left of the
 * budget. `counted` null: nothing had to be counted, so nothing was left out.
 */
export function recallAnswers(
  counted: Counted | null,
): (argumentsText: string, form: Pick<Form, 'compacted'>, roomTokens: number) => Promise<string> {
  return async (argumentsText, { compacted }, roomTokens) => {
    if (counted === null || compacted === null) return NOTHING_LEFT_OUT
    const tokensMax = Math.max(PAGE_TOKENS_MIN, Math.floor(roomTokens * PAGE_SHARE))
    return drive(answerRecall({ subject: counted.subject, compacted }, argumentsText, tokensMax))
  }
}

// --- internal ---

const PAGE_SHARE = 0.25

/** Less says nothing. Where the budget is spent it is the reserve that gives it. */
const PAGE_TOKENS_MIN = 256

const NOTHING_LEFT_OUT =
  'Nothing was left out of this conversation so far: all of its messages stand above, word for word.'
