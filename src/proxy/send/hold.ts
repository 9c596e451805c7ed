import type { Readable } from 'node:stream'

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
 * Takes the beginning of an answer's body and leaves the rest in it, paused: `deliver` sends both. Never
 * rejects.
 */
export function holdBack(body: Readable, options: HoldOptions): Promise<Held> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const timer = setTimeout(() => settle('time'), options.holdMs)

    function settle(reason: Held['reason'], error: unknown = null): void {
      clearTimeout(timer)
      body.pause()
      body.off('data', take)
      body.off('end', end)
      body.off('error', breakOff)
      body.off('close', close)
      resolve({ pieces, reason, error })
    }
    function take(piece: Buffer): void {
      pieces.push(piece)
      bytes += piece.length
      if (options.enough(piece)) settle('enough')
      else if (bytes >= options.bytesMax) settle('bytes')
    }
    function end(): void {
      settle('ended')
    }
    function breakOff(error: unknown): void {
      settle('broken', error)
    }
    function close(): void {
      settle('broken', body.errored)
    }
    if (body.readableEnded) {
      end()
      return
    }
    if (body.destroyed) {
      close()
      return
    }
    body.once('end', end)
    body.once('error', breakOff)
    body.once('close', close)
    body.on('data', take)
    body.resume()
  })
}
