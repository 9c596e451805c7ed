import { z } from 'zod'
import { notYet } from '../profiles/not-yet.ts'
import { profileSchema, type Profile } from '../profiles/schema.ts'
import { settingsSchema } from './settings-schema.ts'
import type { Settings } from './settings.ts'

/**
 * Settings and profile keys that are set and that this version reads but does not act on, as they would be
 * written: those whose description says so. Told at the start, so that nobody relies on what is not there yet.
 */
export function withoutEffect(settings: Settings, profiles: ReadonlyMap<string, Profile>): readonly string[] {
  const names = waitingKeysSet(settingsSchema, settings)
  for (const profile of profiles.values()) {
    names.push(...waitingKeysSet(profileSchema, profile).map((key) => `${profile.name}: ${key}`))
  }
  return names
}

// --- internal ---

type Node = z.core.JSONSchema.BaseSchema

function waitingKeysSet(schema: z.ZodType, values: unknown): string[] {
  const defaults = schema.parse({})
  return waitingKeys(z.toJSONSchema(schema, { io: 'input' }), '', false).filter(
    (key) => !isEqual(valueAt(values, key), valueAt(defaults, key)),
  )
}

function waitingKeys(node: Node, prefix: string, isInWaiting: boolean): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    if (typeof child === 'boolean') return []
    const waits = isInWaiting || child.description?.startsWith(notYet) === true
    const path = prefix + name
    if (child.properties !== undefined) return waitingKeys(child, `${path}.`, waits)
    return waits ? [path] : []
  })
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
