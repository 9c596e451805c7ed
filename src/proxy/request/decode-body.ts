import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'

/**
 * Undoes the content codings of a body. Returns null for a coding that is not known, for bytes that are not
 * what they claim, and as soon as `take` refuses a piece: the caller's bound against decompression bombs.
 */
export async function decodeBody(
  body: Buffer,
  contentEncoding: string,
  take: (bytes: number) => boolean,
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
    const next = decoder === null ? null : await runDecoder(decoder, decoded, take)
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
): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    decoder.on('data', (piece: Buffer) => {
      if (take(piece.length)) {
        pieces.push(piece)
        return
      }
      decoder.destroy()
      resolve(null)
    })
    decoder.once('end', () => resolve(Buffer.concat(pieces)))
    decoder.on('error', () => resolve(null))
    decoder.end(body)
  })
}
