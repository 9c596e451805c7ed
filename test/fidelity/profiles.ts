import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { parse } from 'yaml'
import { isObject } from '../../src/demo/wire-message.ts'
import { resolveProfiles } from '../../src/profiles/resolve.ts'

/** Profiles by the names of their files; a text that says what is wrong with them. */
export function readProfiles(paths: readonly string[]): ReadonlyMap<string, object> | string {
  const raws = new Map<string, object>()
  try {
    for (const path of paths) {
      const raw: unknown = parse(readFileSync(path, 'utf8')) ?? {}
      if (!isObject(raw)) return `${path} is no profile.`
      raws.set(basename(path, extname(path)), raw)
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { profiles, problems } = resolveProfiles(raws)
  const [problem] = problems
  if (problem !== undefined)
    return `The profile ${problem.profile}: ${problem.path.join('.')}: ${problem.message}.`
  return new Map(
    [...profiles].flatMap(([name, { name: _, ...profile }]) =>
      raws.has(name) ? [[name, profile] as const] : [],
    ),
  )
}

/** Every row is given the same room, whatever its profile says of the window. */
export function withWindow(profile: object, windowTokens: number): object {
  const window = 'window' in profile && isObject(profile.window) ? profile.window : {}
  return { template: 'lenient', ...profile, window: { ...window, tokens: windowTokens } }
}
