import { lruCache } from '../lru-cache.ts'
import type { HeldKeyMark } from '../upstream/held-key-marks.ts'
import type { ModelKey } from './model-key.ts'
import type { Models } from './models.ts'

export type AcceptedCredentials = ReturnType<typeof createAcceptedCredentials>

/**
 * Which credentials an upstream has accepted of late, whichever model was asked for. Kept with each model that one was used
 * for, so that one look-up in the store finds all that a request needs; and by the mark of the held key that was accepted with
 * it: the next one has to be accepted itself.
 */
export function createAcceptedCredentials(models: Pick<Models, 'get' | 'set'>, heldKeyMark: HeldKeyMark) {
  /** The model that each credential was seen with last. */
  const lastKeys = lruCache<ModelKey>(CREDENTIALS_MAX)
  return {
    has: (key: ModelKey): boolean => {
      const last = lastKeys.get(`${key.upstream} ${key.credential}`)
      const mark = heldKeyMark(key.upstream)
      return [key, last].some((each) => each !== undefined && models.get(each, 'accepted') === mark)
    },
    /** A request with this credential was answered. */
    note: (key: ModelKey): void => {
      const credential = `${key.upstream} ${key.credential}`
      // What is looked up counts as used: most requests name the model of the one before.
      if (lastKeys.get(credential)?.name !== key.name) lastKeys.set(credential, key)
      models.set(key, 'accepted', heldKeyMark(key.upstream), 'answer')
    },
  }
}

// --- internal ---

const CREDENTIALS_MAX = 4_096
