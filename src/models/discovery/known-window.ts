import type { WindowTrouble } from './ask-json.ts'
import { decide, type ProbeState } from './decide.ts'
import type { WindowFigure } from './figure.ts'
import type { ModelList } from './model-list.ts'
import { ASSUMED_FRESH_MS, FIGURE_LIFE_MS, FRESH_MS, MISSES_MAX, UNKNOWN_FRESH_MS } from './trust.ts'

/** A window, the probe that it came from, and how long ago that said so. */
export type KnownWindow = {
  readonly figure: WindowFigure
  readonly probe: string
  readonly confirmedAtMs: number
  /** How many answers of this probe in a row stated nothing since. */
  readonly misses: number
  /** The list that was the last of them: it is kept for an hour, and read again for each request. */
  readonly missedIn: ModelList | null
}

/** A figure, and the probe that has just said it. */
type NewFigure = Pick<KnownWindow, 'figure' | 'probe'>

export type Outcome = {
  readonly window: KnownWindow | null
  /** Whether the server says that it has not loaded the model; null where it says nothing of that. */
  readonly isUnloaded: boolean | null
  /** For how long this need not be asked again. */
  readonly freshMs: number
  readonly trouble: WindowTrouble | null
}

/** What is known of a model after its server was asked. */
export function outcomeOf(before: KnownWindow | null, states: readonly ProbeState[], nowMs: number): Outcome {
  const { found } = decide(states)
  const old = stillHolding(before, states, nowMs)
  const isOld = old !== null && (found === null || isWeaker(found, old))
  return {
    window: isOld ? old : found === null ? null : newlyKnown(found, nowMs),
    isUnloaded: isUnloaded(found?.figure ?? null, states),
    freshMs: isOld || found === null ? UNKNOWN_FRESH_MS : freshMsOf(found.figure),
    trouble:
      found === null
        ? (states.find(({ reading }) => reading?.trouble != null)?.reading?.trouble ?? null)
        : null,
  }
}

/** What a probe has just said. */
export function newlyKnown(found: NewFigure, nowMs: number): KnownWindow {
  return { ...found, confirmedAtMs: nowMs, misses: 0, missedIn: null }
}

/** Whether a window is too old to be believed. */
export function hasEnded({ confirmedAtMs }: KnownWindow, nowMs: number): boolean {
  return nowMs - confirmedAtMs >= FIGURE_LIFE_MS
}

// --- internal ---

/**
 * Ollama and LM Studio unload a model after a few idle minutes and then know less of it than before: what it
 * was loaded with still is the best guess. But what a probe says now goes before what the same probe said once.
 */
function isWeaker(found: NewFigure, before: KnownWindow): boolean {
  if (found.figure.isAssumed) return !before.figure.isAssumed
  const isCatalogue = found.figure.basis === 'catalogue' && before.figure.basis !== 'catalogue'
  return isCatalogue && found.probe !== before.probe
}

/** What was known, unless it is too old or the probe that it came from has nothing to say any more. */
function stillHolding(
  before: KnownWindow | null,
  states: readonly ProbeState[],
  nowMs: number,
): KnownWindow | null {
  if (before === null || hasEnded(before, nowMs)) return null
  const reading = states.find(({ probe }) => probe.name === before.probe)?.reading
  if (reading == null || reading.use === 'failed' || reading.use === 'denied') return before
  if (reading.use === 'useless') return null
  if (reading.figure !== null || reading.isUnloaded) return { ...before, misses: 0, missedIn: null }
  if (reading.list !== null && reading.list === before.missedIn) return before
  const misses = before.misses + 1
  return misses >= MISSES_MAX ? null : { ...before, misses, missedIn: reading.list }
}

function isUnloaded(found: WindowFigure | null, states: readonly ProbeState[]): boolean | null {
  if (found?.basis === 'loaded') return false
  return states.some(({ reading }) => reading?.isUnloaded === true) ? true : null
}

function freshMsOf({ isAssumed, basis }: WindowFigure): number {
  return isAssumed ? ASSUMED_FRESH_MS : FRESH_MS[basis]
}
