/**
 * Tells when a request is not wanted any more: as much of an `AbortSignal` as is looked at here. An `AbortSignal` is
 * one; a client's own (`src/server/exchange.ts`) costs a tenth of it.
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

/** Resolves as soon as the work is done, at the latest after `waitMs`. Rejects where the client leaves; the work goes on. */
export async function waitFor(work: Promise<unknown>, waitMs: number, client: Cancellation): Promise<void> {
  client.throwIfAborted()
  const { promise: over, resolve, reject } = Promise.withResolvers<void>()
  const leave = (): void => {
    const { reason }: { readonly reason: unknown } = client
    reject(reason instanceof Error ? reason : new Error('The client left.'))
  }
  const timer = setTimeout(resolve, waitMs)
  client.addEventListener('abort', leave)
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
    client.removeEventListener('abort', leave)
  }
}
