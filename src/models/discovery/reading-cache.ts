import { LRUCache } from 'lru-cache'
import { lruCache } from '../../lru-cache.ts'
import { FRESH_MS } from './figure.ts'
import type { ModelList } from './model-list.ts'
import type { Probe } from './probes.ts'
import { readingOfList, type Reading } from './reading.ts'

/** What a probe said, when, and for how long it need not be asked again. */
type KnownReading = { readonly reading: Reading; readonly atMs: number; readonly freshMs: number }

/** What probes have said of one model, to one asker. */
export type KnownReadings = ReturnType<ReturnType<typeof createReadingCache>>

/**
 * What probes have said, by asker (a site, and the credential with which it is asked) and model. Lists answer for every model in
 * them.
 */
export function createReadingCache(nowMs: () => number) {
  const models = lruCache<Map<string, KnownReading>>(MODELS_MAX)
  /** By asker and probe. */
  const lists = new LRUCache<string, Omit<KnownReading, 'reading'> & { readonly list: ModelList }>({
    maxSize: NAMES_MAX,
    sizeCalculation: ({ list }) => 1 + list.namesCount,
  })

  return function readingsOf(asker: string, model: string) {
    const key = `${asker} ${model}`

    /** The latest that a probe has said; null where it has said nothing within a day. */
    function get(probe: Probe): KnownReading | null {
      const known = lists.get(`${asker} ${probe.name}`)
      const found =
        known === undefined
          ? models.get(key)?.get(probe.name)
          : { ...known, reading: readingOfList(known.list, probe, model) }
      return found === undefined || nowMs() - found.atMs >= READING_LIFE_MS ? null : found
    }

    function take(probe: Probe, reading: Reading): void {
      // What it said before still is the best guess.
      if (reading.use === 'failed' || reading.use === 'denied') return
      const { list, figure } = reading
      const atMs = nowMs()
      const listKey = `${asker} ${probe.name}`
      if (list !== null && probe.isKept && !list.isVolatile) {
        const isLoaded = list.isLoaded && !probe.isCatalogue
        lists.set(listKey, { list, atMs, freshMs: FRESH_MS[isLoaded ? 'loaded' : 'catalogue'] })
        return
      }
      const before = get(probe)?.reading.figure ?? null
      lists.delete(listKey)
      // Ollama and LM Studio unload a model after a few idle minutes and then know less of it than before.
      const isWeaker =
        before !== null &&
        (figure === null ? reading.isUnloaded : figure.basis === 'assumed' && before.basis !== 'assumed')
      const kept = isWeaker ? { ...reading, figure: before, isUnloaded: true } : reading
      const freshMs = isWeaker || figure === null ? UNKNOWN_FRESH_MS : FRESH_MS[figure.basis]
      const readings = models.get(key) ?? new Map<string, KnownReading>()
      models.set(key, readings.set(probe.name, { reading: kept, atMs, freshMs }))
    }

    return { get, take }
  }
}

/** How long a figure holds that nothing confirms any more, in milliseconds. */
export const READING_LIFE_MS = 24 * 3_600_000

// --- internal ---

const MODELS_MAX = 4_096

/** Names of models in all lists together, some hundred bytes each. */
const NAMES_MAX = 200_000

/** A model may be loaded any time. */
const UNKNOWN_FRESH_MS = 60_000
