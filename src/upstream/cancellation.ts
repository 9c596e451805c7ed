/**
 * Tells when a request is not wanted any more: as much of an `AbortSignal` as is looked at here. An `AbortSignal` is
 * one; a client's own (`src/http/client-request.ts`) costs a tenth of it.
 */
export type Cancellation = {
  readonly aborted: boolean
  /** Why; undefined as long as it is wanted. */
  readonly reason: unknown
  readonly throwIfAborted: () => void
  /** Calls back once, at the moment of the abort; never where that has passed. */
  readonly addEventListener: (type: 'abort', listener: () => void) => void
  readonly removeEventListener: (type: 'abort', listener: () => void) => void
}
