import type { KeySource } from './key-source.ts'
import type { Secret } from './secret.ts'

/**
 * A key as it is now. One from a file changes while the process runs (`watch-keys.ts`): whoever needs it asks each
 * time, and keeps no copy.
 */
export type LiveKey = {
  readonly source: KeySource
  /** All that hold, at least one. A client may have several, so that a new one can take an old one's place. */
  readonly now: () => LiveSecrets
  readonly replace: (secrets: LiveSecrets) => void
}

export type LiveSecrets = readonly [Secret, ...Secret[]]

export function createLiveKey(source: KeySource, secrets: LiveSecrets): LiveKey {
  let current = secrets
  return {
    source,
    now: () => current,
    replace: (replacement) => {
      current = replacement
    },
  }
}
