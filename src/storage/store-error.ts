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

// --- internal ---

/** The first words of a Redis-compatible server's refusals. */
const answerCode =
  /^(?:BUSY|CLUSTERDOWN|CROSSSLOT|DENIED|ERR|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOREPLICAS|OOM|READONLY|WRONGPASS|WRONGTYPE)(?= |$)/
