import { headerValue } from './credential.ts'
import type { Answer } from './upstreams.ts'

/** How an answer is read: as a stream of events, or as a whole. */
export type AnswerShape = 'stream' | 'json'

/** The shape of an answer to a chat completion; null where it is a refusal, has a content coding, or is something else. */
export function shapeOf({ status, rawHeaders }: Pick<Answer, 'status' | 'rawHeaders'>): AnswerShape | null {
  const contentType = headerValue(rawHeaders, 'content-type') ?? ''
  const encoding = headerValue(rawHeaders, 'content-encoding') ?? 'identity'
  if (status !== 200 || encoding.trim().toLowerCase() !== 'identity') return null
  if (/^\s*text\/event-stream/i.test(contentType)) return 'stream'
  return /json/i.test(contentType) ? 'json' : null
}
