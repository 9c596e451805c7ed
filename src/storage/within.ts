/**
 * Rejects with the error that `late` makes if `work` takes longer; a later result is dropped. The error is made only then,
 * since making one costs more than everything else here.
 */
export function within<Result>(
  timeMs: number,
  work: Promise<Result>,
  late: () => Error = () => new NoAnswerError('no answer within the time'),
): Promise<Result> {
  return new Promise((resolve, reject) => {
    // Timers run before received data is read. If the event loop was blocked meanwhile, an answer that has arrived is taken.
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => reject(late()))), timeMs)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: Error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** A store did not answer in time. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  /** Stands in messages, as the code of a system error does. */
  readonly code = 'no answer'
}
