import { isAscii } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Digest, Source } from '../../conversation/source.ts'

/** A body as the pure folders see it. Whoever reads its text has seen to it that it is valid UTF-8. */
export function bodySource(body: Buffer): Source {
  return {
    length: body.length,
    ...(body.length <= DECODED_BYTES_MAX ? decodedOnce(body) : decodedByPiece(body)),
    hash: (start, end) => hash('sha256', body.subarray(start, end), 'base64url'),
  }
}

/** SHA-256 of a text's UTF-8 bytes, as 43 characters of base64url. */
export const digest: Digest = (text) => hash('sha256', text, 'base64url')

// --- internal ---

/** Up to this size a body is decoded as a whole: each of its pieces would cost a call, and most are a few bytes. */
const DECODED_BYTES_MAX = 65_536

function decodedOnce(body: Buffer): Pick<Source, 'latin1' | 'text'> {
  const whole = body.toString('latin1')
  const latin1: Source['latin1'] = (start, end) => whole.slice(start, end)
  return { latin1, text: isAscii(body) ? latin1 : decodedByPiece(body).text }
}

function decodedByPiece(body: Buffer): Pick<Source, 'latin1' | 'text'> {
  return {
    latin1: (start, end) => body.toString('latin1', start, end),
    text: (start, end) => body.toString('utf8', start, end),
  }
}
