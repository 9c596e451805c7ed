import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { gather } from '../scheduling/gather.ts'

/**
 * Undoes the content codings of a body, piece by piece and on threads of Node's own. Resolves with null for a coding that is
 * not known, for bytes that are not what they claim, and as soon as `take` refuses a piece, of which it is told the
 * length: the caller's bound against decompression bombs. Rejects with an error that `take` throws.
 */
export async function decodeBody(
  body: Buffer,
  contentEncoding: string,
  take: (bytes: number) => boolean,
  isCrowded = (): boolean => false,
): Promise<Buffer | null> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > codingsMax) return null
  let decoded = body
  // Codings are listed in the order in which they were applied (RFC 9110 section 8.4).
  for (const coding of codings.toReversed()) {
    const decoder = decoderFor(coding, decoded)
    const next = decoder === null ? null : await runDecoder(decoder, decoded, take, isCrowded)
    if (next === null) return null
    decoded = next
  }
  return decoded
}

// --- internal ---

/** Nobody applies more; each further one multiplies the work that a small body can ask for. */
const codingsMax = 2

/** Size of the pieces in which decoders hand out their output, in bytes. */
const chunkSize = 64 * 1024

function decoderFor(coding: string, body: Buffer): Transform | null {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ chunkSize })
    case 'deflate':
      // The coding is the zlib format; some clients send raw deflate. A zlib header is a multiple of 31.
      return body.length >= 2 && (body.readUInt8(0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0
        ? createInflate({ chunkSize })
        : createInflateRaw({ chunkSize })
    case 'br':
      return createBrotliDecompress({ chunkSize })
    case 'zstd':
      return createZstdDecompress({ chunkSize })
    default:
      return null
  }
}

function runDecoder(
  decoder: Transform,
  body: Buffer,
  take: (bytes: number) => boolean,
  isCrowded: () => boolean,
): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const gathering = gather(null, isCrowded)
    decoder.on('data', (piece: Buffer) => {
      try {
        if (take(piece.length)) {
          gathering.add(piece)
          return
        }
        resolve(null)
      } catch (error) {
        reject(error)
      }
      decoder.destroy()
    })
    decoder.once('end', () => resolve(gathering.whole()))
    decoder.on('error', () => resolve(null))
    decoder.end(body)
  })
}
