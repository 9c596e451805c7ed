import type { AnswerBody } from '../../upstream/answer-body.ts'

export type HoldOptions = {
  /** Sees each piece as it comes; true means that enough is held. */
  readonly enough: (piece: Buffer) => boolean
  /** The longest wait, in milliseconds. */
  readonly holdMs: number
  /** The most that is held, in bytes. */
  readonly bytesMax: number
}

export type Held = {
  readonly pieces: readonly Buffer[]
  /** Why holding ended: `ended` and `broken` mean that the body has no more to give. */
  readonly reason: 'enough' | 'time' | 'bytes' | 'ended' | 'broken'
  readonly error: unknown
}

/**
 * Takes the beginning of an answer's body and leaves the rest in it: `deliver` sends both. Never
 * rejects.
 */
export function holdBack(body: AnswerBody, options: HoldOptions): Promise<Held> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const timer = setTimeout(() => settle('time'), options.holdMs)

    function settle(reason: Held['reason'], error: unknown = null): void {
      clearTimeout(timer)
      body.unread()
      resolve({ pieces, reason, error })
    }
    body.read({
      piece: (piece) => {
        pieces.push(piece)
        bytes += piece.length
        if (options.enough(piece)) settle('enough')
        else if (bytes >= options.bytesMax) settle('bytes')
      },
      end: () => settle('ended'),
      broken: (error) => settle('broken', error),
    })
  })
}
