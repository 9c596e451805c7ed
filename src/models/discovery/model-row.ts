import { isJsonObject, type JsonObject } from '../../conversation/json-value.ts'
import { firstFigure, leastFigure, stated, withInputLimit, type Stated } from './figure.ts'

/**
 * What a row of a model list says, whichever server's list it is: each server and catalogue has its own field for the
 * window. Training ceilings (`meta.n_ctx_train`, LM Studio's `max_context_length`) are never taken.
 */
export function windowOfRow(row: JsonObject): Stated {
  if (isLmStudioRow(row)) return windowInLmStudio(row)
  if (isRouterRow(row) && field(row, 'status', 'value') !== 'loaded') return 'unloaded'
  return firstFigure(
    // vLLM, SGLang, NIM, Chutes; llama.cpp.
    stated(row['max_model_len'], 'total', 'loaded'),
    stated(field(row, 'meta', 'n_ctx'), 'total', 'loaded'),
    // GitHub Copilot; GitHub Models; Cerebras; xAI; LiteLLM; Gemini.
    withInputLimit(
      stated(field(row, 'capabilities', 'limits', 'max_context_window_tokens'), 'total', 'catalogue'),
      stated(field(row, 'capabilities', 'limits', 'max_prompt_tokens'), 'input', 'catalogue'),
    ),
    stated(field(row, 'limits', 'max_input_tokens'), 'input', 'catalogue'),
    stated(field(row, 'limits', 'max_context_length'), 'total', 'catalogue'),
    stated(row['max_prompt_length'], 'input', 'catalogue'),
    stated(field(row, 'model_info', 'max_input_tokens'), 'input', 'catalogue'),
    stated(row['inputTokenLimit'], 'input', 'catalogue'),
    withInputLimit(totalOf(row), stated(row['max_input_tokens'], 'input', 'catalogue')),
  )
}

/** Whether the row says if its model is loaded: then it may be out of date as soon as it is read. */
export function saysWhetherLoaded(row: JsonObject): boolean {
  return isLmStudioRow(row) || isRouterRow(row)
}

/** The names and windows of LM Studio's loaded instances of a model; none in its older list. */
export function loadedInstances(
  row: JsonObject,
): readonly { readonly id: string | null; readonly window: Stated }[] {
  return objectsIn(row['loaded_instances']).map((instance) => ({
    id: typeof instance['id'] === 'string' ? instance['id'] : null,
    window: stated(field(instance, 'config', 'context_length'), 'total', 'loaded'),
  }))
}

/** The windows of those providers of the Hugging Face router that serve the model now. */
export function liveProviders(
  row: JsonObject,
): readonly { readonly name: string | null; readonly window: Stated }[] {
  return objectsIn(row['providers'])
    .filter(({ status }) => status === undefined || status === 'live')
    .map((provider) => ({
      name: typeof provider['provider'] === 'string' ? provider['provider'] : null,
      window: stated(provider['context_length'], 'total', 'catalogue'),
    }))
}

/** What stands under these keys, one inside the other; undefined where there is no such thing. */
export function field(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), value)
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

// --- internal ---

/** Of one of LM Studio's own lists. */
function isLmStudioRow(row: JsonObject): boolean {
  return (
    Array.isArray(row['loaded_instances']) ||
    row['loaded_context_length'] !== undefined ||
    ((row['state'] === 'loaded' || row['state'] === 'not-loaded') && row['max_context_length'] !== undefined)
  )
}

/** Of llama-server without a model of its own, which starts a process for each that is asked for. */
function isRouterRow(row: JsonObject): boolean {
  return typeof field(row, 'status', 'value') === 'string'
}

function windowInLmStudio(row: JsonObject): Stated {
  if (Array.isArray(row['loaded_instances'])) {
    const instances = loadedInstances(row).map(({ window }) => window)
    return instances.length === 0 ? 'unloaded' : leastFigure(...instances)
  }
  if (row['state'] !== 'loaded') return 'unloaded'
  return stated(row['loaded_context_length'], 'total', 'loaded')
}

/** The fields for prompt and output together, in the order in which they are trusted. */
function totalOf(row: JsonObject): Stated {
  return firstFigure(
    // OpenRouter: the figure of the provider that serves, before the model's own.
    stated(field(row, 'top_provider', 'context_length'), 'total', 'catalogue'),
    // Groq, Vercel, Requesty; Mistral; Together, Fireworks, Moonshot and many more.
    stated(row['context_window'], 'total', 'catalogue'),
    stated(row['max_context_length'], 'total', 'catalogue'),
    stated(row['context_length'], 'total', 'catalogue'),
    // Hugging Face, whose router may take any of them; DeepInfra; Venice; Cloudflare.
    leastFigure(...liveProviders(row).map(({ window }) => window)),
    stated(field(row, 'metadata', 'context_length'), 'total', 'catalogue'),
    stated(field(row, 'model_spec', 'availableContextTokens'), 'total', 'catalogue'),
    stated(propertyOf(row, 'context_window'), 'total', 'catalogue'),
  )
}

function propertyOf(row: JsonObject, id: string): unknown {
  return objectsIn(row['properties']).find((property) => property['property_id'] === id)?.['value']
}
