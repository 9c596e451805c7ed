import { createHash, hash } from 'node:crypto'
import type { Digest, Source, Steps } from '../../json/source.ts'

/** A body as the pure folders see it. Whoever reads its text has seen to it that it is valid UTF-8. */
export function bodySource(body: Buffer): Source {
  const whole = body.length <= SCANNED_BYTES_MAX ? body.toString('latin1') : null
  return {
    length: body.length,
    bytes: body,
    latin1: (start, end) => whole?.slice(start, end) ?? body.toString('latin1', start, end),
    // A slice would keep the whole text for as long as somebody keeps a word of it.
    text: (start, end) => body.toString('utf8', start, end),
    hash: (start, end) => hash('sha256', body.subarray(start, end), 'base64url'),
    hashSteps: (start, end) => hashSteps(body.subarray(start, end)),
    joined: (pieces) =>
      bodySource(
        Buffer.concat(
          pieces.map((piece) =>
            typeof piece === 'string' ? Buffer.from(piece, 'utf8') : body.subarray(piece.start, piece.end),
          ),
        ),
      ),
  }
}

/** SHA-256 of a text's UTF-8 bytes, as 43 characters of base64url. */
export const digest: Digest = (text) => hash('sha256', text, 'base64url')

// --- internal ---

/** Up to this size a body is made a text once, of which all that is scanned is a slice: most of it are a few bytes. */
const SCANNED_BYTES_MAX = 65_536

/** Hashed between two pauses: about a millisecond. */
const HASHED_BYTES = 1_048_576

function* hashSteps(bytes: Buffer): Steps<string> {
  const hashing = createHash('sha256')
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    hashing.update(bytes.subarray(at, at + HASHED_BYTES))
    yield
  }
  return hashing.digest('base64url')
}
