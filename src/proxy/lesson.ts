import type { WindowQuestion } from '../upstream/windows/server-windows.ts'
import { describeSent, expectedPromptTokens, type SentPrompt } from './measure/sent-prompt.ts'
import { windowQuestion } from './measure/window-finder.ts'
import type { ModelKey } from '../upstream/model-key.ts'
import type { Ready } from './prepare.ts'
import type { ChatRequest } from './request/chat-request.ts'
import type { Outcome } from './send/send.ts'

/** What has to be known of a request to learn from its answer. Holds no content. */
export type Lesson = {
  readonly modelKey: ModelKey
  readonly model: string
  readonly conversation: string
  /** The prompt's size as the provider counts, as far as we know; an upper bound where nothing was counted. */
  readonly expectedTokens: number
  /** Null where measuring failed, and where something else was sent than what was measured. */
  readonly sent: (SentPrompt & { readonly calibrationName: string }) | null
  /** What the server is asked about this model, with the client's headers: dropped when the answer has ended. */
  readonly question: WindowQuestion
  /** Whether the server is asked: not where the operator has set the window. */
  readonly isAuto: boolean
  /** Whether nobody had asked for the usage of the streamed answer. */
  readonly isUsageUnasked: boolean
}

/** What remains to be compared with the end of an answer. */
export function lessonOf(request: ChatRequest, ready: Ready, { prepared, asksUsage }: Outcome): Lesson {
  const { chat, profile } = request
  const { stream, includeUsage } = chat.completion
  const { measure } = ready
  return {
    modelKey: request.modelKey,
    model: request.model,
    conversation: ready.remembered.conversation,
    expectedTokens: measure === null ? prepared.sentTokens : expectedPromptTokens(measure, prepared),
    sent:
      // What was counted is the repaired conversation: what an upstream says of the client's own tells nothing of that.
      measure === null || prepared.chat !== chat
        ? null
        : {
            ...describeSent(chat, request.place.scope, measure, prepared),
            calibrationName: measure.calibrationName,
          },
    question: windowQuestion(request),
    isAuto: profile.window.tokens === 'auto',
    isUsageUnasked: stream && !includeUsage && !asksUsage,
  }
}
