import { LRUCache } from 'lru-cache'
import { nameOfModel, type ModelKey } from './model-key.ts'
import type { KnownModel, Models } from './models.ts'
import { resolveWindow, type ResolvedWindow, type WindowSources } from './resolve-window.ts'

/** What the operator sees of models and may have forgotten. */
export type KnownModels = {
  /** A request found its window so, under this profile. */
  readonly noteSources: (key: ModelKey, profile: string, sources: WindowSources) => void
  /** Those of which something is believed, the one used last first. */
  readonly list: () => readonly KnownModelInUse[]
  /** Forgets all that is believed of a model; its key, or null where nothing is. */
  readonly forget: (id: string) => ModelKey | null
}

export type KnownModelInUse = KnownModel & {
  /** What its next request gets under the profile of the latest; null where none was seen of late. */
  readonly window: WindowInForce | null
}

export type WindowInForce = ResolvedWindow & { readonly profile: string }

export function createKnownModels(options: {
  readonly models: Pick<Models, 'list' | 'forgetAll'>
  /** What keeps something of models beside their records. */
  readonly besideRecords: readonly { readonly forget: (key: ModelKey) => void }[]
}): KnownModels {
  const { models, besideRecords } = options
  const noted = new LRUCache<string, { readonly profile: string; readonly sources: WindowSources }>({
    max: MODELS_MAX,
  })

  function windowOf({ key, beliefs }: KnownModel): WindowInForce | null {
    const latest = noted.get(nameOfModel(key))
    if (latest === undefined) return null
    const window = resolveWindow({
      ...latest.sources,
      // Its own answer may have taught more since, and beliefs end.
      learnt: beliefs.window ?? null,
      answeredTokens: beliefs.answered?.value ?? 0,
      // What one conversation suggests holds for that one alone.
      suggestedTokens: null,
    })
    return { ...window, profile: latest.profile }
  }

  return {
    noteSources: (key, profile, sources) => void noted.set(nameOfModel(key), { profile, sources }),
    list: () => models.list().map((model) => ({ ...model, window: windowOf(model) })),
    forget: (id) => {
      const key = models.forgetAll(id)
      if (key === null) return null
      for (const each of besideRecords) each.forget(key)
      noted.delete(nameOfModel(key))
      return key
    },
  }
}

// --- internal ---

const MODELS_MAX = 4_096
