import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { parse } from 'yaml'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { resolveProfiles } from '../../../src/profiles/resolve.ts'
import { rowsOf } from './rows.ts'

/** Profiles by the names of their files; a text that says what is wrong with them. */
export function readProfiles(paths: readonly string[]): ReadonlyMap<string, object> | string {
  const raws = new Map<string, object>()
  const taken = new Set(rowsOf(raws, 'chat-completions').map(({ name }) => name))
  try {
    for (const path of paths) {
      const raw: unknown = parse(readFileSync(path, 'utf8')) ?? {}
      if (!isObject(raw)) return `${path} is no profile.`
      const name = basename(path, extname(path))
      if (taken.has(name)) return `Two rows would be named ${name}.`
      taken.add(name)
      raws.set(name, raw)
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { profiles, problems } = resolveProfiles(raws)
  const [problem] = problems
  if (problem !== undefined)
    return `The profile ${problem.profile}: ${problem.path.join('.')}: ${problem.message}.`
  const given = new Map<string, object>(profiles)
  for (const name of profiles.keys()) if (!raws.has(name)) given.delete(name)
  return given
}

/** Every row is given the same room, whatever its profile says of the window. */
export function withWindow(profile: object, windowTokens: number): object {
  const { name: _name, ...keys } = { name: '', ...profile }
  const window = 'window' in keys && isObject(keys.window) ? keys.window : {}
  return { ...keys, window: { ...window, tokens: windowTokens } }
}
