import type { ServerResponse } from 'node:http'
import { ClientGoneError } from '../errors.ts'
import type { ClientRequest } from '../pipeline/client-request.ts'
import type { Cancellation } from '../upstream/cancellation.ts'

/** One request, with where its answer goes. */
export type Exchange = ClientRequest & {
  readonly outgoing: ServerResponse
  readonly signal: ClientPresence
  /** Headers by lower-case name that every answer of this exchange carries: those of CORS. */
  readonly answerHeaders: Readonly<Record<string, string>>
}

/** Follows a client through its exchange: aborts with a `ClientGoneError` when it leaves before its answer is complete. */
export class ClientPresence implements Cancellation {
  aborted = false
  reason: unknown = undefined
  #listeners: (() => void)[] = []
  #onOver: (() => void)[] = []

  constructor(outgoing: ServerResponse) {
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) this.leave()
      for (const over of this.#onOver) over()
    })
  }

  /** Calls back when the exchange is over, however it ended. */
  whenOver(over: () => void): void {
    this.#onOver.push(over)
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
