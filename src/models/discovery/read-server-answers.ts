import { isJsonObject, objectsOf } from '../../json/json-value.ts'
import type { WindowKind } from '../../tokens/budget.ts'
import {
  firstFigure,
  isFigure,
  leastFigure,
  stated,
  withInputLimit,
  type Basis,
  type Stated,
} from './figure.ts'

/**
 * Where in an answer a window stands: dotted paths with blanks between them, of which the first that states one counts. Both for
 * a window whose prompt has a limit of its own.
 */
export type Place = {
  /** For prompt and output together. */
  readonly total?: string
  /** For the prompt alone. */
  readonly input?: string
  /** Whether the least of the totals counts. */
  readonly isLeast?: boolean
}

/** What stands at a place of an answer. */
export function windowAt(value: unknown, basis: Basis, { total, input, isLeast = false }: Place): Stated {
  const statedAt = (paths: string, kind: WindowKind): readonly Stated[] =>
    paths.split(' ').map((path) => stated(fieldAt(value, path), kind, basis))
  const totals = total === undefined ? [] : statedAt(total, 'total')
  const inputs = input === undefined ? [] : statedAt(input, 'input')
  if (totals.length === 0) return firstFigure(...inputs)
  const all = isLeast ? leastFigure(...totals) : firstFigure(...totals)
  return inputs.length === 0 ? all : withInputLimit(all, firstFigure(...inputs))
}

/** The answer of Ollama's `/api/ps`: the loaded models. `not-ollama` where it is none. */
export function readOllamaRunning(answer: unknown, model: string): Stated | 'not-ollama' {
  const models = fieldAt(answer, 'models')
  if (!Array.isArray(models)) return 'not-ollama'
  const running = objectsOf(models).find(({ name, model: id }) =>
    [name, id].some((known) => typeof known === 'string' && tagged(known) === tagged(model)),
  )
  return windowAt(running, 'loaded', { total: 'context_length' })
}

/**
 * The answer of Ollama's `POST /api/show`: what a model will be loaded with. Its own `num_ctx`, or else what Ollama takes on
 * a machine with little memory, is capped by the model's ceiling. A model that runs in the cloud has the ceiling itself.
 */
export function readOllamaShow(answer: unknown, runsInCloud: boolean): Stated {
  const isRemote =
    runsInCloud || ['remote_host', 'remote_model'].some((path) => Boolean(fieldAt(answer, path)))
  const info = fieldAt(answer, 'model_info')
  const architecture = isJsonObject(info) ? info['general.architecture'] : undefined
  const ceiling = stated(
    isJsonObject(info) && typeof architecture === 'string'
      ? info[`${architecture}.context_length`]
      : undefined,
    'total',
    isRemote ? 'catalogue' : 'to-be-loaded',
  )
  if (isRemote) return ceiling
  const parameters = fieldAt(answer, 'parameters')
  const own = typeof parameters === 'string' ? /^num_ctx\s+"?(\d+)/m.exec(parameters)?.[1] : undefined
  const set = stated(own, 'total', 'to-be-loaded')
  if (set !== null) return isFigure(set) ? leastFigure(set, ceiling) : set
  if (parameters === undefined && info === undefined) return null
  const tokens = Math.min(OLLAMA_DEFAULT_TOKENS, isFigure(ceiling) ? ceiling.tokens : Infinity)
  return { tokens, kind: 'total', inputTokens: null, basis: 'assumed' }
}

/** What stands at a path such as `status.value`; undefined where there is no such thing. */
export function fieldAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), value)
}

// --- internal ---

/** Below 24 GiB of video memory, in November 2026; `/api/ps` tells the truth once the model is loaded. */
const OLLAMA_DEFAULT_TOKENS = 4096

/** `qwen3` is `qwen3:latest`, and case does not matter. */
function tagged(name: string): string {
  const lower = name.toLowerCase()
  return lower.slice(lower.lastIndexOf('/') + 1).includes(':') ? lower : `${lower}:latest`
}
