import type { Outcome } from '../request.ts'
import { parseJsonText } from '../../conversation/json-value.ts'
import { readReply } from '../../dialects/chat-completions/reply/reply.ts'
import { shapeOf, type AnswerShape } from '../../upstream/answer-shape.ts'
import { isAnswered } from '../send/send.ts'

/** Whether an answer goes on from one of this shape: of the same, and, where it was read whole, with a reply in it. */
export function goesOn(outcome: Outcome, shape: AnswerShape): boolean {
  if (!isAnswered(outcome) || shapeOf(outcome.answer) !== shape) return false
  return shape === 'stream' || readReply(bodyOf(outcome)) !== null
}

/** The parsed body of an answer that was read; undefined where it is not whole. */
export function bodyOf({ answer, held }: Outcome): unknown {
  return answer.body.isEnded ? parseJsonText(Buffer.concat(held).toString('utf8')) : undefined
}
