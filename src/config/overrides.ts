import { resolve } from 'node:path'
import { nearest } from '../profiles/near-miss.ts'
import { type FlagName, flags, type FlagValues } from './flags.ts'
import type { Environment, LiveKey } from './api-keys.ts'

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

/**
 * Variables that begin as Foldgate's own do and are none of them, where it is plain what was meant: a line for each, without
 * its value, at the start and by `foldgate check`. Nothing refuses to start for one: others may have set it.
 */
export function strayVariables(env: Environment, settings: VariableHolders): readonly string[] {
  const { upstreams, client_keys, admin, store } = settings
  const keys = [...upstreams.values(), ...client_keys].map(({ key }) => key?.source.variable)
  const used = new Set<string | null | undefined>([...keys, admin.token_env, store.encrypt_key_env])
  const strays = Object.keys(env).filter((name) => name.startsWith('FOLDGATE_') && !used.has(name))
  return strays.sort().flatMap((name) => {
    const meant = ownVariableLike(name)
    return meant === null || meant === name
      ? []
      : [`the variable ${name} is none of Foldgate's: did you mean ${meant}?`]
  })
}

// --- internal ---

/** The settings that name environment variables. */
type VariableHolders = {
  readonly upstreams: ReadonlyMap<string, { readonly key: LiveKey | null }>
  readonly client_keys: readonly { readonly key: LiveKey }[]
  readonly admin: { readonly token_env: string | null }
  readonly store: { readonly encrypt_key_env: string | null }
}

/** The variable of Foldgate's own that was most likely meant: the prefix, which all share, is not compared. */
function ownVariableLike(name: string): string | null {
  const word = name.replace('FOLDGATE_', '').toLowerCase()
  // How other programs call the address of what they forward to.
  if (/^(?:(?:base_)?url|api_base|backend|target)$/.test(word)) return 'FOLDGATE_UPSTREAM'
  // What Kubernetes sets in every pod for a Service of this name: `FOLDGATE_SERVICE_HOST`, `FOLDGATE_PORT_3653_TCP_ADDR`.
  if (/(?:^|_)(?:service_(?:host|port)|port_\d+)(?:_|$)/.test(word)) return null
  const words = flags.flatMap(({ environment }) => environment?.replace('FOLDGATE_', '').toLowerCase() ?? [])
  const near = nearest(word, words)
  return near === null ? null : `FOLDGATE_${near.toUpperCase()}`
}

/** What Kubernetes sets in every pod for the port of a Service: `FOLDGATE_PORT=tcp://10.0.0.1:3653`. */
const serviceLink = /^\s*(?:tcp|udp|sctp):\/\//

function setAt(raw: unknown, path: readonly string[], value: string | number): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  const group = raw === undefined ? {} : raw
  if (typeof group !== 'object' || group === null || Array.isArray(group)) return raw
  return { ...group, [key]: setAt(Reflect.get(group, key), rest, value) }
}
