import { isJsonObject, type JsonObject } from '../../json/json-value.ts'
import {
  firstFigure,
  isFigure,
  leastFigure,
  stated,
  withInputLimit,
  type Basis,
  type Stated,
} from './figure.ts'

/** How the endpoints of servers that have one of their own are read. */
export const serverReaders = {
  /** llama-server's `/props`. The figure is one slot's already: it is not divided by the number of slots. */
  props: (answer: unknown): Stated =>
    // A router without the model's own process answers for itself.
    fieldAt(answer, 'role') === 'router'
      ? 'unloaded'
      : totalAt(
          answer,
          'loaded',
          'default_generation_settings.n_ctx',
          'default_generation_settings.params.n_ctx',
        ),
  /**
   * SGLang's `/get_server_info`: the window it was started with, which may be null, and what its memory holds. The largest
   * prompt is a few tokens short of the smaller of these, and the output still has to fit beside it: so all are totals.
   */
  sglang: (answer: unknown): Stated =>
    leastFigure(
      ...['context_length', 'max_total_num_tokens', 'max_req_input_len'].map((path) =>
        totalAt(answer, 'loaded', path),
      ),
    ),
  /** Text Generation Inference's `/info`; `max_input_length` is the older name. */
  tgi: (answer: unknown): Stated =>
    withInputLimit(
      totalAt(answer, 'loaded', 'max_total_tokens'),
      inputAt(answer, 'loaded', 'max_input_tokens', 'max_input_length'),
    ),
  /** KoboldCpp's `/api/extra/true_max_context_length`. */
  kobold: (answer: unknown): Stated => totalAt(answer, 'loaded', 'value'),
} as const

/** The answer of Ollama's `/api/ps`: the loaded models. `not-ollama` where it is none. */
export function readOllamaRunning(answer: unknown, model: string): Stated | 'not-ollama' {
  const models = fieldAt(answer, 'models')
  if (!Array.isArray(models)) return 'not-ollama'
  const running = objectsIn(models).find(({ name, model: id }) =>
    [name, id].some((known) => typeof known === 'string' && tagged(known) === tagged(model)),
  )
  return totalAt(running, 'loaded', 'context_length')
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

/** The first of these fields that states a window for prompt and output together. Paths are dotted. */
export function totalAt(value: unknown, basis: Basis, ...paths: readonly string[]): Stated {
  return firstFigure(...paths.map((path) => stated(fieldAt(value, path), 'total', basis)))
}

/** The first of these fields that states a limit for the prompt alone. */
export function inputAt(value: unknown, basis: Basis, ...paths: readonly string[]): Stated {
  return firstFigure(...paths.map((path) => stated(fieldAt(value, path), 'input', basis)))
}

/** What stands at a path such as `status.value`; undefined where there is no such thing. */
export function fieldAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), value)
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

// --- internal ---

/** Below 24 GiB of video memory, in November 2026; `/api/ps` tells the truth once the model is loaded. */
const OLLAMA_DEFAULT_TOKENS = 4096

/** `qwen3` is `qwen3:latest`, and case does not matter. */
function tagged(name: string): string {
  const lower = name.toLowerCase()
  return lower.slice(lower.lastIndexOf('/') + 1).includes(':') ? lower : `${lower}:latest`
}
