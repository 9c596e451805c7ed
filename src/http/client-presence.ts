import { ClientGoneError } from '../errors.ts'
import type { Cancellation } from '../upstream/cancellation.ts'

/** Aborts with a `ClientGoneError` when the client leaves. */
export class ClientPresence implements Cancellation {
  aborted = false
  reason: unknown = undefined
  #listeners: (() => void)[] = []

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
