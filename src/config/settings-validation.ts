import type { z } from 'zod'
import { describeIssues, type KeyProblem } from '../profiles/issues.ts'
import { knownKeys } from '../profiles/known-keys.ts'
import { settingsRules } from './settings-rules.ts'
import { type SettingsFile, settingsSchema } from './settings-schema.ts'

/**
 * Validates the content of foldgate.yaml. `settings` is always there: what is wrong was left out of it, so
 * that everything else can be checked too and all problems are told at once.
 */
export function validateSettings(raw: unknown): {
  readonly settings: SettingsFile
  readonly problems: readonly KeyProblem[]
} {
  const parsed = settingsSchema.safeParse(raw)
  if (parsed.success) return { settings: parsed.data, problems: settingsRules(parsed.data) }
  const { issues } = parsed.error
  const problems = describeIssues(issues, { raw, keys, isSecret })
  const settings = parseSoundPart(raw, issues)
  const broken = problems.map(({ path }) => path)
  const rules = settingsRules(settings).filter(
    ({ path, given = [] }) => !broken.some((each) => [path, ...given].some((base) => isUnder(each, base))),
  )
  return { settings, problems: [...problems, ...rules] }
}

// --- internal ---

const keys = knownKeys(settingsSchema)

/** Settings whose values may be a credential, by right or by mistake. */
const secretKeys = new Set<PropertyKey>([
  'url',
  'headers',
  'api_key_env',
  'api_key_file',
  'key_env',
  'key_file',
  'token_env',
  'encrypt_key_env',
])

function isSecret(path: readonly PropertyKey[]): boolean {
  return path.some((step) => secretKeys.has(step))
}

/** How deep settings are nested: after so many widenings nothing is left that could be wrong. */
const widenedMax = 4

/** Leaves out what is wrong, where need be with more and more around it, such as an entry without its name. */
function parseSoundPart(raw: unknown, issues: readonly z.core.$ZodIssue[]): SettingsFile {
  let sound = raw
  let wrong = issues
  for (let widened = 0; widened < widenedMax; widened++) {
    const paths = wrong.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
    )
    sound = without(
      sound,
      paths.map((path) => path.slice(0, Math.max(1, path.length - widened))),
    )
    const parsed = settingsSchema.safeParse(sound)
    if (parsed.success) return parsed.data
    wrong = parsed.error.issues
  }
  return settingsSchema.parse({})
}

/** A copy without what stands at these paths. A list that loses an entry goes as a whole: entries have places. */
function without(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const isGone = paths.some((path) => path.length === 0)
  if (isGone || typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const pathsBelow = Map.groupBy(paths, ([step]) => step)
  const kept = Object.entries(value).flatMap(([key, child]): [string, unknown][] => {
    const below = pathsBelow.get(key)
    if (below === undefined) return [[key, child]]
    const left = without(
      child,
      below.map((path) => path.slice(1)),
    )
    return left === undefined ? [] : [[key, left]]
  })
  return Object.fromEntries(kept)
}

function isUnder(path: readonly PropertyKey[], base: readonly PropertyKey[]): boolean {
  return base.every((step, depth) => path[depth] === step)
}
