/** The time that a run of probes may take; its signal aborts with a `TimeBoxError` when that is up. */
export type TimeBox = {
  readonly signal: AbortSignal
  /** Ends it early, for another reason. */
  readonly abort: () => void
  /** To be called once no probe runs any more. */
  readonly close: () => void
}

/** Time is up. That a server took too long is told; that Foldgate ended is not. */
export class TimeBoxError extends Error {
  override readonly name = 'TimeBoxError'
}

export function openTimeBox(timeBoxMs: number): TimeBox {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new TimeBoxError('The server took too long.')), timeBoxMs)
  return {
    signal: controller.signal,
    abort: () => controller.abort(new Error('The server is not asked any more.')),
    close: () => clearTimeout(timer),
  }
}

/** Resolves with true as soon as the work is done, or with false once the time is up. */
export async function isDoneWithin(work: Promise<unknown>, waitMs: number): Promise<boolean> {
  const { promise: timeUp, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), waitMs)
  const isDone = await Promise.race([work.then(() => true), timeUp])
  clearTimeout(timer)
  return isDone
}
