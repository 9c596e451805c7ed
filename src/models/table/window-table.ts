import { lruCache } from '../../lru-cache.ts'
import { dashedName, modelSpellings } from './model-spellings.ts'
import type { StatedWindow } from '../../overflow/classification.ts'
import { familyWindow, sizeInName } from './window-families.ts'
import windowFigures from './window-figures.json' with { type: 'json' }

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
