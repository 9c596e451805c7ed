import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ClientOverride } from '../config/settings.ts'
import type { Cancellation } from '../upstream/cancellation.ts'
import type { ClientPart } from '../upstream/upstreams.ts'
import { ClientGoneError, type FoldgateError } from '../errors.ts'
import type { Route } from './routes.ts'
import type { Scope } from './scope.ts'
import type { Holder } from '../scheduling/fair-share.ts'

/** The rights of a client key; a client without one may do everything. */
export type ClientRights = {
  readonly profiles: readonly string[]
  readonly overrides: readonly ClientOverride[]
}

/** One request and its answer on the wire, after the gates: what a handler is given. */
export type ClientRequest = ClientPart & {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Where its method and path lead. */
  readonly route: Route
  /** The upstream that `/u/NAME/` chose; null for the default. */
  readonly upstreamName: string | null
  /** The client key that was presented; null where Foldgate has none. */
  readonly clientKeyName: string | null
  readonly rights: ClientRights | null
  /** Whose state it may use. */
  readonly scope: Scope
  /** The request, as something that places, bytes and turns are shared out to. */
  readonly holder: Holder
  /** Aborted with a `ClientGoneError` as soon as the client leaves before its answer is complete. */
  readonly signal: ClientPresence
  /** Ends it with an error at once, whatever it waits for: what works for it goes on as if its client had left. */
  readonly end: (error: FoldgateError) => void
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
