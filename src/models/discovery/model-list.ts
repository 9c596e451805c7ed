import { isJsonObject, type JsonObject, objectsOf } from '../../json/json-value.ts'
import { MODEL_NAME_CHARS_MAX } from '../../upstream/target.ts'
import {
  fieldAt,
  firstFigure,
  isFigure,
  largestFigure,
  leastFigure,
  type Place,
  stated,
  type Stated,
  windowAt,
  withInputLimit,
} from './figure.ts'

/** The windows of a list of models, without the list. */
export type ModelList = NonNullable<ReturnType<typeof readModelList>>

/** Reads any kind of list of models; null where the answer is none. */
export function readModelList(answer: unknown) {
  const rows = rowsOf(answer)
  if (rows === null) return null
  const names = new Map<string, Stated>()
  const otherNames = new Map<string, Stated>()
  const undatedNames = new Map<string, Stated>()
  const parents = new Map<string, string>()
  for (const row of rows.slice(0, ROWS_MAX)) {
    const window = windowOfRow(row)
    for (const name of namesOf(row)) {
      add(names, name, window)
      if (withoutDate(name) !== name) add(undatedNames, withoutDate(name), window)
    }
    for (const [name, own] of otherNamesOf(row, window)) add(otherNames, name, own)
    const { id, parent } = row
    if (window === null && typeof id === 'string' && typeof parent === 'string') parents.set(id, parent)
  }
  const find = (name: string): Stated =>
    names.get(name) ?? otherNames.get(name) ?? undatedNames.get(name) ?? null
  // A LoRA adapter has the window of the model that it is put on.
  for (const [adapter, parent] of parents) add(names, adapter, find(parent))

  const all = [...names.values()]
  // llama-server and SGLang answer with their one model, whatever name is asked for.
  const servesOne = rows.length === 1 && rows.some((row) => isOwnedBy(row, 'llamacpp', 'sglang'))
  const only = servesOne ? (all[0] ?? null) : null
  return {
    /** By the name that a request uses. */
    windowOf: (model: string): Stated => {
      const plain = withoutVariant(model)
      return find(model) ?? find(plain) ?? find(withoutDate(plain)) ?? only
    },
    /** Whether it states any window, or which models are loaded: else there is no use in asking for it again. */
    isTelling: all.some((window) => window !== null),
    /** Whether its figures are what is loaded now, which changes sooner than a catalogue. */
    isLoaded: all.some((window) => isFigure(window) && window.basis === 'loaded'),
    /** Whether it tells loaded models from others: then it may be out of date as soon as it is read. */
    isVolatile: rows.some((row) => isLmStudioRow(row) || isRouterRow(row)),
    /** SGLang states the model's window here, and elsewhere how much of it the memory has room for. */
    isSglang: rows.some((row) => isOwnedBy(row, 'sglang')),
    namesCount: names.size + otherNames.size,
  }
}

// --- internal ---

/** The longest list known has some thousand models. */
const ROWS_MAX = 20_000

function rowsOf(answer: unknown): readonly JsonObject[] | null {
  if (Array.isArray(answer)) return objectsOf(answer)
  if (!isJsonObject(answer)) return null
  const rows = [answer['data'], answer['models'], answer['result']].find(Array.isArray)
  return rows === undefined ? null : objectsOf(rows)
}

function add(names: Map<string, Stated>, name: string, window: Stated): void {
  if (name.length > MODEL_NAME_CHARS_MAX) return
  const before = names.get(name)
  // Several deployments under one name: which of them will answer is not known.
  names.set(name, before === undefined ? window : leastFigure(before, window))
}

/** The names that a list gives a model itself. Only Gemini and Cloudflare mean `name` by it. */
function namesOf(row: JsonObject): readonly string[] {
  const names = [row['model_name'], row['id'], row['key']].filter((name) => typeof name === 'string')
  const { name } = row
  if (typeof name === 'string' && (names.length === 0 || Array.isArray(row['properties']))) names.push(name)
  return names.flatMap((own) => (own.startsWith('models/') ? [own, own.slice('models/'.length)] : [own]))
}

/** Names by which the server knows the model too, each with its own window. */
function* otherNamesOf(row: JsonObject, window: Stated): Generator<readonly [string, Stated]> {
  const aliases: readonly unknown[] = Array.isArray(row['aliases']) ? row['aliases'] : []
  for (const alias of [...aliases, fieldAt(row, 'litellm_params.model')])
    if (typeof alias === 'string') yield [alias, window]
  for (const instance of objectsOf(row['loaded_instances']))
    if (typeof instance['id'] === 'string') yield [instance['id'], windowOfInstance(instance)]
  for (const provider of liveProviders(row))
    if (typeof provider['provider'] === 'string' && typeof row['id'] === 'string')
      yield [
        `${row['id']}:${provider['provider']}`,
        windowAt(provider, 'catalogue', { total: 'context_length' }),
      ]
}

/** `:free`, `:nitro`, `:fastest`, an SGLang adapter, Claude Code's `[1m]`: a choice made behind the name of the model. */
function withoutVariant(model: string): string {
  if (model.endsWith('[1m]')) return model.slice(0, -'[1m]'.length)
  const colon = model.lastIndexOf(':')
  return colon === -1 ? model : model.slice(0, colon)
}

/** Anthropic lists `claude-haiku-4-5-20251001`, which is asked for as `claude-haiku-4-5` too; imitators do it the other way. */
function withoutDate(model: string): string {
  return model.replace(/-20\d{6}$/, '')
}

/**
 * What a row of a model list says, whichever server's list it is: each server and catalogue has its own field for the
 * window. Training ceilings (`meta.n_ctx_train`, LM Studio's `max_context_length`) are never taken.
 */
function windowOfRow(row: JsonObject): Stated {
  if (isLmStudioRow(row)) return windowInLmStudio(row)
  if (isRouterRow(row) && fieldAt(row, 'status.value') !== 'loaded') return 'unloaded'
  const at = (place: Place): Stated => windowAt(row, 'catalogue', place)
  const property = objectsOf(row['properties']).find((each) => each['property_id'] === 'context_window')
  const total = firstFigure(
    // OpenRouter: the figure of the provider that serves, before the model's own.
    at({ total: 'top_provider.context_length' }),
    // Groq, Vercel, Requesty; Mistral; Together, Fireworks, Moonshot and many more. Where several stand in a row nothing says
    // which is in force: too large a figure is corrected by a refusal, too small a one by nothing.
    largestFigure(
      ...['context_window', 'max_context_length', 'context_length'].map((field) => at({ total: field })),
    ),
    // Hugging Face, whose router may take any of them.
    leastFigure(
      ...liveProviders(row).map((each) => windowAt(each, 'catalogue', { total: 'context_length' })),
    ),
    // DeepInfra; Venice; Cloudflare.
    at({ total: 'metadata.context_length model_spec.availableContextTokens' }),
    stated(property?.['value'], 'total', 'catalogue'),
  )
  return firstFigure(
    // Unsloth.
    row['loaded'] === true ? windowAt(row, 'loaded', { total: 'context_length' }) : null,
    // vLLM, SGLang, NIM, Chutes; llama.cpp.
    windowAt(row, 'loaded', { total: 'max_model_len meta.n_ctx' }),
    // GitHub Copilot.
    at({
      total: 'capabilities.limits.max_context_window_tokens',
      input: 'capabilities.limits.max_prompt_tokens',
    }),
    // GitHub Models; Cerebras; xAI; LiteLLM; Gemini.
    at({ input: 'limits.max_input_tokens' }),
    at({ total: 'limits.max_context_length' }),
    at({ input: 'max_prompt_length model_info.max_input_tokens inputTokenLimit' }),
    withInputLimit(total, at({ input: 'max_input_tokens' })),
  )
}

/** Those providers of the Hugging Face router that serve the model now. */
function liveProviders(row: JsonObject): readonly JsonObject[] {
  return objectsOf(row['providers']).filter(({ status }) => status === undefined || status === 'live')
}

/** Of one of LM Studio's own lists. */
function isLmStudioRow(row: JsonObject): boolean {
  return (
    Array.isArray(row['loaded_instances']) ||
    row['loaded_context_length'] !== undefined ||
    ((row['state'] === 'loaded' || row['state'] === 'not-loaded') && row['max_context_length'] !== undefined)
  )
}

function windowInLmStudio(row: JsonObject): Stated {
  if (Array.isArray(row['loaded_instances'])) {
    const instances = objectsOf(row['loaded_instances']).map(windowOfInstance)
    return instances.length === 0 ? 'unloaded' : leastFigure(...instances)
  }
  if (row['state'] !== 'loaded') return 'unloaded'
  return windowAt(row, 'loaded', { total: 'loaded_context_length context_length' })
}

function windowOfInstance(instance: JsonObject): Stated {
  return windowAt(instance, 'loaded', { total: 'config.context_length' })
}

/** Of llama-server without a model of its own, which starts a process for each that is asked for. */
function isRouterRow(row: JsonObject): boolean {
  return typeof fieldAt(row, 'status.value') === 'string'
}

function isOwnedBy(row: JsonObject, ...owners: readonly string[]): boolean {
  return owners.some((owner) => row['owned_by'] === owner)
}
