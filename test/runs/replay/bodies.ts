import { hash } from 'node:crypto'

/** What was sent for a request, an entry an attempt. */
export type Sent = { readonly received: readonly { readonly body: Buffer }[] }

/** A request by its configuration, conversation and point, and the digest of each body that was sent for it. */
export function bodyLine(request: string, { received }: Sent): string {
  return [request, ...received.map(({ body }) => hash('sha256', body).slice(0, DIGEST_CHARS))].join(' ')
}

// --- internal ---

/** 80 bits: two bodies that differ never have the same by chance. */
const DIGEST_CHARS = 20
