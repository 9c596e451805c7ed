import { modelName } from './model-name.ts'
import type { WindowKind } from './pressure.ts'
import { windowTable } from './window-table.ts'

/** A model's window and where the figure comes from; the names stand in `x-foldgate-window`. */
export type ResolvedWindow = {
  readonly tokens: number
  readonly kind: WindowKind
  readonly source: 'config' | 'learnt' | 'server' | 'table' | 'default'
}

/**
 * The window of a model: the operator's figure, else what an overflow taught, else the built-in table, else the default. A
 * window that was learnt to be smaller than the operator's figure counts too: the upstream did refuse. `maxTokens` is a ceiling
 * over all of them.
 */
export function resolveWindow(known: {
  readonly configuredTokens: number | null
  readonly maxTokens: number | null
  readonly learnt: { readonly tokens: number; readonly kind: WindowKind } | null
  readonly model: string
}): ResolvedWindow {
  const window = uncappedWindow(known.configuredTokens, known.learnt, known.model)
  if (known.maxTokens === null || window.tokens <= known.maxTokens) return window
  return { ...window, tokens: known.maxTokens }
}

// --- internal ---

/** Taken where nothing is known of a model: what most of those in use in November 2026 have at least. */
const defaultWindowTokens = 128_000

function uncappedWindow(
  configuredTokens: number | null,
  learnt: { readonly tokens: number; readonly kind: WindowKind } | null,
  model: string,
): ResolvedWindow {
  if (learnt !== null && (configuredTokens === null || learnt.tokens < configuredTokens)) {
    return { tokens: learnt.tokens, kind: learnt.kind, source: 'learnt' }
  }
  if (configuredTokens !== null) return { tokens: configuredTokens, kind: 'total', source: 'config' }
  const name = modelName(model)
  const row = windowTable.find(({ pattern }) => pattern.test(name))
  if (row !== undefined) return { tokens: row.windowTokens, kind: row.kind, source: 'table' }
  return { tokens: defaultWindowTokens, kind: 'total', source: 'default' }
}
