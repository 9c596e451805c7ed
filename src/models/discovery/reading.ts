import { LRUCache } from 'lru-cache'
import { lruCache } from '../../caches.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import { askJson, type JsonAnswer, type WindowQuestion, type WindowTrouble } from './ask-json.ts'
import {
  fieldAt,
  FRESH_MS,
  isFigure,
  readOllamaRunning,
  readOllamaShow,
  type Stated,
  windowAt,
  type WindowFigure,
} from './figure.ts'
import { type ModelList, readModelList } from './model-list.ts'
import type { Probe } from './probes.ts'

/** What a probe found out about one model. */
export type Reading = {
  readonly figure: WindowFigure | null
  /** Whether the server knows the model and has not loaded it. */
  readonly isUnloaded: boolean
  /**
   * `useful`: the server is of this kind, ask again; `useless`: it is not, or says nothing about windows;
   * `denied`: it does not say so to this credential; `failed`: this is not known.
   */
  readonly use: 'useful' | 'useless' | 'denied' | 'failed'
  readonly trouble: WindowTrouble | null
  /** The list that was read, where it was one. */
  readonly list: ModelList | null
}

/** What is read from nothing. */
export function emptyReading(use: Reading['use'], trouble: WindowTrouble | null = null): Reading {
  return { figure: null, isUnloaded: false, use, trouble, list: null }
}

/** Asks a probe about a model. Never rejects. */
export async function readProbe(
  upstreams: Pick<Upstreams, 'ask'>,
  question: WindowQuestion,
  probe: Probe,
  model: string,
  signal: AbortSignal,
): Promise<Reading> {
  const ask = async (path: string, body: unknown = null): Promise<JsonAnswer> =>
    askJson(upstreams, question, { path, body, probe, signal })
  const [path, elsewhere] = probe.paths(model)
  if (probe.reader === 'ollama-cloud') return readOllamaModel(await ask(path, { model }), probe)
  let answer = await ask(path)
  if (answer.outcome === 'useless' && elsewhere !== undefined) answer = await ask(elsewhere)
  if (answer.outcome !== 'json') return emptyReading(answer.outcome, answer.trouble)
  if (probe.reader === 'ollama') {
    const window = readOllamaRunning(answer.value, model)
    if (window === 'not-ollama') return emptyReading('useless')
    if (window !== null) return readingOf(window)
    return readOllamaModel(await ask(path.replace(/ps$/, 'show'), { model }), probe)
  }
  if (probe.reader !== 'models') {
    // A router of llama.cpp's without the model's own process answers for itself.
    const isRouter = fieldAt(answer.value, 'role') === 'router'
    return readingOf(isRouter ? 'unloaded' : windowAt(answer.value, 'loaded', probe.reader))
  }
  const list = readModelList(answer.value)
  return list === null ? emptyReading('useless') : readingOfList(list, probe, model)
}

/** What a list that was read before says of a model. */
function readingOfList(list: ModelList, probe: Probe, model: string): Reading {
  const reading = readingOf(list.windowOf(model))
  const { figure } = reading
  return {
    ...reading,
    figure: figure !== null && probe.isCatalogue ? { ...figure, basis: 'catalogue' } : figure,
    use: list.isTelling ? 'useful' : 'useless',
    list,
  }
}

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

/** It is Ollama in any case: that it does not know this model says nothing of others. */
function readOllamaModel(shown: JsonAnswer, probe: Probe): Reading {
  if (shown.outcome === 'json')
    return { ...readingOf(readOllamaShow(shown.value, probe.reader === 'ollama-cloud')), use: 'useful' }
  return emptyReading(shown.outcome === 'useless' ? 'useful' : shown.outcome, shown.trouble)
}

function readingOf(window: Stated): Reading {
  const figure = isFigure(window) ? window : null
  return {
    ...emptyReading(window === null ? 'useless' : 'useful', window === 'implausible' ? window : null),
    figure,
    isUnloaded: window === 'unloaded' || figure?.basis === 'to-be-loaded' || figure?.basis === 'assumed',
  }
}

const MODELS_MAX = 4_096

/** Names of models in all lists together, some hundred bytes each. */
const NAMES_MAX = 200_000

/** A model may be loaded any time. */
const UNKNOWN_FRESH_MS = 60_000
