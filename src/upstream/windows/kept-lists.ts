import { LRUCache } from 'lru-cache'
import type { Upstreams } from '../upstreams.ts'
import type { Asker } from './ask-json.ts'
import { CATALOGUE_FRESH_MS, LOADED_FRESH_MS } from './known-window.ts'
import type { ModelList } from './model-list.ts'
import type { Probe } from './plan.ts'
import { readingOfList, readProbe, type Reading } from './reading.ts'

/** Lists of models that were read once and answer for every model in them. */
export type KeptLists = {
  /** What a kept list says of a model; null where it has to be asked for. */
  readonly read: (
    server: string,
    probe: Probe,
    model: string,
    nowMs: number,
    isForced: boolean,
  ) => Reading | null
  /** Until when the list of a probe need not be asked for again; null where none is kept. */
  readonly freshUntilMs: (server: string, probeName: string, nowMs: number) => number | null
  /** What a kept list says, else asks the probe. One request brings a list for all who wait for it. Never rejects. */
  readonly ask: (question: ListQuestion) => Promise<Reading>
}

type ListQuestion = {
  readonly server: string
  readonly asker: Asker
  readonly probe: Probe
  readonly model: string
  /** Whether a kept list is only good if it is quite new. */
  readonly isForced: boolean
  readonly signal: AbortSignal
  readonly nowMs: () => number
}

export function createKeptLists(upstreams: Pick<Upstreams, 'ask'>): KeptLists {
  const lists = new LRUCache<string, Kept>({
    maxSize: NAMES_MAX,
    sizeCalculation: ({ list }) => 1 + list.namesCount,
  })
  const underway = new Map<string, Promise<Reading>>()

  function read(
    server: string,
    probe: Probe,
    model: string,
    nowMs: number,
    isForced: boolean,
  ): Reading | null {
    const kept = lists.get(keyOf(server, probe.name))
    if (kept === undefined || kept.untilMs <= nowMs) return null
    if (isForced && nowMs - kept.readAtMs >= (kept.isLoaded ? 0 : REFRESH_AGE_MS)) return null
    return readingOfList(kept.list, probe, model)
  }

  async function bring(question: ListQuestion, key: string): Promise<Reading> {
    const { asker, probe, model, signal } = question
    const reading = await readProbe(upstreams, asker, probe, model, signal)
    const { list } = reading
    if (list !== null && !list.isVolatile) {
      const isLoaded = list.isLoaded && !probe.isCatalogue
      const readAtMs = question.nowMs()
      const untilMs = readAtMs + (isLoaded ? LOADED_FRESH_MS : CATALOGUE_FRESH_MS)
      lists.set(key, { list, isLoaded, readAtMs, untilMs })
    }
    return reading
  }

  return {
    read,
    freshUntilMs: (server, probeName, nowMs) => {
      const kept = lists.get(keyOf(server, probeName))
      return kept === undefined || kept.untilMs <= nowMs ? null : kept.untilMs
    },
    ask: async function ask(question) {
      const { server, asker, probe, model, isForced, signal } = question
      const kept = read(server, probe, model, question.nowMs(), isForced)
      if (kept !== null) return kept
      if (!probe.isKept) return readProbe(upstreams, asker, probe, model, signal)
      const key = keyOf(server, probe.name)
      let bringing = underway.get(key)
      if (bringing === undefined) {
        bringing = bring(question, key).finally(() => underway.delete(key))
        underway.set(key, bringing)
      }
      const reading = await bringing
      return reading.list === null ? reading : readingOfList(reading.list, probe, model)
    },
  }
}

// --- internal ---

type Kept = {
  readonly list: ModelList
  readonly isLoaded: boolean
  readonly readAtMs: number
  readonly untilMs: number
}

/** Names of models in all lists together, some hundred bytes each. */
const NAMES_MAX = 200_000

/** A catalogue does not change because a server refused: newer than this, it is not asked for again. */
const REFRESH_AGE_MS = 600_000

function keyOf(server: string, probeName: string): string {
  return JSON.stringify([server, probeName])
}
