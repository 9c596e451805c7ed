/** The time that a question may take; its signal aborts with a `TimeBoxError` when that is up. */
export type TimeBox = {
  readonly signal: AbortSignal
  /** Ends it early, for another reason. */
  readonly abort: () => void
  /** To be called once nothing of the question runs any more. */
  readonly close: () => void
}

/** Time is up. That a server took too long is told; that Foldgate ended is not. */
export class TimeBoxError extends Error {
  override readonly name = 'TimeBoxError'
}

export function openTimeBox(timeBoxMs: number): TimeBox {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new TimeBoxError('The question took too long.')), timeBoxMs)
  return {
    signal: controller.signal,
    abort: () => controller.abort(new Error('The question was given up.')),
    close: () => clearTimeout(timer),
  }
}
