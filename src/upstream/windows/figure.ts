import type { WindowKind } from '../../overflow/classification.ts'

/** A window as a server states it. */
export type WindowFigure = {
  readonly tokens: number
  readonly kind: WindowKind
  readonly basis: Basis
  /** Nothing stated it: it is what this kind of server does unless told otherwise. */
  readonly isAssumed: boolean
}

/** `loaded`: in force now; `to-be-loaded`: in force once the model is loaded; `catalogue`: what a list says. */
export type Basis = 'loaded' | 'to-be-loaded' | 'catalogue'

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
  return { tokens, kind, basis, isAssumed: false }
}

export function isFigure(value: Stated): value is WindowFigure {
  return typeof value === 'object' && value !== null
}

/** The first that is a figure; where none is, what was wrong with them. */
export function firstFigure(...candidates: readonly Stated[]): Stated {
  return candidates.find(isFigure) ?? candidates.find((candidate) => candidate !== null) ?? null
}

/** The smallest of the figures; where none is, what was wrong with them. */
export function leastFigure(...candidates: readonly Stated[]): Stated {
  const figures = candidates.filter(isFigure).sort((one, other) => one.tokens - other.tokens)
  return figures[0] ?? firstFigure(...candidates)
}

/** What can be used of it. */
export function figureOf(value: Stated): WindowFigure | null {
  return isFigure(value) ? value : null
}

// --- internal ---

/** Smaller windows belong to no model that holds a conversation. */
const TOKENS_MIN = 512

/** Twice the largest window that anybody offers. */
const TOKENS_MAX = 20_000_000

/** NaN where the text is no number, which no window is; 0 where there is no text. */
function numberIn(text: string): number {
  return /^\s*[-+.\d]*\s*$/.test(text) ? Number(text) : Number.NaN
}
