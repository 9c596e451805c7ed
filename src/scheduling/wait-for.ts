import type { Cancellation } from '../upstream/cancellation.ts'

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
