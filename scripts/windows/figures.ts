import { listedName } from '../../src/models/table/model-spellings.ts'
import { additions, figureOf, weights } from './corrections.ts'
import { foreignApis, hostsOf, makers } from './hosts.ts'
import type { DataRow } from './read-package.ts'

export type Figure = { readonly tokens: number; readonly kind: 'total' | 'input' }

/** Figures by listed name. */
export type Figures = ReadonlyMap<string, Figure>

export type WindowFigures = {
  /** By host patterns, joined by spaces: the figures of those hosts. */
  readonly hosts: ReadonlyMap<string, Figures>
  /** What is said of a name where the host says nothing. */
  readonly names: Figures
}

/** Every host's figures, and for every name the one to believe where the host is not listed. */
export function windowFigures(rows: readonly DataRow[]): WindowFigures {
  const hosts = new Map<string, Map<string, Figure>>()
  const makersWord = new Map<string, Figure>()
  const note = (provider: string, host: string, name: string, figure: Figure): void => {
    const figures = hosts.get(host) ?? new Map<string, Figure>()
    hosts.set(host, figures)
    figures.set(name, smaller(figures.get(name), figure))
    if (makers[provider]?.test(name)) {
      makersWord.set(name, smaller(makersWord.get(name), figure))
    }
  }
  for (const row of rows) {
    if (foreignApis.includes(row.api)) continue
    const name = listedName(row.id)
    note(row.provider, hostsOfRow(row), name, figureOf(row, name))
    for (const addition of additions) {
      if (addition.provider === row.provider) {
        note(row.provider, hostsOfRow(row), addition.name, addition.figure)
      }
    }
  }
  const names = new Map(makersWord)
  for (const name of new Set([...hosts.values()].flatMap((figures) => [...figures.keys()]))) {
    // Without a version it is an alias of its host's own: `auto`, `free`.
    if (names.has(name) || !/\d/.test(name)) continue
    names.set(name, mostCommon([...hosts.values()].flatMap((figures) => figures.get(name) ?? [])))
  }
  for (const { name, figure } of weights) {
    if (names.has(name)) names.set(name, figure)
  }
  return { hosts, names }
}

// --- internal ---

function hostsOfRow(row: DataRow): string {
  const patterns = hostsOf[row.provider] ?? [new URL(row.baseUrl).hostname]
  for (const pattern of patterns) {
    if (!hostPattern.test(pattern)) throw new Error(`${row.provider}: ${pattern} is not a public host`)
  }
  return patterns.join(' ')
}

/** Labels with at most one `*` in one of them, but never in the last two; no address, no `localhost`. */
const hostPattern = /^(?=[^*]*\*?[^*]*$)(?:[a-z\d*-]+\.)*[a-z\d-]+\.[a-z]+$/

function smaller(known: Figure | undefined, figure: Figure): Figure {
  if (known === undefined || figure.tokens < known.tokens) return figure
  // Of two equal figures the total is the more careful one.
  return figure.tokens === known.tokens && figure.kind === 'total' ? figure : known
}

/** One vote per host; of those with equally many the smallest. */
function mostCommon(figures: readonly Figure[]): Figure {
  const votes = Map.groupBy(figures, ({ tokens, kind }) => `${tokens} ${kind}`)
  const mostVotes = Math.max(...[...votes.values()].map(({ length }) => length))
  return [...votes.values()]
    .filter(({ length }) => length === mostVotes)
    .flat()
    .reduce((known, figure) => smaller(known, figure))
}
