import type { ServerResponse } from 'node:http'

/**
 * Ends the connection of a client that does not read an answer of Foldgate's own (a refusal, a probe's, a preflight's),
 * which takes no place of the running requests. To be called when all of it is written. The answers before it have their
 * own time: the clock begins when it is next.
 */
export function cutOffUnread(outgoing: ServerResponse): void {
  if (outgoing.socket === null) {
    outgoing.once('socket', () => process.nextTick(cutOffUnread, outgoing))
    return
  }
  if (outgoing.socket.writableLength === 0) return
  const timer = setTimeout(() => outgoing.destroy(), unreadMs)
  outgoing.once('close', () => clearTimeout(timer))
}

// --- internal ---

/** How long a client may leave an answer unread that is on its way to it, in milliseconds. */
const unreadMs = 5_000
