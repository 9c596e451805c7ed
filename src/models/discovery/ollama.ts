import { isFigure, leastFigure, stated, type Stated } from './figure.ts'
import { field, objectsIn } from './model-row.ts'

/** The answer of `/api/ps`: the loaded models. */
export function readOllamaRunning(
  answer: unknown,
  model: string,
): { readonly isOllama: boolean; readonly window: Stated } {
  const models = field(answer, 'models')
  const running = objectsIn(models).find(({ name, model: id }) =>
    [name, id].some((known) => typeof known === 'string' && tagged(known) === tagged(model)),
  )
  return { isOllama: Array.isArray(models), window: stated(running?.['context_length'], 'total', 'loaded') }
}

/**
 * The answer of `POST /api/show`: what a model will be loaded with. Its own `num_ctx`, or else what Ollama
 * takes on a machine with little memory, is capped by the model's ceiling. A model that runs in the cloud
 * has the ceiling itself.
 */
export function readOllamaShow(answer: unknown, runsInCloud: boolean): Stated {
  const isRemote = runsInCloud || isSet(field(answer, 'remote_host')) || isSet(field(answer, 'remote_model'))
  const architecture = field(answer, 'model_info', 'general.architecture')
  const ceiling =
    typeof architecture === 'string'
      ? stated(
          field(answer, 'model_info', `${architecture}.context_length`),
          'total',
          isRemote ? 'catalogue' : 'to-be-loaded',
        )
      : null
  if (isRemote) return ceiling
  const parameters = field(answer, 'parameters')
  const own = typeof parameters === 'string' ? /^num_ctx\s+"?(\d+)/m.exec(parameters)?.[1] : undefined
  const set = stated(own, 'total', 'to-be-loaded')
  if (set !== null) return isFigure(set) ? leastFigure(set, ceiling) : set
  if (parameters === undefined && field(answer, 'model_info') === undefined) return null
  const isSmall = isFigure(ceiling) && ceiling.tokens < DEFAULT_TOKENS
  return {
    tokens: isSmall ? ceiling.tokens : DEFAULT_TOKENS,
    kind: 'total',
    inputTokens: null,
    basis: 'to-be-loaded',
    isAssumed: true,
  }
}

// --- internal ---

/** Below 24 GiB of video memory, in November 2026; `/api/ps` tells the truth once the model is loaded. */
const DEFAULT_TOKENS = 4096

function isSet(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** `qwen3` is `qwen3:latest`, and case does not matter. */
function tagged(name: string): string {
  const lower = name.toLowerCase()
  return lower.slice(lower.lastIndexOf('/') + 1).includes(':') ? lower : `${lower}:latest`
}
