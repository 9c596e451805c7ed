import type { AnswerBody } from '../../upstream/answer-body.ts'
import { createGrowingBytes } from './growing-bytes.ts'

export type HoldOptions = {
  /** Sees each piece as it comes; true means that enough is held. */
  readonly enough: (piece: Buffer) => boolean
  /** The longest wait, in milliseconds. */
  readonly holdMs: number
  /** The most that is held, in bytes. */
  readonly bytesMax: number
}

export type HeldBeginning = {
  readonly pieces: readonly Buffer[]
  /** Why holding ended: `ended` and `broken` mean that the body has no more to give. */
  readonly reason: 'enough' | 'time' | 'bytes' | 'ended' | 'broken'
  readonly error: unknown
}

/**
 * Takes the beginning of an answer's body and leaves the rest in it: `deliver` sends both. Never
 * rejects.
 */
export function holdBack(body: AnswerBody, options: HoldOptions): Promise<HeldBeginning> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const small = createGrowingBytes()
    let bytes = 0
    let timer: NodeJS.Timeout | undefined
    let isSettled = false

    function settle(reason: HeldBeginning['reason'], error: unknown = null): void {
      isSettled = true
      clearTimeout(timer)
      body.unread()
      if (small.length() > 0) pieces.push(small.take())
      resolve({ pieces, reason, error })
    }
    body.read({
      piece: (piece) => {
        bytes += piece.length
        if (piece.length < SMALL_BYTES) small.add(piece)
        else pieces.push(...(small.length() > 0 ? [small.take()] : []), piece)
        if (options.enough(piece)) settle('enough')
        else if (bytes >= options.bytesMax) settle('bytes')
      },
      end: () => settle('ended'),
      broken: (error) => settle('broken', error),
    })
    // Mostly enough of it is there by now.
    if (!isSettled) timer = setTimeout(settle, options.holdMs, 'time')
  })
}

// --- internal ---

/** A smaller piece is copied to others: by itself it takes more than its bytes. */
const SMALL_BYTES = 1_024
