import type { Digest } from '../json/source.ts'
import type { Warnings } from '../telemetry/log/warnings.ts'
import type { StoreGuard } from '../storage/store-guard.ts'
import type { Store } from '../storage/store.ts'
import type { HeldKeyMark } from '../upstream/credential.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import { createCounts } from './counts/counts.ts'
import { createServerWindows } from './discovery/server-windows.ts'
import { createLearning } from './learn.ts'
import { createModels, type Models } from './models.ts'
import { createWindows, type LearntWindow } from './windows.ts'
import { lruCache } from '../caches.ts'
import type { ModelKey } from './model-record.ts'

/** What is known of models at their upstreams, and how more of it is learnt. */
export type ModelKnowledge = ReturnType<typeof openModels>

/** `onLearnt` is called when a window was learnt that was not known. It must not throw. */
export function openModels(options: {
  readonly onLearnt: (lesson: LearntWindow) => void
  readonly upstreams: Upstreams
  readonly heldKeyMark: HeldKeyMark
  readonly store: Store
  readonly guarded: StoreGuard
  readonly warnings: Warnings
  readonly digest: Digest
  readonly nowMs: () => number
}) {
  const { warnings, onLearnt, heldKeyMark, upstreams } = options
  const models = createModels(options)
  const windows = createWindows({ models, onLearnt })
  const counts = createCounts({ models, promptsMax: PROMPTS_MAX })
  const serverWindows = createServerWindows({ upstreams, heldKeyMark, onTrouble: warnings.unasked })
  return {
    models,
    windows,
    counts,
    accepted: createAcceptedCredentials(models, heldKeyMark),
    serverWindows,
    learning: createLearning({ models, windows, counts, serverWindows, onCut: warnings.cut }),
  }
}

/**
 * Which credentials an upstream has accepted of late, whichever model was asked for. Kept with each model that one was used
 * for, so that one look-up in the store finds all that a request needs; and by the mark of the held key that was accepted with
 * it: the next one has to be accepted itself.
 *
 * @internal exported for tests
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

/** Prompts that providers have answered, remembered by digest: one for each request point of late. */
const PROMPTS_MAX = 20_000

const CREDENTIALS_MAX = 4_096
