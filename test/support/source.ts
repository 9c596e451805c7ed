import { hash } from 'node:crypto'
import type { Digest, Source } from '../../src/conversation/source.ts'

/** A source over a body, as the rim builds it. */
export function sourceOf(body: string | Buffer): Source {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body
  return {
    length: bytes.length,
    latin1: (start, end) => bytes.toString('latin1', start, end),
    text: (start, end) => bytes.toString('utf8', start, end),
    hash: (start, end) => hash('sha256', bytes.subarray(start, end), 'base64url'),
  }
}

export const digest: Digest = (text) => hash('sha256', text, 'base64url')
