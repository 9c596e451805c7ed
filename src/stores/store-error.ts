/**
 * A store that cannot be opened or used. The message names the store, says what was wrong and what to do; it
 * carries no credentials.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** What is wrong in a few words that quote nothing: what stores answer may repeat what they were asked. */
export function troubleOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  // SQLite's own words for its code, which say nothing of the statement.
  if ('errstr' in error && typeof error.errstr === 'string') return error.errstr
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError) return troubleOf(error.errors[0])
  return answerCode.exec(error.message)?.[0] ?? error.constructor.name
}

// --- internal ---

/** What a Redis-compatible server's refusal begins with. Other words may be anybody's. */
const answerCode =
  /^(?:BUSY|CLUSTERDOWN|CROSSSLOT|DENIED|ERR|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOREPLICAS|OOM|READONLY|WRONGPASS|WRONGTYPE)(?= |$)/
