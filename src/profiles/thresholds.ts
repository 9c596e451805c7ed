import type { Profile } from './schema.ts'

/** Where a compaction begins, as a ratio up to 1 or tokens above; where it is off, what has to fit still has to. */
export function triggerOf({ trigger }: Pick<Profile, 'trigger'>): number {
  return trigger === 'off' ? 1 : trigger
}

/**
 * How far a compaction goes, as a ratio up to 1 or tokens above. Where a profile says nothing it follows the
 * trigger, so that whoever moves one need not move both.
 */
export function targetOf(profile: Pick<Profile, 'trigger' | 'target'>): number {
  return profile.target ?? triggerOf(profile) * SHARE_OF_TRIGGER
}

// --- internal ---

/** Chosen by what a view still holds at what price: docs/decisions/defaults.md. */
const SHARE_OF_TRIGGER = 0.7
