import type { IncomingMessage } from 'node:http'
import { FoldgateError } from '../../errors.ts'

/** Nothing here is to be kept by a cache on the way, and nothing to be taken for what it is not. */
export const answerHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const

export function notHere(): FoldgateError {
  return new FoldgateError(
    'unknown_path',
    'The admin listener has nothing here: it has GET /, /metrics, /events, /conversations and /models, POST /explain, POST /conversations/ID/compact, DELETE /conversations/ID and DELETE /models/ID. Clients use the other port (--port).',
  )
}

/** Whether a client wants a page: a browser that is shown one, not a program. */
export function wantsPage({ headers }: IncomingMessage): boolean {
  return (headers.accept ?? '').includes('text/html')
}

export function refuseBody({ headers }: IncomingMessage): void {
  const isSmall = Number(headers['content-length'] ?? 0) <= unwantedBodyBytesMax
  if (isSmall && headers['transfer-encoding'] === undefined) return
  throw new FoldgateError('body_too_large', 'This request takes no body: send it without one.')
}

// --- internal ---

/** Largest body of a request that wants none, in bytes: some clients send an empty object. */
const unwantedBodyBytesMax = 1024
