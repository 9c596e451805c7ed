/**
 * A store that cannot be opened or used. The message names the store, says what was wrong and what to do; it
 * carries no credentials.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}
