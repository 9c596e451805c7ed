import { hash } from 'node:crypto'
import type { Digest, Source } from '../../src/json/source.ts'
import { bodySource } from '../../src/pipeline/read/read-chat.ts'

/** A source over a body, as the rim builds it. */
export const sourceOf = (body: string | Buffer): Source =>
  bodySource(typeof body === 'string' ? Buffer.from(body, 'utf8') : body)

export const digest: Digest = (text) => hash('sha256', text, 'base64url')
