import type { Profile } from './schema.ts'

/** Where a compaction begins, as a ratio up to 1 or tokens above. With `off` it is 1: the prompt still has to fit. */
export function triggerOf({ trigger }: Pick<Profile, 'trigger'>): number {
  return trigger === 'off' ? 1 : trigger
}

/**
 * How far a compaction goes, as a ratio up to 1 or tokens above. If the profile sets none it follows the
 * trigger.
 */
export function targetOf(profile: Pick<Profile, 'trigger' | 'target'>): number {
  return profile.target ?? triggerOf(profile) * SHARE_OF_TRIGGER
}

/** Whether models write summaries under a profile, not only recaps are made. */
export function hasSummaries({ strategy, summary }: Pick<Profile, 'strategy' | 'summary'>): boolean {
  if (summary.mode === 'off') return false
  return strategy === 'auto' ? summary.model !== null || summary.upstream !== null : strategy === 'summarize'
}

// --- internal ---

/** Chosen by what a view still holds at what price: docs/decisions/defaults.md. */
const SHARE_OF_TRIGGER = 0.7
