import { resolve } from 'node:path'
import { type FlagName, flags, type FlagValues } from './flags.ts'
import type { Environment } from './api-keys.ts'
import { isJsonObject } from '../json/json-value.ts'

/** A setting that comes from a flag or an environment variable. */
export type Override = {
  /** `--port` or `FOLDGATE_PORT`. */
  readonly source: string
  readonly path: readonly string[]
  readonly value: string | number
}

/** The value of a flag, else of its environment variable, with where it came from; null if neither is set. */
export function flagOrVariable(
  name: FlagName,
  values: FlagValues,
  env: Environment,
): { readonly source: string; readonly text: string } | null {
  const flag = flags.find((each) => each.name === name)
  const given = values[name]
  if (typeof given === 'string') return { source: `--${name}`, text: given }
  // An empty variable is how compose files spell one that is not set.
  const text = flag?.environment === undefined ? undefined : env[flag.environment]
  if (flag?.environment === undefined || text === undefined || text.trim() === '') return null
  // Kubernetes set it, for a Service of this name.
  if (flag.numeric === true && serviceLink.test(text)) return null
  return { source: flag.environment, text: text.trim() }
}

/** All settings that flags and environment variables set; flags go first. Paths are relative to `cwd`. */
export function readOverrides(values: FlagValues, env: Environment, cwd: string): readonly Override[] {
  return flags.flatMap(({ name, setting: path, numeric }): Override[] => {
    const given = path === undefined ? null : flagOrVariable(name, values, env)
    if (path === undefined || given === null) return []
    const { source, text } = given
    if (numeric === true && /^\d{1,9}$/.test(text)) return [{ source, path, value: Number(text) }]
    if (name === 'profiles') return [{ source, path, value: resolve(cwd, text) }]
    return [{ source, path, value: name === 'store' ? resolveStoreUrl(cwd, text) : text }]
  })
}

/** Makes the path of a `sqlite:PATH` absolute; other addresses stay as they are. */
export function resolveStoreUrl(directory: string, url: string): string {
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  return path === undefined || path === ':memory:' ? url : `sqlite:${resolve(directory, path)}`
}

/** Lays overrides over the content of foldgate.yaml. A value that should be a group stays: validation tells it. */
export function applyOverrides(raw: unknown, overrides: readonly Override[]): unknown {
  return overrides.reduce((value, { path, value: over }) => setAt(value, path, over), raw)
}

// --- internal ---

/** What Kubernetes sets in every pod for the port of a Service: `FOLDGATE_PORT=tcp://10.0.0.1:3653`. */
const serviceLink = /^\s*(?:tcp|udp|sctp):\/\//

function setAt(raw: unknown, path: readonly string[], value: string | number): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  const group = raw === undefined ? {} : raw
  return isJsonObject(group) ? { ...group, [key]: setAt(group[key], rest, value) } : raw
}
