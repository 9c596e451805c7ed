import { dashedName, modelSpellings } from './model-spellings.ts'
import type { WindowKind } from './pressure.ts'
import { windowFamilies } from './window-families.ts'
import { windowFigures } from './window-figures.ts'

/** A window as the built-in table has it, in tokens. */
export type TableWindow = { readonly tokens: number; readonly kind: WindowKind }

/**
 * What the built-in table says of a model: the figure of this very host, else of the name wherever it is served, else of the
 * family that the name belongs to. `host` is a URL's host without its port. Null where neither host nor name is listed.
 */
export function tableWindow(model: string, host: string | null): TableWindow | null {
  const name = dashedName(model)
  if (name.length > nameCharactersMax) return null
  table ??= readFigures(windowFigures)
  const spellings = modelSpellings(name)
  for (const figures of [host === null ? undefined : ofHost(table, host), table.names]) {
    for (const spelling of spellings) {
      const window = figures?.get(spelling)
      if (window !== undefined) return window
    }
  }
  const family = windowFamilies.find(({ pattern }) => pattern.test(name))
  return family === undefined ? null : { tokens: family.windowTokens, kind: family.kind }
}

/** Whether the table lists models of this host: then its figures are that host's own, and nobody waits for the server's word. */
export function isListedHost(host: string): boolean {
  table ??= readFigures(windowFigures)
  return ofHost(table, host) !== undefined
}

// --- internal ---

/** Longer than any name in use, and short enough that a client's name costs no pattern any time. */
const nameCharactersMax = 200

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

/** Read at the first lookup: a process with windows of its own never pays for it. */
let table: Table | undefined

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
