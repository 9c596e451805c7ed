import type { WindowTrouble } from './ask-json.ts'
import { decide, type Decision, type ProbeState } from './decide.ts'

/** For how long a figure is not asked again. Loaded sizes change when somebody starts the server anew. */
export const LOADED_FRESH_MS = 600_000

/** Catalogues change when a provider changes its mind. */
export const CATALOGUE_FRESH_MS = 3_600_000

/** A window and the probe that it came from. */
export type KnownWindow = NonNullable<Decision['found']>

/** What is known after a question, for how long that need not be asked again, and what went wrong. */
export function outcomeOf(
  before: KnownWindow | null,
  states: readonly ProbeState[],
): {
  readonly window: KnownWindow | null
  readonly freshMs: number
  readonly trouble: WindowTrouble | null
} {
  const { found } = decide(states)
  const window = found === null || isWeaker(found, before) ? (stillTrue(before, states) ?? found) : found
  return {
    window,
    freshMs: found === null || found !== window ? UNKNOWN_FRESH_MS : freshMsOf(found, states),
    trouble:
      found === null
        ? (states.find(({ reading }) => reading?.trouble != null)?.reading?.trouble ?? null)
        : null,
  }
}

// --- internal ---

/** Soon the model will be loaded and its server will know. */
const ASSUMED_FRESH_MS = 10_000

/** A failure may pass, and a model may be loaded. */
const UNKNOWN_FRESH_MS = 60_000

/**
 * Ollama and LM Studio unload a model after a few idle minutes and then know less of it than before: what it
 * was loaded with still is the best guess.
 */
function isWeaker({ figure }: KnownWindow, before: KnownWindow | null): boolean {
  if (before === null) return false
  if (figure.isAssumed) return !before.figure.isAssumed
  return figure.basis === 'catalogue' && before.figure.basis !== 'catalogue'
}

/** What was known, unless the probe that it came from has nothing to say any more. */
function stillTrue(before: KnownWindow | null, states: readonly ProbeState[]): KnownWindow | null {
  const state = states.find(({ probe }) => probe.name === before?.probe)
  return state?.reading?.use === 'useless' ? null : before
}

function freshMsOf({ figure, probe: name }: KnownWindow, states: readonly ProbeState[]): number {
  if (figure.isAssumed) return ASSUMED_FRESH_MS
  const isCatalogue = states.some(({ probe }) => probe.name === name && probe.isCatalogue)
  return isCatalogue || figure.basis === 'catalogue' ? CATALOGUE_FRESH_MS : LOADED_FRESH_MS
}
