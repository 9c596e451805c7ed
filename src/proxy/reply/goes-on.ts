import { parseJsonText } from '../../conversation/json-value.ts'
import { readReply } from '../../replies/reply.ts'
import { headerValue } from '../../upstream/credential.ts'
import { isAnswered, type Outcome } from '../send/send.ts'

/** How an answer is read: as a stream, or as a whole. */
export type AnswerShape = 'stream' | 'plain'

/** The shape of an answer; null where nobody can go on from it. */
export function shapeOf({ answer }: Outcome): AnswerShape | null {
  const contentType = headerValue(answer.rawHeaders, 'content-type') ?? ''
  const encoding = headerValue(answer.rawHeaders, 'content-encoding') ?? 'identity'
  if (answer.status !== 200 || encoding.trim().toLowerCase() !== 'identity') return null
  if (/^\s*text\/event-stream/i.test(contentType)) return 'stream'
  return /json/i.test(contentType) ? 'plain' : null
}

/** Whether an answer goes on from one of this shape: of the same, and, where it was read whole, with a reply in it. */
export function goesOn(outcome: Outcome, shape: AnswerShape): boolean {
  if (!isAnswered(outcome) || shapeOf(outcome) !== shape) return false
  return shape === 'stream' || readReply(bodyOf(outcome)) !== null
}

/** The parsed body of an answer that was read; undefined where it is not whole. */
export function bodyOf({ answer, held }: Outcome): unknown {
  return answer.body.readableEnded ? parseJsonText(Buffer.concat(held).toString('utf8')) : undefined
}
