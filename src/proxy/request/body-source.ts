import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Digest, Source } from '../../conversation/source.ts'

/** A body as the pure folders see it; null when it is not valid UTF-8, which nobody here rewrites. */
export function bodySource(body: Buffer): Source | null {
  if (!isUtf8(body)) return null
  const latin1 = body.toString('latin1')
  return {
    latin1,
    text: (start, end) => body.toString('utf8', start, end),
    hash: (start, end) => hash('sha256', body.subarray(start, end), 'base64url'),
  }
}

/** SHA-256 of a text's UTF-8 bytes, as 43 characters of base64url. */
export const digest: Digest = (text) => hash('sha256', text, 'base64url')
