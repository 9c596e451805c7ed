import type { KnownWindow } from './known-window.ts'
import type { ServerWindow } from './window-question.ts'

/** What is known of a model for an account, and when it is asked about again. */
export type Entry = {
  window: KnownWindow | null
  /** Whether its server said that it has not loaded it. */
  isUnloaded: boolean
  freshUntilMs: number
  refreshedAtMs: number
  isRefreshDue: boolean
  isAnswered: boolean
  /** Whether a request has waited for it in vain: it is not for a second one to wait. */
  isWaitOver: boolean
}

export function newEntry(): Entry {
  return {
    window: null,
    isUnloaded: false,
    freshUntilMs: 0,
    refreshedAtMs: Number.NEGATIVE_INFINITY,
    isRefreshDue: false,
    isAnswered: false,
    isWaitOver: false,
  }
}

/** The entry, with the refresh noted if this is one. */
export function refreshed(entry: Entry, isForced: boolean, nowMs: number): Entry {
  if (!isForced) return entry
  entry.refreshedAtMs = nowMs
  entry.isRefreshDue = false
  return entry
}

export function isRefreshAllowed({ refreshedAtMs }: Entry, nowMs: number): boolean {
  return nowMs - refreshedAtMs >= REFRESH_PAUSE_MS
}

/** The window as others are told of it. */
export function statedIn({ window, isUnloaded }: Entry): ServerWindow | null {
  if (window === null) return null
  const { tokens, kind, inputTokens, isAssumed, basis } = window.figure
  return { tokens, kind, inputTokens, isAssumed, isLoaded: basis === 'loaded' && !isUnloaded }
}

// --- internal ---

/** Between two refreshes of a model, in milliseconds: a run of refusals asks once. */
const REFRESH_PAUSE_MS = 5_000
