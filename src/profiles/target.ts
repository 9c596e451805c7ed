import type { Profile } from './schema.ts'

/**
 * How far a stride goes, as a ratio up to 1 or tokens above. Where a profile says nothing it follows the
 * trigger, so that whoever moves one need not move both.
 */
export function targetOf({ trigger, target }: Pick<Profile, 'trigger' | 'target'>): number {
  return target ?? (trigger === 'off' ? 1 : trigger) * SHARE_OF_TRIGGER
}

// --- internal ---

/** Chosen by what a view still holds at what price: docs/decisions/defaults.md. */
const SHARE_OF_TRIGGER = 0.7
