import { isJsonObject, type JsonObject } from '../../conversation/json-value.ts'
import { MODEL_NAME_CHARS_MAX } from '../../upstream/model-name.ts'
import { leastFigure, isFigure, type Stated } from './figure.ts'
import {
  field,
  liveProviders,
  loadedInstances,
  objectsIn,
  saysWhetherLoaded,
  windowOfRow,
} from './model-row.ts'

/** The windows of a list of models, without the list. */
export type ModelList = {
  /** By the name that a request uses. */
  readonly windowOf: (model: string) => Stated
  /** Whether it states any window, or which models are loaded: else there is no use in asking for it again. */
  readonly isTelling: boolean
  /** Whether its figures are what is loaded now, which changes sooner than a catalogue. */
  readonly isLoaded: boolean
  /** Whether it tells loaded models from others: then it may be out of date as soon as it is read. */
  readonly isVolatile: boolean
  /** SGLang states the model's window here, and elsewhere how much of it the memory has room for. */
  readonly isSglang: boolean
  readonly namesCount: number
}

/** Reads any kind of list of models; null where the answer is none. */
export function readModelList(answer: unknown): ModelList | null {
  const rows = rowsOf(answer)
  if (rows === null) return null
  const names = new Map<string, Stated>()
  const otherNames = new Map<string, Stated>()
  const parents = new Map<string, string>()
  for (const row of rows.slice(0, ROWS_MAX)) {
    const window = windowOfRow(row)
    for (const name of namesOf(row)) add(names, name, window)
    for (const [name, own] of otherNamesOf(row, window)) add(otherNames, name, own)
    const { id, parent } = row
    if (window === null && typeof id === 'string' && typeof parent === 'string') parents.set(id, parent)
  }
  const find = (name: string): Stated => names.get(name) ?? otherNames.get(name) ?? null
  // A LoRA adapter has the window of the model that it is put on.
  for (const [adapter, parent] of parents) add(names, adapter, find(parent))

  const all = [...names.values()]
  const only = servesOneModel(rows) ? (all[0] ?? null) : null
  return {
    windowOf: (model) => find(model) ?? find(withoutVariant(model)) ?? only,
    isTelling: all.some((window) => window !== null),
    isLoaded: all.some((window) => isFigure(window) && window.basis === 'loaded'),
    isVolatile: rows.some(saysWhetherLoaded),
    isSglang: rows.some((row) => row['owned_by'] === 'sglang'),
    namesCount: names.size + otherNames.size,
  }
}

// --- internal ---

/** The longest list known has some thousand models. */
const ROWS_MAX = 20_000

function rowsOf(answer: unknown): readonly JsonObject[] | null {
  if (Array.isArray(answer)) return objectsIn(answer)
  if (!isJsonObject(answer)) return null
  const rows = [answer['data'], answer['models'], answer['result']].find(Array.isArray)
  return rows === undefined ? null : objectsIn(rows)
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
function otherNamesOf(row: JsonObject, window: Stated): readonly (readonly [string, Stated])[] {
  const aliases = [
    ...(Array.isArray(row['aliases']) ? row['aliases'] : []),
    field(row, 'litellm_params', 'model'),
  ]
  return [
    ...aliases.filter((alias) => typeof alias === 'string').map((alias) => [alias, window] as const),
    ...loadedInstances(row).flatMap(({ id, window: own }) => (id === null ? [] : [[id, own] as const])),
    ...liveProviders(row).flatMap(({ name, window: own }) =>
      name === null || typeof row['id'] !== 'string' ? [] : [[`${row['id']}:${name}`, own] as const],
    ),
  ]
}

/** `:free`, `:nitro`, `:fastest`, an SGLang adapter: a choice made behind the name of the model. */
function withoutVariant(model: string): string {
  const colon = model.lastIndexOf(':')
  return colon === -1 ? model : model.slice(0, colon)
}

/** llama-server and SGLang answer with their one model, whatever name is asked for. */
function servesOneModel(rows: readonly JsonObject[]): boolean {
  const [only] = rows
  return rows.length === 1 && (only?.['owned_by'] === 'llamacpp' || only?.['owned_by'] === 'sglang')
}
