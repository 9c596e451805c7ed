import type { ChatRequest, Ready, Outcome } from './request.ts'
import type { Lesson } from '../models/learn.ts'
import { describeSent, expectedPromptTokens } from './measure/sent-prompt.ts'
import { windowQuestion } from './measure/window-finder.ts'

/** What remains to be compared with the end of an answer. */
export function lessonOf(request: ChatRequest, ready: Ready, { prepared, asksUsage }: Outcome): Lesson {
  const { chat, profile } = request
  const { stream, includeUsage } = chat.completion
  const { measure } = ready
  // What was counted is the repaired conversation: what an upstream says of the client's own tells nothing of that.
  const isMeasured = measure !== null && prepared.chat === chat
  return {
    modelKey: request.modelKey,
    model: request.model,
    conversation: ready.remembered.conversation,
    expectedTokens: measure === null ? prepared.sentTokens : expectedPromptTokens(measure, prepared),
    outputTokens: chat.completion.outputLimit?.tokens ?? null,
    sent: isMeasured ? describeSent(chat, request.place.scope, measure, prepared) : null,
    question: windowQuestion(request),
    isAuto: profile.window.tokens === 'auto',
    isUsageUnasked: stream && !includeUsage && !asksUsage,
  }
}
