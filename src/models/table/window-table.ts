import { lruCache } from '../../lru-cache.ts'
import { dashedName, modelSpellings } from './model-spellings.ts'
import type { StatedWindow } from '../../overflow/classification.ts'
import windowFigures from './window-figures.json' with { type: 'json' }
import type { WindowKind } from '../../tokens/budget.ts'
import rows from './window-families.json' with { type: 'json' }

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
type Family = {
  /** Matched against a name in small letters, with dashes for underscores, without what stands before a slash. */
  readonly pattern: RegExp
  readonly windowTokens: number
  readonly kind: WindowKind
  /** A name that this row is for. */
  readonly sample: string
}

/**
 * Windows by family of the models whose weights are open, and of their makers' own services. Whoever runs them started them
 * with a window of their own, and that server is asked before; this is what they take without being stretched.
 *
 * A row that stands further left in a name goes first, for names begin with what was tuned (`Qwen3-8B-DeepSeek-v3.2-Distill`);
 * of rows at one place the first here.
 *
 * @internal exported for tests
 */
export const openWeights = familiesOf(rows.openWeights)

/**
 * Models that only their makers serve, or who they let. The most specific row first; the figures are those that the makers
 * documented in November 2026, of several the smallest: a compaction too early is cheaper than an overflow.
 *
 * @internal exported for tests
 */
export const vendorModels = familiesOf(rows.vendors)

/**
 * The window of the family that a name belongs to, for names that no list has: dated versions, deployments, Ollama's tags,
 * fine-tunes. `name` is in small letters, with dashes for underscores, without what stands before a slash. Null where it is
 * of none.
 */
function familyWindow(name: string): StatedWindow | null {
  const family = familyOf(name)
  const sizeTokens = sizeInName(name)
  if (family === null) {
    const isBelievable = sizeTokens !== null && sizeTokens <= unknownTokensMax
    return isBelievable ? { tokens: sizeTokens, kind: 'total' } : null
  }
  const isOpen = openWeights.includes(family)
  if (sizeTokens !== null && (isOpen || sizeTokens < family.windowTokens)) {
    return { tokens: sizeTokens, kind: 'total' }
  }
  return { tokens: family.windowTokens, kind: family.kind }
}

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
 * The tokens of a window that a name states: `-128k`, `-1m`, Bedrock's `:48k`. Null where it states none.
 */
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

// --- internal ---

/** Longer than any name in use, and short enough that a client's name costs no pattern any time. */
const nameCharactersMax = 200

/** Models at hosts that are in use at a time. */
const lookedUpMax = 1_000

/** What the table says of a model at a host. */
type LookedUp = { readonly window: StatedWindow | null; readonly isListedAtHost: boolean }

/** Spelling a name in all its ways costs more than the rest of a small request: the latest ones are remembered. */
const lookedUp = lruCache<LookedUp>(lookedUpMax)

function lookUp(model: string, host: string | null): LookedUp {
  const key = `${host ?? ''} ${model}`
  const known = lookedUp.get(key)
  if (known !== undefined) return known
  const name = dashedName(model)
  if (name.length > nameCharactersMax) return { window: null, isListedAtHost: false }
  const spellings = modelSpellings(name)
  const ofHost = host === null ? null : firstOf(figuresOf(host), spellings)
  const listed = ofHost ?? firstOf(windowFigures.names, spellings)
  const found = {
    window: listed === null ? familyWindow(name) : withSizeIn(name, listed),
    isListedAtHost: ofHost !== null,
  }
  lookedUp.set(key, found)
  return found
}

/** Bedrock's `claude-3-haiku-…:48k` is listed without what it states. */
function withSizeIn(name: string, listed: StatedWindow): StatedWindow {
  const tokens = sizeInName(name)
  return tokens !== null && tokens < listed.tokens ? { tokens, kind: 'total' } : listed
}

/** Tokens by listed name; what limits the prompt alone stands under `input`. */
type Figures = Readonly<Record<string, number | { readonly input: number }>>

/** Figures of hosts by pattern: some have a region, a resource or an account in their name, for which a `*` stands. */
const hosts: readonly {
  readonly before: string
  readonly behind: string | null
  readonly figures: Figures
}[] = Object.entries<Figures>(windowFigures.hosts)
  .flatMap(([patterns, figures]) =>
    patterns.split(' ').map((pattern) => {
      const [before = '', behind = null] = pattern.split('*')
      return { before, behind, figures }
    }),
  )
  // A host's own name goes before a pattern.
  .toSorted((one, other) => Number(one.behind !== null) - Number(other.behind !== null))

function firstOf(figures: Figures, spellings: readonly string[]): StatedWindow | null {
  for (const spelling of spellings) {
    const figure = Object.hasOwn(figures, spelling) ? figures[spelling] : undefined
    if (typeof figure === 'number') return { tokens: figure, kind: 'total' }
    if (figure !== undefined) return { tokens: figure.input, kind: 'input' }
  }
  return null
}

function figuresOf(host: string): Figures {
  const name = host.toLowerCase()
  const isThis = ({ before, behind }: (typeof hosts)[number]): boolean =>
    behind === null
      ? before === name
      : name.length > before.length + behind.length && name.startsWith(before) && name.endsWith(behind)
  return hosts.find(isThis)?.figures ?? {}
}

/** What limits the prompt alone stands under `input`. */
type Row = {
  readonly pattern: string
  readonly window: number | { readonly input: number }
  readonly sample: string
}

function familiesOf(byMaker: Readonly<Record<string, readonly Row[]>>): readonly Family[] {
  return Object.values(byMaker)
    .flat()
    .map(({ pattern, window, sample }) => ({
      pattern: new RegExp(pattern),
      windowTokens: typeof window === 'number' ? window : window.input,
      kind: typeof window === 'number' ? 'total' : 'input',
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
