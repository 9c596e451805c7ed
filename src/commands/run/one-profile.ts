import type { Profile } from '../../profiles/schema.ts'

/**
 * The profiles, of which this one is everybody's who names none: what the others are chosen by is left out. Null: all as
 * they are.
 */
export function withOneForAll(
  profiles: ReadonlyMap<string, Profile>,
  name: string | null,
): ReadonlyMap<string, Profile> {
  if (name === null) return profiles
  return new Map(
    [...profiles].map(([each, profile]) => [
      each,
      { ...profile, headers: {}, models: each === name ? ['*'] : [] },
    ]),
  )
}
