import type { JoinedReply, Outcome } from '../request.ts'
import type { CallRules } from '../../dialects/contract.ts'
import type { Failures } from '../../activity/failures.ts'
import { observeAnswer } from '../observe.ts'
import type { AnswerShape } from '../../upstream/answer-shape.ts'
import type { FurtherAnswers } from './further-answers.ts'
import { joinPlain } from './join-plain.ts'
import { joinStream } from './join-stream.ts'

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
  const observer = observeAnswer(first.answer, first.form.chat.dialect.answers)
  return shape === 'stream' ? joinStream(first, observer, options) : joinPlain(first, observer, options)
}
