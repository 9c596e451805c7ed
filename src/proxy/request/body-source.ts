import { hash } from 'node:crypto'
import type { Digest, Source } from '../../conversation/source.ts'

/** A body as the pure folders see it. Whoever reads its text has seen to it that it is valid UTF-8. */
export function bodySource(body: Buffer): Source {
  return {
    length: body.length,
    latin1: (start, end) => body.toString('latin1', start, end),
    text: (start, end) => body.toString('utf8', start, end),
    hash: (start, end) => hash('sha256', body.subarray(start, end), 'base64url'),
  }
}

/** SHA-256 of a text's UTF-8 bytes, as 43 characters of base64url. */
export const digest: Digest = (text) => hash('sha256', text, 'base64url')
