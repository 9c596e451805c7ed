import { createTailObserver, type TailReport } from '../overflow/tail-observer.ts'
import { headerValue } from '../upstream/credential.ts'
import type { Answer } from '../upstream/upstreams.ts'

/** Reads along while an answer is passed on. */
export type AnswerObserver = {
  readonly tap: (piece: Buffer) => void
  /** What the answer turned out to be; null where it could not be read. */
  readonly end: () => TailReport | null
}

/** An observer for an answer with output; what cannot be read is not read. */
export function observeAnswer(answer: Answer): AnswerObserver {
  const contentType = headerValue(answer.rawHeaders, 'content-type') ?? ''
  const encoding = headerValue(answer.rawHeaders, 'content-encoding') ?? 'identity'
  const isStream = /text\/event-stream/i.test(contentType)
  if (answer.status !== 200 || encoding !== 'identity' || !(isStream || /json/i.test(contentType))) {
    return { tap: () => {}, end: () => null }
  }
  const observer = createTailObserver(isStream ? 'stream' : 'json')
  const decoder = new TextDecoder()
  return {
    tap: (piece) => observer.feed(decoder.decode(piece, { stream: true })),
    end: () => observer.end(),
  }
}
