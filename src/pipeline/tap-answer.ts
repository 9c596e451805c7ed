import type { AnswerFacts, Answers } from '../formats/answer-contract.ts'
import { createTailObserver, reportOf, type TailReport } from '../overflow/tail-observer.ts'
import type { AnswerShape } from '../upstream/answer-head.ts'

/** Reads along while an answer is passed on. */
export type AnswerObserver = {
  readonly tap: (piece: Buffer) => void
  /** What the answer turned out to be; null where it could not be read. */
  readonly end: () => TailReport | null
}

/**
 * An observer for an answer that is passed on. `shape`: null where it is not read. `facts`: what it says, if it was read as a
 * whole before.
 */
export function observeAnswer(
  shape: AnswerShape | null,
  answers: Answers,
  facts: AnswerFacts | null = null,
): AnswerObserver {
  if (facts !== null) return { tap: () => {}, end: () => reportOf(facts) }
  if (shape === null) return { tap: () => {}, end: () => null }
  const { feed, end } = createTailObserver(shape, answers)
  const decoder = new TextDecoder()
  return { tap: (piece) => feed(decoder.decode(piece, { stream: true })), end }
}
