import type { Answers, Usage } from '../../dialects/answer-contract.ts'
import { createTailObserver } from '../../overflow/tail-observer.ts'

/** Keeps the beginning and the end of a streamed answer that flows by. */
export type StreamEnds = {
  readonly tap: (piece: Buffer) => void
  /** What they state of the usage, once the answer is over; null if nothing. */
  readonly usage: () => Usage | null
}

/** Most of a stream are pieces of the reply, which nobody has to read: its usage stands at its ends. */
export function keepStreamEnds(answers: Answers): StreamEnds {
  const { endingBytes } = answers.limits
  let first: Buffer | null = null
  const last: Buffer[] = []
  let lastBytes = 0
  return {
    tap: (piece) => {
      if (first === null) {
        first = piece
        return
      }
      last.push(piece)
      lastBytes += piece.length
      while (lastBytes - (last[0]?.length ?? 0) >= endingBytes) lastBytes -= last.shift()?.length ?? 0
    },
    usage: () => {
      if (first === null) return null
      const observer = createTailObserver('stream', answers)
      observer.feed(first.toString('utf8', 0, last.length === 0 ? first.length : BEGINNING_BYTES))
      if (last.length > 0) {
        // What is left of an event whose beginning is gone is no field of one.
        observer.feed('\n\n')
        observer.feed(Buffer.concat(last).toString('utf8'))
      }
      return observer.end().usage
    },
  }
}

// --- internal ---

/** The events that a stream begins with are short. */
const BEGINNING_BYTES = 16_384
