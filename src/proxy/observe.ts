import { createTailObserver, type TailReport } from '../overflow/tail-observer.ts'
import { shapeOf } from '../upstream/answer-shape.ts'
import type { Answer } from '../upstream/upstreams.ts'

/** Reads along while an answer is passed on. */
export type AnswerObserver = {
  readonly tap: (piece: Buffer) => void
  /** What the answer turned out to be; null where it could not be read. */
  readonly end: () => TailReport | null
}

/** An observer for an answer with output; what cannot be read is not read. */
export function observeAnswer(answer: Answer): AnswerObserver {
  const shape = shapeOf(answer)
  if (shape === null) return { tap: () => {}, end: () => null }
  const observer = createTailObserver(shape)
  const decoder = new TextDecoder()
  return {
    tap: (piece) => observer.feed(decoder.decode(piece, { stream: true })),
    end: () => observer.end(),
  }
}
