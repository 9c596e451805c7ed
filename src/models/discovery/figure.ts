import { isJsonObject, objectsOf } from '../../json/json-value.ts'
import type { WindowKind } from '../../tokens/budget.ts'

/** A window as a server states it. */
export type WindowFigure = {
  readonly tokens: number
  readonly kind: WindowKind
  /** What the prompt alone may take, where the server states that beside `tokens`; else null. */
  readonly inputTokens: number | null
  readonly basis: Basis
}

/**
 * How far a figure goes. `loaded`: in force now; goes before all others. `to-be-loaded`: in force once the model has
 * answered; goes before a catalogue. `assumed`: the same, but nothing stated it: it is what this kind of server does unless
 * told otherwise. `catalogue`: what a list says, perhaps of another deployment than will answer.
 */
export type Basis = keyof typeof FRESH_MS

/** For how long a figure is not asked again, in milliseconds. */
export const FRESH_MS = {
  /** Changes when somebody starts the server anew, which nobody tells us. */
  loaded: 60_000,
  'to-be-loaded': 60_000,
  assumed: 60_000,
  /** Changes when a provider changes its mind. */
  catalogue: 3_600_000,
} as const

/**
 * What an answer says of one model: its window, that it is not loaded and so has none yet, a figure that
 * cannot be one, or nothing.
 */
export type Stated = WindowFigure | 'unloaded' | 'implausible' | null

/** One field of an answer. Numbers may come as text; 0 is how several catalogues say that they do not know. */
export function stated(value: unknown, kind: WindowKind, basis: Basis): Stated {
  const tokens = typeof value === 'string' ? numberIn(value) : value
  if (typeof tokens !== 'number' || tokens === 0) return null
  if (!Number.isInteger(tokens) || tokens < TOKENS_MIN || tokens > TOKENS_MAX) return 'implausible'
  return { tokens, kind, inputTokens: null, basis }
}

export function isFigure(value: Stated): value is WindowFigure {
  return typeof value === 'object' && value !== null
}

/** The first that is a figure; where none is, what was wrong with them. */
export function firstFigure(...candidates: readonly Stated[]): Stated {
  return candidates.find(isFigure) ?? candidates.find((candidate) => candidate !== null) ?? null
}

/** The largest of the figures; where none is, what was wrong with them. */
export function largestFigure(...candidates: readonly Stated[]): Stated {
  const figures = candidates.filter(isFigure).toSorted((one, other) => other.tokens - one.tokens)
  return figures[0] ?? firstFigure(...candidates)
}

/** The smallest of the figures, and of their limits for the prompt alone; where none is, what was wrong with them. */
export function leastFigure(...candidates: readonly Stated[]): Stated {
  const figures = candidates.filter(isFigure).toSorted((one, other) => one.tokens - other.tokens)
  const [least] = figures
  if (least === undefined) return firstFigure(...candidates)
  const inputs = figures.flatMap(({ inputTokens }) => inputTokens ?? [])
  return inputs.length === 0 ? least : { ...least, inputTokens: Math.min(...inputs) }
}

/**
 * A window for prompt and output together whose prompt has a limit of its own. Both are carried, since which of them
 * binds is the request's matter: with 4,096 in all and 3,072 for the prompt, a reply of 100 tokens leaves 3,072 for the
 * prompt and one of 2,000 leaves 2,096. Either limit alone would be refused in one case or the other, and the smaller
 * one taken for the whole window would waste a quarter of it.
 */
export function withInputLimit(total: Stated, input: Stated): Stated {
  if (!isFigure(total) || !isFigure(input)) return firstFigure(total, input)
  return input.tokens < total.tokens ? { ...total, inputTokens: input.tokens } : total
}

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

/** Smaller windows belong to no model that holds a conversation. */
const TOKENS_MIN = 512

/** Twice the largest window that anybody offers. */
const TOKENS_MAX = 20_000_000

/** No figure is longer, blanks around it included. */
const FIGURE_CHARS_MAX = 32

/** NaN where the text is no number, which no window is; 0 where there is no text. */
function numberIn(text: string): number {
  if (text.length > FIGURE_CHARS_MAX) return Number.NaN
  return /^[-+.\d\s]*$/.test(text) ? Number(text) : Number.NaN
}

/** Below 24 GiB of video memory, in November 2026; `/api/ps` tells the truth once the model is loaded. */
const OLLAMA_DEFAULT_TOKENS = 4096

/** `qwen3` is `qwen3:latest`, and case does not matter. */
function tagged(name: string): string {
  const lower = name.toLowerCase()
  return lower.slice(lower.lastIndexOf('/') + 1).includes(':') ? lower : `${lower}:latest`
}
