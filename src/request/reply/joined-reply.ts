import type { Outcome } from '../request.ts'
import type { CallRules } from '../../dialects/chat-completions/reply/shown-reason.ts'
import type { Failures } from '../../activity/failures.ts'
import { observeAnswer, type AnswerObserver } from '../observe.ts'
import type { AnswerShape } from '../../upstream/answer-shape.ts'
import type { FurtherAnswers, ReplyCounts } from './further-answers.ts'
import { joinPlain } from './join-plain.ts'
import { joinStream } from './join-stream.ts'
import type { Usage } from '../../dialects/chat-completions/completion.ts'

/** A reply that may take several answers, as one answer for the client. */
export type JoinedReply = {
  readonly outcome: Outcome
  /** Whether it may still go on while it flows. */
  readonly isOpen: boolean
  /** What reads along with the first answer: what it states of its prompt is said of what was measured. */
  readonly observer: AnswerObserver
  /** How often it went on, and what all of its answers cost; null where none stated that. For the end. */
  readonly total: () => ReplyCounts & { readonly usage: Usage | null }
}

export type JoinOptions = {
  readonly rules: CallRules
  readonly further: FurtherAnswers
  readonly failures: Pick<Failures, 'note'>
}

/** Makes one answer of a reply that goes on from this one. */
export async function joinReply(
  first: Outcome,
  shape: AnswerShape,
  options: JoinOptions,
): Promise<JoinedReply> {
  const observer = observeAnswer(first.answer)
  return shape === 'stream' ? joinStream(first, observer, options) : joinPlain(first, observer, options)
}
