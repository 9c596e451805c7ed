import { profileSchema, type Profile } from '../profiles/schema.ts'
import { settingsSchema } from './settings-schema.ts'
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
  for (const [key, value] of Object.entries(adminDefaults)) {
    if (valueAt(settings.admin, key) !== value) names.push(`admin.${key}`)
  }
  for (const profile of profiles.values()) {
    names.push(...waitingKeys.filter((key) => isSet(profile, key)).map((key) => `${profile.name}: ${key}`))
  }
  return names
}

// --- internal ---

const defaults = profileSchema.parse({})

/** Whole groups of a profile that wait for their time, and single keys. */
const waitingKeys: readonly string[] = [
  'strategy',
  'repair',
  ...(['limit', 'summary', 'recall', 'continuation'] as const).flatMap((group) =>
    Object.keys(defaults[group]).map((key) => `${group}.${key}`),
  ),
]

/** The admin listener is not there yet; its settings in their defaults say nothing. */
const adminDefaults = settingsSchema.parse({}).admin

function isSet(profile: Profile, key: string): boolean {
  // Without summaries every strategy but one does the same.
  if (key === 'strategy') return profile.strategy === 'summarize'
  return !isEqual(valueAt(profile, key), valueAt(defaults, key))
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function valueAt(object: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    if (typeof value !== 'object' || value === null) return undefined
    return Object.entries(value).find(([key]) => key === name)?.[1]
  }, object)
}
