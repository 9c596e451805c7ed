import { LRUCache } from 'lru-cache'
import type { Upstreams } from '../../upstream/upstreams.ts'
import type { Asker } from './ask-json.ts'
import type { ModelList } from './model-list.ts'
import type { Probe } from './plan.ts'
import { readingOfList, readProbe, type Reading } from './reading.ts'
import { CATALOGUE_REFRESH_AGE_MS, FRESH_MS } from './trust.ts'

/** Lists of models that were read once and answer for every model in them. */
export type KeptLists = {
  /** What a kept list says of a model; null where it has to be asked for. */
  readonly read: (
    account: string,
    probe: Probe,
    model: string,
    nowMs: number,
    isForced: boolean,
  ) => Reading | null
  /** Until when the list of a probe need not be asked for again; null where none is kept. */
  readonly freshUntilMs: (account: string, probeName: string, nowMs: number) => number | null
  /** What a kept list says, else asks the probe. One request brings a list for all who wait for it. Never rejects. */
  readonly ask: (wanted: WantedReading) => Promise<Reading>
}

type WantedReading = {
  readonly account: string
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
    account: string,
    probe: Probe,
    model: string,
    nowMs: number,
    isForced: boolean,
  ): Reading | null {
    const kept = lists.get(keyOf(account, probe.name))
    if (kept === undefined || kept.untilMs <= nowMs) return null
    if (isForced && nowMs - kept.readAtMs >= (kept.isLoaded ? 0 : CATALOGUE_REFRESH_AGE_MS)) return null
    return readingOfList(kept.list, probe, model)
  }

  async function bring(wanted: WantedReading, key: string): Promise<Reading> {
    const { asker, probe, model, signal } = wanted
    const reading = await readProbe(upstreams, asker, probe, model, signal)
    const { list } = reading
    if (list !== null && !list.isVolatile) {
      const isLoaded = list.isLoaded && !probe.isCatalogue
      const readAtMs = wanted.nowMs()
      const untilMs = readAtMs + FRESH_MS[isLoaded ? 'loaded' : 'catalogue']
      lists.set(key, { list, isLoaded, readAtMs, untilMs })
    }
    return reading
  }

  return {
    read,
    freshUntilMs: (account, probeName, nowMs) => {
      const kept = lists.get(keyOf(account, probeName))
      return kept === undefined || kept.untilMs <= nowMs ? null : kept.untilMs
    },
    ask: async function ask(wanted) {
      const { account, asker, probe, model, isForced, signal } = wanted
      const kept = read(account, probe, model, wanted.nowMs(), isForced)
      if (kept !== null) return kept
      if (!probe.isKept) return readProbe(upstreams, asker, probe, model, signal)
      const key = keyOf(account, probe.name)
      let bringing = underway.get(key)
      if (bringing === undefined) {
        bringing = bring(wanted, key).finally(() => underway.delete(key))
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

function keyOf(account: string, probeName: string): string {
  return JSON.stringify([account, probeName])
}
