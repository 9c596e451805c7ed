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
  const first: Buffer[] = []
  const last: Buffer[] = []
  let [firstBytes, lastBytes] = [0, 0]
  let isCut = false
  return {
    tap: (piece) => {
      if (firstBytes < BEGINNING_BYTES) {
        first.push(piece)
        firstBytes += piece.length
        return
      }
      last.push(piece)
      lastBytes += piece.length
      while (lastBytes - (last[0]?.length ?? 0) >= endingBytes) {
        lastBytes -= last.shift()?.length ?? 0
        isCut = true
      }
    },
    usage: () => {
      const observer = createTailObserver('stream', answers)
      if (!isCut) observer.feed(Buffer.concat([...first, ...last]).toString('utf8'))
      else {
        observer.feed(Buffer.concat(first).toString('utf8'))
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
