import type { IncomingMessage, ServerResponse } from 'node:http'
import { ClientGoneError } from '../errors.ts'
import type { Cancellation } from '../upstream/cancellation.ts'

/** Whether a client is still there; with `leave` it counts as gone. */
export type Presence = Cancellation & { readonly leave: () => void }

/**
 * Watches a connection: what is returned aborts with a `ClientGoneError` when the client leaves before its answer is
 * complete. Puts error listeners where Node would otherwise end the process.
 */
export function watchClient(incoming: IncomingMessage, outgoing: ServerResponse): Presence {
  const presence = new ClientPresence()
  incoming.on('error', ignore)
  outgoing.on('error', ignore)
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) presence.leave()
  })
  return presence
}

// --- internal ---

class ClientPresence implements Presence {
  aborted = false
  reason: unknown = undefined
  #listeners: (() => void)[] = []

  leave(): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = new ClientGoneError()
    const listeners = this.#listeners
    this.#listeners = []
    for (const tell of listeners) tell()
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener)
    if (at !== -1) this.#listeners.splice(at, 1)
  }
}

function ignore(): void {
  // The `close` of the answer tells that the client left; an error without a listener would end the process.
}
