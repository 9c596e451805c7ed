import { LRUCache } from 'lru-cache'
import { lruCache } from '../../lru-cache.ts'
import { FRESH_MS } from './figure.ts'
import type { ModelList } from './model-list.ts'
import type { Probe } from './probes.ts'
import { readingOfList, type Reading } from './reading.ts'

/** Whose answer it is, and about which model. */
export type ReadingOf = {
  /** The site and the credential with which it is asked. */
  readonly asker: string
  readonly model: string
}

/** What a probe said, when, and for how long it need not be asked again. */
export type KnownReading = { readonly reading: Reading; readonly atMs: number; readonly freshMs: number }

/** What probes have said of one model, to one asker. Lists answer for every model in them. */
export type KnownReadings = {
  /** The latest that a probe has said; null where it has said nothing within a day. */
  readonly get: (probe: Probe) => KnownReading | null
  /** The same of all of these, in their order. */
  readonly all: (probes: readonly Probe[]) => readonly (KnownReading | null)[]
  readonly take: (probe: Probe, reading: Reading) => void
}

export function createReadingCache(nowMs: () => number): (of: ReadingOf) => KnownReadings {
  const models = lruCache<Map<string, KnownReading>>(MODELS_MAX)
  const lists = new LRUCache<string, Map<string, KnownList>>({
    maxSize: NAMES_MAX,
    sizeCalculation: (own) => sumOf(own),
  })

  return function readingsOf({ asker, model }) {
    const key = `${asker} ${model}`

    function all(probes: readonly Probe[]): readonly (KnownReading | null)[] {
      const ownLists = lists.get(asker)
      const own = models.get(key)
      return probes.map((probe) => {
        const list = ownLists?.get(probe.name)
        const found =
          list === undefined
            ? own?.get(probe.name)
            : { ...list, reading: readingOfList(list.list, probe, model) }
        return found === undefined || nowMs() - found.atMs >= READING_LIFE_MS ? null : found
      })
    }
    const get = (probe: Probe): KnownReading | null => all([probe])[0] ?? null

    return {
      get,
      all,
      take: (probe, reading) => {
        // What it said before still is the best guess.
        if (reading.use === 'failed' || reading.use === 'denied') return
        const { list, figure } = reading
        const atMs = nowMs()
        const own = lists.get(asker) ?? new Map<string, KnownList>()
        if (list !== null && probe.isKept && !list.isVolatile) {
          const isLoaded = list.isLoaded && !probe.isCatalogue
          own.set(probe.name, { list, atMs, freshMs: FRESH_MS[isLoaded ? 'loaded' : 'catalogue'] })
          lists.set(asker, new Map(own))
          return
        }
        const before = get(probe)?.reading.figure ?? null
        if (own.delete(probe.name)) lists.set(asker, new Map(own))
        // Ollama and LM Studio unload a model after a few idle minutes and then know less of it than before.
        const isWeaker =
          before !== null &&
          (figure === null ? reading.isUnloaded : figure.basis === 'assumed' && before.basis !== 'assumed')
        const kept = isWeaker ? { ...reading, figure: before, isUnloaded: true } : reading
        const freshMs = isWeaker || figure === null ? UNKNOWN_FRESH_MS : FRESH_MS[figure.basis]
        const readings = models.get(key) ?? new Map<string, KnownReading>()
        models.set(key, readings.set(probe.name, { reading: kept, atMs, freshMs }))
      },
    }
  }
}

/** How long a figure holds that nothing confirms any more, in milliseconds. */
export const READING_LIFE_MS = 24 * 3_600_000

// --- internal ---

type KnownList = Omit<KnownReading, 'reading'> & { readonly list: ModelList }

const MODELS_MAX = 4_096

/** Names of models in all lists together, some hundred bytes each. */
const NAMES_MAX = 200_000

/** A model may be loaded any time. */
const UNKNOWN_FRESH_MS = 60_000

function sumOf(lists: ReadonlyMap<string, KnownList>): number {
  let names = 1
  for (const { list } of lists.values()) names += 1 + list.namesCount
  return names
}
