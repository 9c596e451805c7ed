import type { IncomingMessage, ServerResponse } from 'node:http'
import { ClientGoneError } from '../errors.ts'
import type { Cancellation } from '../upstream/cancellation.ts'

/**
 * Watches a connection: aborts with a `ClientGoneError` when the client leaves before its answer is complete. Puts error
 * listeners where Node would otherwise end the process.
 */
export class ClientPresence implements Cancellation {
  aborted: boolean
  reason: unknown
  #listeners: (() => void)[]

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.aborted = false
    this.reason = undefined
    this.#listeners = []
    incoming.on('error', ignore)
    outgoing.on('error', ignore)
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) this.leave()
    })
  }

  /** From now on the client counts as gone. */
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

// --- internal ---

function ignore(): void {
  // The `close` of the answer tells that the client left; an error without a listener would end the process.
}
