import { errors } from 'undici'

/**
 * Whether a request met a kept connection that its server was about to close: it had carried answers before, and ended at
 * once, before any of this one: a server that works on a request takes longer. Such a request was not answered by anybody, and may be sent once more (RFC 9110, 9.2.2, leaves
 * that to who knows what a request does: asking a model again changes nothing). llama.cpp's servers close connections that
 * they have promised to keep.
 */
export function isStaleConnection(error: unknown, afterMs: number): boolean {
  return afterMs <= CLOSING_MS && error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0
}

// --- internal ---

/** A close that was on its way arrives within this, in milliseconds. */
const CLOSING_MS = 100
