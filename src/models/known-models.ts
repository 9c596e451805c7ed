import { LRUCache } from 'lru-cache'
import { nameOfModel, type ModelKey } from '../upstream/model-key.ts'
import type { KnownModel, Models } from './models.ts'
import type { ResolvedWindow } from './resolve-window.ts'

/** What the operator sees of models and may have forgotten. */
export type KnownModels = {
  /** A request got this window under this profile. */
  readonly noteWindow: (key: ModelKey, profile: string, window: ResolvedWindow) => void
  /** Those of which something is believed, the one used last first. */
  readonly list: () => readonly KnownModelInUse[]
  /** Forgets all that is believed of a model; its key, or null where nothing is. */
  readonly forget: (id: string) => ModelKey | null
}

export type KnownModelInUse = KnownModel & {
  /** What its latest request got; null where none was seen of late. */
  readonly window: WindowInUse | null
}

export type WindowInUse = ResolvedWindow & { readonly profile: string }

export function createKnownModels(options: {
  readonly models: Pick<Models, 'list' | 'forgetAll'>
  /** What keeps something of models beside their records. */
  readonly besideRecords: readonly { readonly forget: (key: ModelKey) => void }[]
}): KnownModels {
  const { models, besideRecords } = options
  const windows = new LRUCache<string, WindowInUse>({ max: MODELS_MAX })
  return {
    noteWindow: (key, profile, window) => void windows.set(nameOfModel(key), { ...window, profile }),
    list: () =>
      models.list().map((model) => ({ ...model, window: windows.get(nameOfModel(model.key)) ?? null })),
    forget: (id) => {
      const key = models.forgetAll(id)
      if (key === null) return null
      for (const each of besideRecords) each.forget(key)
      windows.delete(nameOfModel(key))
      return key
    },
  }
}

// --- internal ---

const MODELS_MAX = 4_096
