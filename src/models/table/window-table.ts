import { LRUCache } from 'lru-cache'
import { dashedName, modelSpellings } from '../../tokens/model-spellings.ts'
import type { WindowKind } from '../../tokens/budget.ts'
import { familyWindow, sizeInName } from './window-families.ts'
import { windowFigures } from './window-figures.ts'

/** A window as the built-in table has it, in tokens. */
export type TableWindow = { readonly tokens: number; readonly kind: WindowKind }

/**
 * What the built-in table says of a model: the figure of this very host, else of the name wherever it is served, else of the
 * family that the name belongs to. `host` is a URL's host without its port. Null where neither host nor name is listed.
 */
export function tableWindow(model: string, host: string | null): TableWindow | null {
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
type LookedUp = { readonly window: TableWindow | null; readonly isListedAtHost: boolean }

/** Spelling a name in all its ways costs more than the rest of a small request: the latest ones are remembered. */
const lookedUp = new LRUCache<string, LookedUp>({ max: lookedUpMax })

function lookUp(model: string, host: string | null): LookedUp {
  const key = `${host ?? ''} ${model}`
  const known = lookedUp.get(key)
  if (known !== undefined) return known
  const found = {
    window: findWindow(model, host),
    isListedAtHost: host !== null && isInTableOf(model, host),
  }
  if (model.length <= nameCharactersMax) lookedUp.set(key, found)
  return found
}

function findWindow(model: string, host: string | null): TableWindow | null {
  const name = dashedName(model)
  if (name.length > nameCharactersMax) return null
  const listed = listedWindow(name, host)
  if (listed === null) return familyWindow(name)
  // Bedrock's `claude-3-haiku-…:48k` is listed without what it states.
  const sizeTokens = sizeInName(name)
  return sizeTokens !== null && sizeTokens < listed.tokens ? { tokens: sizeTokens, kind: 'total' } : listed
}

function isInTableOf(model: string, host: string): boolean {
  const name = dashedName(model)
  return name.length <= nameCharactersMax && firstOf(ofHost(readTable(), host), modelSpellings(name)) !== null
}

type Figures = Map<string, TableWindow>

type Table = {
  readonly hosts: ReadonlyMap<string, Figures>
  /** Hosts with a region, a resource or an account in their name, as what stands before it and behind it. */
  readonly patterns: readonly {
    readonly before: string
    readonly behind: string
    readonly figures: Figures
  }[]
  readonly names: Figures
}

let table: Table | undefined

/** Read at the first lookup: a process with windows of its own never pays for it. */
function readTable(): Table {
  table ??= readFigures(windowFigures)
  return table
}

function listedWindow(name: string, host: string | null): TableWindow | null {
  const spellings = modelSpellings(name)
  const ofThisHost = host === null ? undefined : ofHost(readTable(), host)
  return firstOf(ofThisHost, spellings) ?? firstOf(readTable().names, spellings)
}

function firstOf(figures: Figures | undefined, spellings: readonly string[]): TableWindow | null {
  for (const spelling of spellings) {
    const window = figures?.get(spelling)
    if (window !== undefined) return window
  }
  return null
}

function ofHost({ hosts, patterns }: Table, host: string): Figures | undefined {
  const name = host.toLowerCase()
  return (
    hosts.get(name) ??
    patterns.find(
      ({ before, behind }) =>
        name.length > before.length + behind.length && name.startsWith(before) && name.endsWith(behind),
    )?.figures
  )
}

/** The format is described where it is written: `window-figures.ts`. */
function readFigures(text: string): Table {
  const hosts = new Map<string, Figures>()
  const patterns: Table['patterns'][number][] = []
  const names: Figures = new Map()
  let figures = names
  for (const line of text.split('\n')) {
    const [name = '', ...words] = line.split(' ')
    if (name === '@') {
      figures = words[0] === '*' ? names : new Map<string, TableWindow>()
      for (const host of words) {
        const [before = '', behind] = host.split('*')
        if (behind === undefined) hosts.set(host, figures)
        else if (host !== '*') patterns.push({ before, behind, figures })
      }
    } else if (name !== '') {
      figures.set(name, { tokens: Number(words[0]), kind: words[1] === 'input' ? 'input' : 'total' })
    }
  }
  return { hosts, patterns, names }
}
