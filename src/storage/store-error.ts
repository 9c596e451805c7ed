/**
 * A store that cannot be opened or used. The message names the store, says what was wrong and what to do; it
 * carries no credentials.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** What went wrong in a few words that quote nothing: the answers of stores may repeat keys and values. */
export function troubleOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  // SQLite's own words for its code, which do not quote the statement.
  if ('errstr' in error && typeof error.errstr === 'string') return error.errstr
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError) return troubleOf(error.errors[0])
  return answerCode.exec(error.message)?.[0] ?? error.constructor.name
}

/** What to do about a store that fails, by its name. */
export function storeAdvice(name: string): string {
  const remedy = name.startsWith('sqlite:')
    ? 'see that its disk has room, and that nothing else holds or changes the file'
    : 'see that the server runs, can be reached and takes writes'
  return `requests go on without it, and what there is to tell of them waits in memory; ${remedy}`
}

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

// --- internal ---

/** The first words of a Redis-compatible server's refusals. */
const answerCode =
  /^(?:BUSY|CLUSTERDOWN|CROSSSLOT|DENIED|ERR|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOREPLICAS|OOM|READONLY|WRONGPASS|WRONGTYPE)(?= |$)/
