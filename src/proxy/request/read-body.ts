import { FoldgateError, ClientGoneError } from '../../errors.ts'
import { decodeBody } from './decode-body.ts'
import type { Exchange } from '../wire/exchange.ts'
import { openShare, type ByteBudget, type ByteShare } from '../wire/limits.ts'
import { declaredBytes, hasBody, inviteBody } from '../wire/upload.ts'

export type ReadBodyOptions = {
  /** The largest body, as sent and decoded, in bytes (`limits.body_mb`). */
  readonly bodyBytesMax: number
  /** Shared by all requests (`limits.bytes_in_flight_mb`). */
  readonly budget: ByteBudget
  /** How long the client may send nothing before the whole body is there, in milliseconds. */
  readonly silenceMs: number
}

export type RequestBody = {
  /** The bytes as the client sent them. */
  readonly raw: Buffer
  /**
   * The bytes without their content coding; `raw` itself where there is none. Null where they cannot be
   * decoded or grow beyond a limit: then only `raw` can be relayed, unread.
   */
  readonly decoded: Buffer | null
  /** Gives the bytes back to the budget; to be called when the body is no longer needed. */
  readonly release: () => void
}

/**
 * Reads a request's body into memory. Throws `body_too_large`, `overloaded`, `body_timeout` or, when the
 * client leaves, a `ClientGoneError`.
 */
export async function readBody(
  exchange: Pick<Exchange, 'incoming' | 'outgoing'>,
  options: ReadBodyOptions,
): Promise<RequestBody> {
  const { incoming, outgoing } = exchange
  const share = openShare(options.budget)
  try {
    const declared = declaredBytes(incoming)
    if (declared !== null && declared > options.bodyBytesMax) throw tooLarge(options.bodyBytesMax)
    if (declared !== null && !share.take(declared)) throw overloaded()
    if (hasBody(incoming)) inviteBody(incoming, outgoing)
    const raw = await collect(exchange, options, declared === null ? share : null)
    const decoded = await decodedBody(raw, incoming.headers['content-encoding'], options.bodyBytesMax, share)
    return { raw, decoded, release: share.release }
  } catch (error) {
    share.release()
    throw error
  }
}

// --- internal ---

/** `share` pays for each piece; null where the stated length was paid for as a whole. */
function collect(
  { incoming }: Pick<Exchange, 'incoming'>,
  options: ReadBodyOptions,
  share: ByteShare | null,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const timer = setTimeout(() => settle(() => reject(timedOut(options.silenceMs))), options.silenceMs)

    function settle(outcome: () => void): void {
      clearTimeout(timer)
      incoming.off('data', take)
      incoming.off('end', finish)
      incoming.off('close', breakOff)
      outcome()
    }
    function take(piece: Buffer): void {
      timer.refresh()
      bytes += piece.length
      if (bytes > options.bodyBytesMax) settle(() => reject(tooLarge(options.bodyBytesMax)))
      else if (share !== null && !share.take(piece.length)) settle(() => reject(overloaded()))
      else pieces.push(piece)
    }
    function finish(): void {
      const [only] = pieces
      settle(() => resolve(only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)))
    }
    function breakOff(): void {
      settle(() => reject(new ClientGoneError()))
    }
    if (incoming.destroyed && !incoming.complete) {
      breakOff()
      return
    }
    incoming.on('data', take)
    incoming.once('end', finish)
    incoming.once('close', breakOff)
  })
}

async function decodedBody(
  raw: Buffer,
  contentEncoding: string | undefined,
  bodyBytesMax: number,
  share: ByteShare,
): Promise<Buffer | null> {
  if (contentEncoding === undefined || contentEncoding.trim().toLowerCase() === 'identity') return raw
  let bytes = 0
  return decodeBody(raw, contentEncoding, (pieceBytes) => {
    bytes += pieceBytes
    return bytes <= bodyBytesMax && share.take(pieceBytes)
  })
}

function tooLarge(bodyBytesMax: number): FoldgateError {
  return new FoldgateError(
    'body_too_large',
    `The request's body is larger than ${megabytes(bodyBytesMax)} MB (limits.body_mb).`,
  )
}

function overloaded(): FoldgateError {
  return new FoldgateError(
    'overloaded',
    'Foldgate holds as many request bodies as it may (limits.bytes_in_flight_mb). Try again shortly.',
  )
}

function timedOut(silenceMs: number): FoldgateError {
  return new FoldgateError(
    'body_timeout',
    `The request's body stopped arriving for ${silenceMs / 1000} s before it was complete.`,
  )
}

function megabytes(bytes: number): number {
  return Math.round((bytes / 1024 / 1024) * 100) / 100
}
