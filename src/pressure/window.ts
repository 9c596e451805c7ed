import type { WindowKind } from './pressure.ts'
import { tableWindow } from './window-table.ts'

/** A model's window and where the figure comes from; the names stand in `x-foldgate-window`. */
export type ResolvedWindow = {
  readonly tokens: number
  readonly kind: WindowKind
  readonly source: 'config' | 'learnt' | 'server' | 'table' | 'default'
}

type Figure = { readonly tokens: number; readonly kind: WindowKind }

export type WindowSources = {
  /** The operator's figure; null for `auto`. */
  readonly configuredTokens: number | null
  /** The operator's ceiling over whatever is found. */
  readonly maxTokens: number | null
  /** What a refusal taught, or a prompt that came out cut. */
  readonly learnt: Figure | null
  /** What the server says that it has loaded. */
  readonly server: Figure | null
  /** What the model goes by, the likeliest name first: the request's, and the one that its answers state. */
  readonly names: readonly string[]
  /** The upstream's host, whose own figures are the table's best; null where it is not known. */
  readonly host: string | null
}

/**
 * The window of a model: the operator's figure, else what a refusal taught, else what the server says, else the built-in table,
 * else the default. A window that was learnt to be smaller than the operator's figure counts too: the upstream did refuse.
 */
export function resolveWindow(sources: WindowSources): ResolvedWindow {
  const window = uncappedWindow(sources)
  const { maxTokens } = sources
  if (maxTokens === null || window.tokens <= maxTokens) return window
  return { ...window, tokens: maxTokens }
}

// --- internal ---

/** Taken where nothing is known of a model: what most of those in use in November 2026 have at least. */
const defaultWindowTokens = 128_000

function uncappedWindow(sources: WindowSources): ResolvedWindow {
  const { configuredTokens, learnt, server } = sources
  if (learnt !== null && (configuredTokens === null || learnt.tokens < configuredTokens)) {
    return { tokens: learnt.tokens, kind: learnt.kind, source: 'learnt' }
  }
  if (configuredTokens !== null) return { tokens: configuredTokens, kind: 'total', source: 'config' }
  if (server !== null) return { tokens: server.tokens, kind: server.kind, source: 'server' }
  const listed = listedWindow(sources)
  if (listed !== null) return { ...listed, source: 'table' }
  return { tokens: defaultWindowTokens, kind: 'total', source: 'default' }
}

function listedWindow({ names, host }: WindowSources): Figure | null {
  for (const name of names) {
    const window = tableWindow(name, host)
    if (window !== null) return window
  }
  return null
}
