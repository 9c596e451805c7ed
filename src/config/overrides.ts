import { resolve } from 'node:path'
import type { Environment } from './keys.ts'
import { type Flag, flags, type FlagValues } from './flags.ts'

/** A setting that comes from a flag or an environment variable. */
export type Override = {
  /** `--port` or `FOLDGATE_PORT`. */
  readonly source: string
  readonly path: readonly string[]
  readonly value: string | number
}

/** The value of a flag, else of its environment variable, with where it came from; null where neither is set. */
export function flagOrVariable(
  name: Flag['name'],
  values: FlagValues,
  env: Environment,
): { readonly source: string; readonly text: string } | null {
  const flag: Flag | undefined = flags.find((each) => each.name === name)
  if (flag === undefined) return null
  const given = Object.entries(values).find(([each]) => each === name)?.[1]
  if (typeof given === 'string') return { source: `--${name}`, text: given }
  // An empty variable is how compose files spell one that is not set.
  const text = flag.environment === null ? undefined : env[flag.environment]
  if (flag.environment === null || text === undefined || text.trim() === '') return null
  // Nobody said it: it tells where a Service is that has this name.
  if (flag.numeric && serviceLink.test(text)) return null
  return { source: flag.environment, text: text.trim() }
}

/** All settings that flags and environment variables set; flags go first. Paths are relative to `cwd`. */
export function readOverrides(values: FlagValues, env: Environment, cwd: string): readonly Override[] {
  return flags.flatMap((flag): Override[] => {
    const given = flag.setting === null ? null : flagOrVariable(flag.name, values, env)
    if (flag.setting === null || given === null) return []
    const { source, text } = given
    if (flag.numeric && /^\d{1,9}$/.test(text)) return [{ source, path: flag.setting, value: Number(text) }]
    if (flag.name === 'profiles') return [{ source, path: flag.setting, value: resolve(cwd, text) }]
    if (flag.name === 'store') return [{ source, path: flag.setting, value: resolveStoreUrl(cwd, text) }]
    return [{ source, path: flag.setting, value: text }]
  })
}

/** Makes the path of a `sqlite:PATH` absolute; other addresses stay as they are. */
export function resolveStoreUrl(directory: string, url: string): string {
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  return path === undefined || path === ':memory:' ? url : `sqlite:${resolve(directory, path)}`
}

/** Lays overrides over the content of foldgate.yaml. What is no group there stays, for validation to tell. */
export function applyOverrides(raw: unknown, overrides: readonly Override[]): unknown {
  return overrides.reduce((value, { path, value: over }) => setAt(value, path, over), raw)
}

// --- internal ---

/** What Kubernetes sets in every pod for the port of a Service: `FOLDGATE_PORT=tcp://10.0.0.1:3653`. */
const serviceLink = /^\s*(?:tcp|udp|sctp):\/\//

function setAt(raw: unknown, path: readonly string[], value: string | number): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (raw !== undefined && (typeof raw !== 'object' || raw === null || Array.isArray(raw))) return raw
  const entries = new Map<string, unknown>(Object.entries(raw ?? {}))
  entries.set(key, setAt(entries.get(key), rest, value))
  return Object.fromEntries(entries)
}
