import { errors } from 'undici'

/**
 * Whether a request met a kept connection that its server was about to close: it had carried answers before, and ended
 * before a byte of this one. Such a request was not answered by anybody, and may be sent once more (RFC 9110, 9.2.2, leaves
 * that to who knows what a request does: asking a model again changes nothing). llama.cpp's servers close connections that
 * they have promised to keep.
 */
export function isStaleConnection(error: unknown): boolean {
  return error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0
}
