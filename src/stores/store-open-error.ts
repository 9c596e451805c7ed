/**
 * A store that cannot be opened. The message names the store, says what was wrong and what to do; it carries no
 * credentials.
 */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError'
}
