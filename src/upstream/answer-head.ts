import { headerValue } from './credential.ts'
import type { Answer } from './upstreams.ts'

/** How an answer is read: as a stream of events, or as a whole. */
export type AnswerShape = 'stream' | 'json'

/** The shape of an answer to a chat completion; null where it is a refusal, has a content coding, or is something else. */
export function shapeOf({ status, rawHeaders }: Pick<Answer, 'status' | 'rawHeaders'>): AnswerShape | null {
  const contentType = headerValue(rawHeaders, 'content-type') ?? ''
  const encoding = headerValue(rawHeaders, 'content-encoding') ?? 'identity'
  if (status !== 200 || encoding.trim().toLowerCase() !== 'identity') return null
  if (isStreamType(contentType)) return 'stream'
  return /json/i.test(contentType) ? 'json' : null
}

/** Whether a `content-type` is that of a stream, of events or of lines. */
export function isStreamType(contentType: string): boolean {
  return /^\s*(?:text\/event-stream|application\/x-ndjson)/i.test(contentType)
}

/** The `retry-after` header in milliseconds, in seconds or as a date (RFC 9110, 10.2.3); null where it says neither. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const text = header.trim()
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Math.round(Number(text) * 1000)
  // `Date.parse` finds a date in "-1", too: one that is meant names its month.
  const waitMs = /[a-z]{3}/i.test(text) ? Date.parse(text) - nowMs : Number.NaN
  return Number.isFinite(waitMs) ? Math.max(0, Math.round(waitMs)) : null
}
