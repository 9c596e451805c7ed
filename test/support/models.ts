import { type Counts, createCounts } from '../../src/models/counts/counts.ts'
import { createModels, type Models } from '../../src/models/models.ts'
import type { WindowSources } from '../../src/models/resolve-window.ts'
import { digest } from '../../src/pipeline/read/read-chat.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { type Profile, profileSchema } from '../../src/profiles/schema.ts'

/** Nothing is known of a window. */
export const unknownWindow: WindowSources = {
  configuredTokens: null,
  maxTokens: null,
  learnt: null,
  suggestedTokens: null,
  answeredTokens: 0,
  server: null,
  names: ['a-model-nobody-knows'],
  host: null,
  reserve: { tokens: 0, of: 'profile' },
}

/** What is believed of models, with a store of the test's own unless one is given. */
export const modelsOn = (
  store: Pick<Store, 'getFirst' | 'put'> = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 }),
  nowMs: () => number = Date.now,
): Models => createModels({ store, guarded: async (_, work) => work(), digest, nowMs })

/** Counts of models of which nothing is known. */
export const freshCounts = (promptsMax = 100): Counts => createCounts({ models: modelsOn(), promptsMax })

/** A profile by which nothing can be measured: whoever looks for the encoding fails with this message. */
export function unmeasurable(profile: object, message: string): ReadonlyMap<string, Profile> {
  const parsed = profileSchema.parse(profile)
  const window = {
    ...parsed.window,
    get encoding(): never {
      throw new Error(message)
    },
  }
  return new Map([['default', { ...parsed, window, name: 'default' }]])
}
