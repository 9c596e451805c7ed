import type { StatedWindow } from '../overflow/classification.ts'
import { budgetOf, type Reserve, type WindowKind } from '../tokens/budget.ts'
import type { Belief } from './lifetimes.ts'
import { tableWindow } from './table/window-table.ts'

/** A model's window and where the figure comes from; the names stand in `x-foldgate-window`. */
export type ResolvedWindow = {
  readonly tokens: number
  readonly kind: WindowKind
  readonly source: 'config' | 'request' | 'learnt' | 'server' | 'table' | 'default'
  /** The operator's figure where a refusal has shown that it is too large; null otherwise. */
  readonly overruledTokens: number | null
}

export type WindowSources = {
  /** The operator's figure; null for `auto`. */
  readonly configuredTokens: number | null
  /** The window that the request has its server give the model; null, or left out, if it does not say. */
  readonly requestTokens?: number | null
  /** The operator's ceiling over whatever is found. */
  readonly maxTokens: number | null
  /** What refusals and cut prompts taught, under `from`; null where nothing did. */
  readonly learnt: Belief<StatedWindow> | null
  /** What only this conversation's refusals without numbers suggest; null where nothing does. */
  readonly suggestedTokens: number | null
  /** The largest prompt that this model answered of late; 0 where none was. */
  readonly answeredTokens: number
  /** What the server says; null where it says nothing. */
  readonly server: ServerFigure | null
  /** What the model goes by, the likeliest name first: the request's, and the one that its answers state. */
  readonly names: readonly string[]
  /** The upstream's host, whose own figures are the table's best; null where it is not known. */
  readonly host: string | null
  /** What the request keeps free for the reply, in tokens: of two windows the one that leaves the prompt less binds. */
  readonly reserve: Reserve
}

export type ServerFigure = StatedWindow & {
  /** Whether it runs the model with it now; else it is what a catalogue says. */
  readonly isLoaded: boolean
  /** Since when it says so after it said something else, in the clock's milliseconds; 0 if it never did. */
  readonly sinceMs: number
}

/**
 * The window of a model, by rank. What a refusal said of itself with numbers is a fact, and a ceiling over everything. Below
 * that: the operator's figure, what the request has its model loaded with, what the server has loaded, what a catalogue or the
 * built-in table says, an assumption. What is only inferred counts neither against the operator's nor against what is loaded, and
 * never below a prompt that was answered. Against what the request asks for it does, and what is loaded then goes before it.
 */
export function resolveWindow(sources: WindowSources): ResolvedWindow {
  const { learnt, reserve, server, configuredTokens, maxTokens, answeredTokens } = sources
  const believed = believedWindow(sources)
  const isAskedFor = (sources.requestTokens ?? null) !== null
  const isSure = configuredTokens !== null || (server?.isLoaded === true && !isAskedFor)
  let window = believed
  if (learnt?.from === 'refusal' && !isOutdated(learnt, sources)) {
    if (!isSure || budgetOf(learnt.value, reserve) < budgetOf(believed, reserve))
      window = { ...learnt.value, source: 'learnt', overruledTokens: configuredTokens }
  } else if (!isSure) {
    const suggested = { tokens: sources.suggestedTokens ?? Infinity, kind: 'input' as const }
    const { tokens, kind } =
      learnt !== null && learnt.value.tokens <= suggested.tokens ? learnt.value : suggested
    const inferredTokens = Math.max(tokens, answeredTokens)
    if (inferredTokens < believed.tokens)
      window = loadedBelow(inferredTokens, sources) ?? {
        ...believed,
        tokens: inferredTokens,
        kind,
        source: 'learnt',
      }
  }
  return maxTokens === null || window.tokens <= maxTokens ? window : { ...window, tokens: maxTokens }
}

// --- internal ---

/** What the server has loaded, where the request has turned out to get less than it asks for: that is no guess. */
function loadedBelow(tokens: number, { server, answeredTokens }: WindowSources): ResolvedWindow | null {
  if (server?.isLoaded !== true || server.tokens > tokens || server.tokens < answeredTokens) return null
  return { tokens: server.tokens, kind: server.kind, source: 'server', overruledTokens: null }
}

/** Taken where nothing is known of a model: what most of those in use in November 2026 have at least. */
const defaultWindowTokens = 128_000

function believedWindow(sources: WindowSources): ResolvedWindow {
  const { configuredTokens, requestTokens = null, server, names, host } = sources
  const overruledTokens = null
  // What a request has its model loaded with counts unless the operator has set less.
  if (configuredTokens !== null && configuredTokens <= (requestTokens ?? Infinity))
    return { tokens: configuredTokens, kind: 'total', source: 'config', overruledTokens }
  if (requestTokens !== null)
    return { tokens: requestTokens, kind: 'total', source: 'request', overruledTokens }
  if (server !== null) return { tokens: server.tokens, kind: server.kind, source: 'server', overruledTokens }
  for (const name of names) {
    const window = tableWindow(name, host)
    if (window !== null) return { ...window, source: 'table', overruledTokens }
  }
  return { tokens: defaultWindowTokens, kind: 'total', source: 'default', overruledTokens }
}

/** The server has been started anew since, with a larger window: what it states has changed after the refusal. */
function isOutdated(learnt: Belief<StatedWindow>, { configuredTokens, server }: WindowSources): boolean {
  if (configuredTokens !== null || server === null || !server.isLoaded) return false
  return server.sinceMs > learnt.sinceMs && server.tokens > learnt.value.tokens
}
