import { hash } from 'node:crypto'

/**
 * What stands for a key in the file: its last characters, then a digest. A page of the index holds many times more of
 * these than of keys as they are. What is kept of a request under several keys, which end alike, stands side by side, so
 * that one page is touched to write all of it. At this length no two keys share a digest.
 */
export function sqliteKey(key: string): string {
  // A pair that is cut in two would be one text as it is bound, and another one in a list of keys.
  return key.slice(-ENDING_CHARS).toWellFormed() + hash('sha256', key, 'base64url').slice(0, DIGEST_CHARS)
}

// --- internal ---

/** Enough to bring the same endings together among millions of keys; more would only fill the pages. */
const ENDING_CHARS = 4

/** Of base64url: 132 bits. */
const DIGEST_CHARS = 22
