import type { Profile } from '../profiles/schema.ts'
import { profileSchema } from '../profiles/schema.ts'
import type { Settings } from './settings.ts'

/**
 * Settings and profile keys that are set and that this version reads but does not act on, as they would be
 * written. Told at the start, so that nobody relies on what is not there yet.
 */
export function withoutEffect(settings: Settings, profiles: ReadonlyMap<string, Profile>): readonly string[] {
  const names: string[] = []
  if (/^rediss?:/.test(settings.store.url) || /^sqlite:.+/.test(settings.store.url)) names.push('store.url')
  if (settings.store.encrypt_key_env !== null) names.push('store.encrypt_key_env')
  if (settings.archive.dir !== null) names.push('archive.dir')
  if (settings.usage.in_streams !== 'rewritten') names.push('usage.in_streams')
  if (Object.keys(settings.prices).length > 0) names.push('prices')
  for (const profile of profiles.values()) {
    names.push(...waitingKeys.filter((key) => isSet(profile, key)).map((key) => `${profile.name}: ${key}`))
  }
  return names
}

// --- internal ---

const waitingKeys = [
  'limit.turns',
  'limit.messages',
  'strategy',
  'repair',
  'summary.upstream',
  'summary.model',
  'summary.mode',
  'recall.enabled',
  'continuation.max',
] as const

const defaults: unknown = profileSchema.parse({})

function isSet(profile: Profile, key: string): boolean {
  // Without summaries every strategy but one does the same.
  if (key === 'strategy') return profile.strategy === 'summarize'
  return valueAt(profile, key) !== valueAt(defaults, key)
}

function valueAt(object: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    if (typeof value !== 'object' || value === null) return undefined
    return Object.entries(value).find(([key]) => key === name)?.[1]
  }, object)
}
