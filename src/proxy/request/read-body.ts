import { FoldgateError, ClientGoneError } from '../../errors.ts'
import { bytesPassed } from '../../heap/young-garbage.ts'
import { decodeBody } from './decode-body.ts'
import type { Exchange } from '../wire/exchange.ts'
import { openShare, type ByteBudget, type ByteShare } from '../wire/limits.ts'
import { mappedBuffer } from '../wire/mapped-buffer.ts'
import { bodyAtHand, declaredBytes, hasBody, inviteBody } from '../wire/upload.ts'

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
    // The parser comes to the body once the event that began the request is over.
    await Promise.resolve()
    if (hasBody(incoming)) inviteBody(incoming, outgoing)
    const raw = bodyAtHand(incoming) ?? (await collect(exchange, options, declared ?? share))
    const encoding = incoming.headers['content-encoding']
    const decoded = isEncoded(encoding) ? await decodedBody(raw, encoding, options.bodyBytesMax, share) : raw
    return { raw, decoded, release: share.release }
  } catch (error) {
    share.release()
    throw error
  }
}

// --- internal ---

/** `lengthOrShare`: the stated length, which was paid for as a whole, or the share that pays for each piece. */
function collect(
  { incoming }: Pick<Exchange, 'incoming'>,
  options: ReadBodyOptions,
  lengthOrShare: number | ByteShare,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const into = gatherFor(lengthOrShare, options.budget.isCrowded())
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
      bytesPassed(piece.length)
      if (bytes > options.bodyBytesMax) settle(() => reject(tooLarge(options.bodyBytesMax)))
      else if (!into.take(piece)) settle(() => reject(overloaded()))
    }
    function finish(): void {
      settle(() => resolve(into.whole()))
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

/** Where the pieces of a body go. `take` is false for one that there is no room for. */
type Gathering = { readonly take: (piece: Buffer) => boolean; readonly whole: () => Buffer }

function gatherFor(lengthOrShare: number | ByteShare, isCrowded: boolean): Gathering {
  if (typeof lengthOrShare !== 'number') return gatherPieces((bytes) => lengthOrShare.take(bytes))
  return lengthOrShare < LARGE_BYTES ? gatherPieces(() => true) : gatherKnown(lengthOrShare, isCrowded)
}

/** A smaller body mostly is one piece, which is taken as it is. */
const LARGE_BYTES = 64 * 1024

/** Each piece goes to its place as it comes: a list of them that is joined in the end would take the memory twice. */
function gatherKnown(length: number, isCrowded: boolean): Gathering {
  // What a large body does not fill is never touched.
  const body = isCrowded ? mappedBuffer(length) : Buffer.allocUnsafeSlow(length)
  let bytes = 0
  return {
    take: (piece) => {
      bytes += piece.copy(body, bytes)
      return true
    },
    whole: () => body.subarray(0, bytes),
  }
}

function gatherPieces(isRoom: (bytes: number) => boolean): Gathering {
  const pieces: Buffer[] = []
  return {
    take: (piece) => {
      pieces.push(piece)
      return isRoom(piece.length)
    },
    whole: () => {
      const [only] = pieces
      return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
    },
  }
}

function isEncoded(contentEncoding: string | undefined): contentEncoding is string {
  return contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity'
}

function decodedBody(
  raw: Buffer,
  contentEncoding: string,
  bodyBytesMax: number,
  share: ByteShare,
): Promise<Buffer | null> {
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
