/**
 * Rejects with what `late` makes where `work` takes longer; whatever comes of it then is of no interest. An error is made
 * only then: one costs as much as everything else here. Where the event loop was held up meanwhile, an answer that has
 * come is taken first: timers run before what was received is read.
 */
export function within<Result>(
  timeMs: number,
  work: Promise<Result>,
  late: () => Error = () => new NoAnswerError('no answer within the time'),
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => reject(late()))), timeMs)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** A store did not answer in time. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  /** For messages, which say no more than this. */
  readonly code = 'no answer'
}
