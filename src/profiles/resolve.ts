import { isJsonObject } from '../json/json-value.ts'
import { type KeyProblem, validate, valueAt, wrongAt } from './issues.ts'
import { meantOr } from './near-miss.ts'
import { type Profile, profileKeys, profileSchema } from './schema.ts'

/** Profiles as their files spell them, by name: parsed YAML, not validated. */
export type RawProfiles = ReadonlyMap<string, unknown>

export type ProfileProblem = KeyProblem & {
  /** The profile whose file has to be mended. */
  readonly profile: string
}

/** A profile's name stands in a header and in a file's name. */
const profileName = /^[a-z0-9][a-z0-9._-]{0,63}$/i

/** The profile that all others extend unless they say otherwise, and that is used if none matches. */
export const defaultProfileName = 'default'

/**
 * Follows `extends`, merges and validates. Groups merge key by key, lists and single values replace;
 * `models` and `headers` are a profile's own. Without a profile named `default` the defaults make one. Profiles that have
 * problems are left out; all problems of all profiles are told, each once.
 */
export function resolveProfiles(raws: RawProfiles) {
  const all = raws.has(defaultProfileName) ? raws : new Map([...raws, [defaultProfileName, {}]])
  const profiles = new Map<string, Profile>()
  const problems: ProfileProblem[] = []
  const sound = new Set<string>()
  for (const [name, raw] of all) {
    const own = [
      ...nameProblems(name),
      ...(validate(profileKeys, raw, { otherFile }).problems ?? []),
      ...parentProblems(name, all),
    ]
    for (const problem of own) problems.push({ ...problem, profile: name })
    if (own.length === 0) sound.add(name)
  }
  for (const name of all.keys()) {
    const line = lineage(name, all)
    // A profile that extends a broken one is left out in silence: the problem is told at the broken one.
    if (!line.every((ancestor) => sound.has(ancestor))) continue
    const merged = line.toReversed().reduce<unknown>((base, each) => inherit(base, all.get(each)), {})
    const { value, problems: clashes } = validate(profileSchema, merged, { otherFile })
    if (value !== null) profiles.set(name, { ...value, name })
    for (const clash of clashes ?? []) {
      const path = ownPath(all.get(name), clash.path)
      if (path !== null) problems.push({ ...clash, path, profile: name })
    }
  }
  return { profiles, problems }
}

/** Two values as one: groups merge key by key, of anything else the second holds. */
export function mergeDeep(base: unknown, over: unknown): unknown {
  if (!isJsonObject(base) || !isJsonObject(over)) return over
  const merged = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(over)) {
    merged.set(key, merged.has(key) ? mergeDeep(merged.get(key), value) : value)
  }
  return Object.fromEntries(merged)
}

// --- internal ---

/** Keys that some write into a profile. */
const otherFile = {
  name: 'foldgate.yaml, not in a profile',
  keys: 'host port profiles log_level upstreams client_keys scope cors hosts limits drain store admin archive usage ollama prices'.split(
    ' ',
  ),
}

function nameProblems(name: string): readonly KeyProblem[] {
  if (profileName.test(name)) return []
  const message = `the profile's name ${JSON.stringify(name)} must be 1 to 64 letters, digits, ".", "_" or "-"`
  return [wrongAt([], message, 'rename the file')]
}

function parentProblems(name: string, raws: RawProfiles): readonly KeyProblem[] {
  const parent = parentOf(name, raws)
  if (parent === null) return []
  if (!raws.has(parent)) {
    const message = `"extends" names the profile ${JSON.stringify(parent)}, which does not exist`
    const known = `known profiles: ${[...raws.keys()].sort().join(', ')}`
    return [wrongAt(['extends'], message, meantOr(parent, raws.keys(), known))]
  }
  const line = lineage(name, raws)
  const last = line.at(-1)
  const next = last === undefined ? null : parentOf(last, raws)
  // Only the profiles on the circle are told, not those that lead into it.
  if (next !== name) return []
  const message = `"extends" goes in a circle: ${[...line, name].join(' -> ')}`
  return [wrongAt(['extends'], message, 'end the circle with extends: null')]
}

/**
 * Where a clash between trigger and target is told in this profile: at the one that it sets itself; null if it inherits
 * both, since it is told at the parent then.
 */
function ownPath(raw: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] | null {
  return [path, ['trigger'], ['target']].find((each) => valueAt(raw, each) !== undefined) ?? null
}

/** The profile and its ancestors, nearest first, up to the root or to where a circle closes. */
function lineage(name: string, raws: RawProfiles): readonly string[] {
  const line = new Set<string>()
  for (let next: string | null = name; next !== null && raws.has(next) && !line.has(next);) {
    line.add(next)
    next = parentOf(next, raws)
  }
  return [...line]
}

function parentOf(name: string, raws: RawProfiles): string | null {
  const raw = raws.get(name)
  const parent = isJsonObject(raw) ? raw['extends'] : undefined
  // The template says `extends: default`; in the default profile itself that is the schema's defaults.
  if (name === defaultProfileName && (parent === undefined || parent === defaultProfileName)) return null
  if (parent === undefined) return defaultProfileName
  return typeof parent === 'string' ? parent : null
}

function inherit(parent: unknown, child: unknown): unknown {
  if (!isJsonObject(parent)) return child
  const { models: _models, headers: _headers, extends: _extends, ...inherited } = parent
  return mergeDeep(inherited, child)
}
