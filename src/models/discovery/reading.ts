import type { Upstreams } from '../../upstream/upstreams.ts'
import { askJson, type JsonAnswer, type NoJson, type WindowTrouble } from './ask-json.ts'
import { isFigure, type Stated, type WindowFigure } from './figure.ts'
import { readModelList, type ModelList } from './model-list.ts'
import type { Probe } from './probes.ts'
import { fieldAt, readOllamaRunning, readOllamaShow, windowAt } from './read-server-answers.ts'
import type { WindowQuestion } from './window-question.ts'

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
  if (answer.outcome === 'absent' && elsewhere !== undefined) answer = await ask(elsewhere)
  if (answer.outcome !== 'json') return readingWithout(answer)
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
export function readingOfList(list: ModelList, probe: Probe, model: string): Reading {
  const reading = readingOf(list.windowOf(model))
  const { figure } = reading
  return {
    ...reading,
    figure: figure !== null && probe.isCatalogue ? { ...figure, basis: 'catalogue' } : figure,
    use: list.isTelling ? 'useful' : 'useless',
    list,
  }
}

// --- internal ---

/** It is Ollama in any case: that it does not know this model says nothing of others. */
function readOllamaModel(shown: JsonAnswer, probe: Probe): Reading {
  if (shown.outcome === 'json')
    return { ...readingOf(readOllamaShow(shown.value, probe.reader === 'ollama-cloud')), use: 'useful' }
  return shown.outcome === 'absent' ? emptyReading('useful') : readingWithout(shown)
}

function readingOf(window: Stated): Reading {
  const figure = isFigure(window) ? window : null
  return {
    ...emptyReading(window === null ? 'useless' : 'useful', window === 'implausible' ? window : null),
    figure,
    isUnloaded: window === 'unloaded' || figure?.basis === 'to-be-loaded' || figure?.basis === 'assumed',
  }
}

function readingWithout({ outcome, trouble }: NoJson): Reading {
  return emptyReading(outcome === 'absent' ? 'useless' : outcome, trouble)
}
