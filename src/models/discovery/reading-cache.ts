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

/** What probes have said of models. Lists answer for every model in them. */
export type KnownReadings = {
  /** The latest that a probe has said of a model; null where it has said nothing within a day. */
  readonly get: (of: ReadingOf, probe: Probe) => KnownReading | null
  readonly take: (of: ReadingOf, probe: Probe, reading: Reading) => void
}

export function createKnownReadings(nowMs: () => number): KnownReadings {
  const readings = lruCache<KnownReading>(READINGS_MAX)
  const lists = new LRUCache<string, Omit<KnownReading, 'reading'> & { readonly list: ModelList }>({
    maxSize: NAMES_MAX,
    sizeCalculation: ({ list }) => 1 + list.namesCount,
  })

  function get(of: ReadingOf, probe: Probe): KnownReading | null {
    const list = lists.get(listKey(of, probe))
    const found =
      list === undefined
        ? readings.get(readingKey(of, probe))
        : { ...list, reading: readingOfList(list.list, probe, of.model) }
    return found === undefined || nowMs() - found.atMs >= READING_LIFE_MS ? null : found
  }

  return {
    get,
    take: (of, probe, reading) => {
      // What it said before still is the best guess.
      if (reading.use === 'failed' || reading.use === 'denied') return
      const { list, figure } = reading
      const atMs = nowMs()
      if (list !== null && probe.isKept && !list.isVolatile) {
        const isLoaded = list.isLoaded && !probe.isCatalogue
        lists.set(listKey(of, probe), { list, atMs, freshMs: FRESH_MS[isLoaded ? 'loaded' : 'catalogue'] })
        return
      }
      const before = get(of, probe)?.reading.figure ?? null
      lists.delete(listKey(of, probe))
      // Ollama and LM Studio unload a model after a few idle minutes and then know less of it than before.
      const isWeaker =
        before !== null &&
        (figure === null ? reading.isUnloaded : figure.basis === 'assumed' && before.basis !== 'assumed')
      const kept = isWeaker ? { ...reading, figure: before, isUnloaded: true } : reading
      const freshMs = isWeaker || figure === null ? UNKNOWN_FRESH_MS : FRESH_MS[figure.basis]
      readings.set(readingKey(of, probe), { reading: kept, atMs, freshMs })
    },
  }
}

/** How long a figure holds that nothing confirms any more, in milliseconds. */
export const READING_LIFE_MS = 24 * 3_600_000

// --- internal ---

/** Some answers for each of 4,096 models. */
const READINGS_MAX = 16_384

/** Names of models in all lists together, some hundred bytes each. */
const NAMES_MAX = 200_000

/** A model may be loaded any time. */
const UNKNOWN_FRESH_MS = 60_000

function listKey({ asker }: ReadingOf, probe: Probe): string {
  return `${asker} ${probe.name}`
}

function readingKey({ asker, model }: ReadingOf, probe: Probe): string {
  return `${asker} ${probe.name} ${model}`
}
