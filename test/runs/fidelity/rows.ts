import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { parse } from 'yaml'
import { resolveProfiles } from '../../../src/profiles/resolve.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { refuse } from '../harness/command.ts'
import type { RunDialect } from '../harness/lived.ts'
import { clearing, everything, headAndSuffix, middleOut, newestSuffix, type Policy } from './policies.ts'

/** A row of the table: a Foldgate with this profile, or a policy of the client's own. */
export type Row =
  | { readonly kind: 'foldgate'; readonly name: string; readonly profile: object }
  | { readonly kind: 'policy'; readonly name: string }

/** In the order of the table. */
export const policies: ReadonlyMap<string, Policy> = new Map([
  ['everything', everything],
  ['newest suffix', newestSuffix],
  ['head, newest suffix', headAndSuffix],
  ['middle out', middleOut],
  ['clearing', clearing],
])

/**
 * The policies, then Foldgate's strategies, then the profiles that were given. In other APIs than chat completions those of
 * Foldgate's without summaries: clients' policies and the stand-in for a summary model speak chat completions.
 */
export function rowsOf(profiles: ReadonlyMap<string, object>, dialect: RunDialect): readonly Row[] {
  const given: readonly (readonly [string, object])[] = [
    ['truncate', { strategy: 'truncate' }],
    ['summarize', { strategy: 'summarize' }],
    ...profiles,
  ]
  const foldgates = given.map(([name, profile]) => ({ kind: 'foldgate' as const, name, profile }))
  if (dialect !== 'chat-completions') return foldgates.filter(({ profile }) => !wantsSummaries(profile))
  return [...[...policies.keys()].map((name) => ({ kind: 'policy' as const, name })), ...foldgates]
}

/** Profiles by the names of their files. */
export function readProfiles(paths: readonly string[]): ReadonlyMap<string, object> {
  const raws = new Map<string, object>()
  const taken = new Set(rowsOf(raws, 'chat-completions').map(({ name }) => name))
  for (const path of paths) {
    const raw = parsedFile(path)
    if (!isObject(raw)) refuse(`${path} is no profile.`)
    const name = basename(path, extname(path))
    if (taken.has(name)) refuse(`Two rows would be named ${name}.`)
    taken.add(name)
    raws.set(name, raw)
  }
  const { profiles, problems } = resolveProfiles(raws)
  for (const { profile, path, message } of problems)
    refuse(`The profile ${profile}: ${path.join('.')}: ${message}.`)
  return new Map([...profiles].filter(([name]) => raws.has(name)))
}

/** Every row is given the same room, whatever its profile says of the window. */
export function withWindow(profile: object, windowTokens: number): object {
  const { name: _name, ...keys } = { name: '', ...profile }
  const window = 'window' in keys && isObject(keys.window) ? keys.window : {}
  return { ...keys, window: { ...window, tokens: windowTokens } }
}

/** Whether a profile asks for summaries, as it says it: by its strategy, or by naming who is to write them. */
export function wantsSummaries(profile: object): boolean {
  const strategy = 'strategy' in profile ? profile.strategy : 'auto'
  const summary = 'summary' in profile && isObject(profile.summary) ? profile.summary : {}
  const hasWriter = (summary['upstream'] ?? summary['model'] ?? null) !== null
  return strategy === 'summarize' || (strategy === 'auto' && hasWriter)
}

// --- internal ---

function parsedFile(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}
