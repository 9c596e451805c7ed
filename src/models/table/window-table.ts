import { lruCache } from '../../caches.ts'
import type { StatedWindow } from '../../overflow/classification.ts'
import { dashedName, modelSpellings } from './model-spellings.ts'
import families from './window-families.json' with { type: 'json' }
import windowFigures from './window-figures.json' with { type: 'json' }
import { asksForBeta } from '../../upstream/address.ts'

/**
 * What the built-in table says of a model: the figure of this very host, else of the name wherever it is served, else of the
 * family that the name belongs to. `host` is a URL's host without its port. Null where neither host nor name is listed.
 */
export function tableWindow(model: string, host: string | null): StatedWindow | null {
  return lookUp(model, host).window
}

/** Whether the table lists this model at this very host: then its figure is the host's own, and nobody waits for its word. */
export function isListedAt(model: string, host: string): boolean {
  return lookUp(model, host).isListedAtHost
}

/** The window of a family of models. */
type Family = ReturnType<typeof familiesOf>[number]

/**
 * Windows by family of the models whose weights are open, and of their makers' own services. Whoever runs them started them
 * with a window of their own, and that server is asked before; this is what they take without being stretched.
 *
 * A row that stands further left in a name goes first, for names begin with what was tuned (`Qwen3-8B-DeepSeek-v3.2-Distill`);
 * of rows at one place the first here.
 *
 * @internal exported for tests
 */
export const openWeights = familiesOf(families.openWeights)

/**
 * Models that only their makers serve, or who they let. The most specific row first; the figures are those that the makers
 * documented in November 2026, of several the smallest: a compaction too early is cheaper than an overflow.
 *
 * @internal exported for tests
 */
export const vendorModels = familiesOf(families.vendors)

/**
 * The row for a name. Models with open weights go before those that only their maker serves: what is called after both was
 * made of the first and taught by the second (`Llama-3-8B-GPT-4o`), and whatever states a number of parameters or how it is
 * stored is no vendor's.
 *
 * @internal exported for tests
 */
export function familyOf(name: string): Family | null {
  const model = tunedModel(name)
  const places = openWeights.map((family) => ({ family, at: model.search(family.pattern) }))
  const found = places.filter(({ at }) => at !== -1)
  if (found.length > 0) return found.reduce((first, next) => (next.at < first.at ? next : first)).family
  if (marksOfWeights.test(model)) return null
  return vendorModels.find(({ pattern }) => pattern.test(model)) ?? null
}

/**
 * Windows by listed name, from rows that name the models of each window: `8192`, or `input 8192` where it limits the prompt alone.
 *
 * @internal exported for tests
 */
export function figuresIn(rows: Readonly<Record<string, string>>): ReadonlyMap<string, StatedWindow> {
  return new Map(
    Object.entries(rows).flatMap(([figure, names]) => {
      const isInput = figure.startsWith('input ')
      const window = windowOf(isInput ? { input: Number(figure.slice('input '.length)) } : Number(figure))
      return names.split(' ').map((name) => [name, window] as const)
    }),
  )
}

/**
 * The name that a request's model is known by: its own, or, if a beta of Anthropic's gives it a window of a million tokens, the
 * one that Claude Code has for that (`claude-sonnet-4-5[1m]`), which the table lists. With and without the beta it is two models
 * to whatever is learnt of it.
 */
export function nameWithBeta(model: string, rawHeaders: readonly string[]): string {
  if (!asksForBeta(rawHeaders, longContextFlag)) return model
  const spellings = modelSpellings(model)
  return spellings.some((name) => longContextModels.has(name)) ? `${spellings[0]}[1m]` : model
}

// --- internal ---

/** Longer than any name in use, and short enough that a client's name costs no pattern any time. */
const nameCharactersMax = 200

type LookedUp = { readonly window: StatedWindow | null; readonly isListedAtHost: boolean }

/** Spelling a name in all its ways costs more than the rest of a small request: the latest models at hosts are remembered. */
const lookedUp = lruCache<LookedUp>(1_000)

function lookUp(model: string, host: string | null): LookedUp {
  const key = `${host ?? ''} ${model}`
  const known = lookedUp.get(key)
  if (known !== undefined) return known
  const name = dashedName(model)
  if (name.length > nameCharactersMax) return { window: null, isListedAtHost: false }
  const spellings = modelSpellings(name)
  const ofHost = host === null ? null : firstOf(figuresAt(host), spellings)
  const listed = ofHost ?? firstOf(figuresOfNames, spellings)
  const window = listed === null ? familyWindow(name) : withSizeIn(name, listed)
  const found = { window, isListedAtHost: ofHost !== null }
  lookedUp.set(key, found)
  return found
}

type Figures = ReturnType<typeof figuresIn>

const figuresOfNames = figuresIn(windowFigures.names)

/** Figures of hosts by pattern: some have a region, a resource or an account in their name, for which a `*` stands. */
const hosts = Object.entries<Readonly<Record<string, string>>>(windowFigures.hosts)
  .flatMap(([patterns, rows]) => {
    const figures = figuresIn(rows)
    return patterns.split(' ').map((pattern) => {
      const [before = '', behind = null] = pattern.split('*')
      return { before, behind, figures }
    })
  })
  // A host's own name goes before a pattern.
  .toSorted((one, other) => Number(one.behind !== null) - Number(other.behind !== null))

function figuresAt(host: string): Figures | undefined {
  const name = host.toLowerCase()
  const isThis = ({ before, behind }: (typeof hosts)[number]): boolean =>
    behind === null
      ? before === name
      : name.length > before.length + behind.length && name.startsWith(before) && name.endsWith(behind)
  return hosts.find(isThis)?.figures
}

function firstOf(figures: Figures | undefined, spellings: readonly string[]): StatedWindow | null {
  const listed = spellings.find((spelling) => figures?.has(spelling))
  return (listed === undefined ? undefined : figures?.get(listed)) ?? null
}

/** Bedrock's `claude-3-haiku-…:48k` is listed without what it states. */
function withSizeIn(name: string, listed: StatedWindow): StatedWindow {
  const tokens = sizeInName(name)
  return tokens !== null && tokens < listed.tokens ? { tokens, kind: 'total' } : listed
}

/**
 * The window of the family that a name belongs to, for names that no list has: dated versions, deployments, Ollama's tags,
 * fine-tunes. `name` is in small letters, with dashes for underscores, without what stands before a slash. Null where it is
 * of none.
 */
function familyWindow(name: string): StatedWindow | null {
  const family = familyOf(name)
  const tokens = sizeInName(name)
  if (tokens === null) return family?.window ?? null
  const isStated =
    family === null
      ? tokens <= unknownTokensMax
      : openWeights.includes(family) || tokens < family.window.tokens
  return isStated ? { tokens, kind: 'total' } : (family?.window ?? null)
}

/** The tokens of a window that a name states: `-128k`, `-1m`, Bedrock's `:48k`. Null where it states none. */
function sizeInName(name: string): number | null {
  const size = /(?:^|[-:])(4k|8k|16k|24k|32k|48k|64k|96k|128k|256k|262k|512k|1048k|1m)(?=$|[-:.])/.exec(
    tunedModel(name),
  )?.[1]
  if (size === undefined) return null
  const number = Number(size.slice(0, -1))
  if (size.endsWith('m')) return number * 1_000_000
  // Of 24 and 128 some mean thousands, some 1,024s.
  return [4, 8, 16, 32, 64].includes(number) ? number * 1024 : number * 1000
}

/** Tokens as the tables write them: what limits the prompt alone stands under `input`. */
function windowOf(figure: number | { readonly input: number }): StatedWindow {
  return typeof figure === 'number'
    ? { tokens: figure, kind: 'total' }
    : { tokens: figure.input, kind: 'input' }
}

function familiesOf(
  byMaker: Readonly<
    Record<string, readonly { pattern: string; window: number | { input: number }; sample: string }[]>
  >,
) {
  return Object.values(byMaker)
    .flat()
    .map(({ pattern, window, sample }) => ({
      /** Matched against a name in small letters, with dashes for underscores, without what stands before a slash. */
      pattern: new RegExp(pattern),
      window: windowOf(window),
      /** A name that this row is for. */
      sample,
    }))
}

/** What a name states of a model that nobody knows: above, it is as likely a number of parameters, or of examples. */
const unknownTokensMax = 262_000

/** What an organisation calls its fine-tune stands behind the model. */
function tunedModel(name: string): string {
  return name.replace(/^ft:([^:]+).*$/, '$1')
}

/** A number of parameters (`7b`, `8x22b`, `a3b`), or how weights are stored or were made. Google's one exception states eight billion. */
const marksOfWeights =
  /(?<!\bgemini-1[.-]5-flash)(?:^|[-:.])(?:\d+x|a)?\d+(?:\.\d+)?b(?=$|[-:.])|distil|gguf|ggml|gptq|\bawq|\bmlx|\bexl\d|abliterated|uncensored/

const longContextFlag = /(?:^|,)\s*context-1m-\d{4}-/

/** Others have that window without it, or not at all. */
const longContextModels: ReadonlySet<string> = new Set([
  'claude-sonnet-4',
  'claude-sonnet-4-0',
  'claude-sonnet-4-5',
  'claude-4-sonnet',
  'claude-4-5-sonnet',
])
