import type { AnswerFacts, Answers } from '../dialects/answer-contract.ts'
import {
  createTailObserver,
  reportOf,
  type TailObserver,
  type TailReport,
} from '../overflow/tail-observer.ts'
import { shapeOf } from '../upstream/answer-shape.ts'
import type { Answer } from '../upstream/upstreams.ts'

/** Reads along while an answer is passed on. */
export type AnswerObserver = {
  readonly tap: (piece: Buffer) => void
  /** What the answer turned out to be; null where it could not be read. */
  readonly end: () => TailReport | null
}

/** An observer for an answer with output; what cannot be read is not read. `facts`: what it says, if it was read as a whole before. */
export function observeAnswer(
  answer: Answer,
  answers: Answers,
  facts: AnswerFacts | null = null,
): AnswerObserver {
  if (facts !== null) return { tap: () => {}, end: () => reportOf(facts) }
  const shape = shapeOf(answer)
  if (shape === null) return unobserved
  const observer = createTailObserver(shape, answers)
  let first: Buffer | null = null
  let feed: AnswerObserver['tap'] | null = null
  return {
    tap: (piece) => {
      if (first === null) {
        first = piece
        return
      }
      if (feed === null) {
        feed = feeding(observer)
        feed(first)
        first = nothing
      }
      feed(piece)
    },
    end: () => {
      if (feed === null && first !== null) observer.feed(wholeDecoder.decode(first))
      return observer.end()
    },
  }
}

/** Of an answer that nobody reads. */
export const unobserved: AnswerObserver = { tap: () => {}, end: () => null }

// --- internal ---

const nothing = Buffer.alloc(0)

/** For an answer of one piece, as most are: a decoder of its own costs more than what it does. */
const wholeDecoder = new TextDecoder()

function feeding(observer: TailObserver): AnswerObserver['tap'] {
  const decoder = new TextDecoder()
  return (piece) => observer.feed(decoder.decode(piece, { stream: true }))
}
