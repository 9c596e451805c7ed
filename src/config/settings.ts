import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type KeyProblem, spellPath, validate, wrongAt } from '../profiles/issues.ts'
import type { FlagValues } from './flags.ts'
import { type Environment, keyClashes, type KeySource, type LiveKey, readLiveKey } from './api-keys.ts'
import { applyOverrides, flagOrVariable, type Override, readOverrides, resolveStoreUrl } from './overrides.ts'
import { type Problem, problemOf, sortProblems } from './problem.ts'
import type { Secret } from './secret.ts'
import {
  clientOverrides,
  defaultUpstreamUrl,
  drainDelaySeconds,
  type SettingsFile,
  settingsSchema,
  upstreamKeys,
} from './settings-schema.ts'
import { wrongProxyVariables } from '../upstream/pools.ts'
import { canonicalUrl, isLoopback } from './web-address.ts'
import { readYaml, type YamlFile } from './yaml-file.ts'
import { holdsCredential, settingsRules } from './settings-rules.ts'
import { isJsonObject } from '../json/json-value.ts'
import { profileKeys } from '../profiles/schema.ts'

export type ClientOverride = (typeof clientOverrides)[number]

export type ConfiguredUpstream = {
  readonly name: string
  /** Canonical, without a slash at its end, a query or user info. */
  readonly url: string
  /** What has set that, as users are told: a flag, a variable, or its key in the settings file. */
  readonly set_by: string
  /** The key that Foldgate sends, always one; null if it has none. */
  readonly key: LiveKey | null
  readonly headers: Readonly<Record<string, string>>
  readonly concurrency: number | null
  /** Whether the client's own credential goes to this upstream. */
  readonly forward_client_key: boolean
  /** Whether it gets no key at all, neither one of Foldgate's nor the client's, and nobody wrote that it should not. */
  readonly drops_client_key: boolean
}

export type ClientKeySettings = {
  readonly name: string
  readonly key: LiveKey
  /** Names of, or patterns on, the profiles that it may use. */
  readonly profiles: readonly string[]
  /** Names of, or patterns on, the upstreams that it may choose. */
  readonly upstreams: readonly string[]
  readonly overrides: readonly ClientOverride[]
}

/** Everything that is set, filled in, with keys read and paths absolute. Keys are spelt as in foldgate.yaml. */
export type Settings = Readonly<
  Omit<SettingsFile, 'upstreams' | 'client_keys' | 'profiles' | 'store' | 'admin' | 'drain'>
> & {
  /** By name; `default` is always there. */
  readonly upstreams: ReadonlyMap<string, ConfiguredUpstream>
  readonly client_keys: readonly ClientKeySettings[]
  /** The folder of the user's profiles. */
  readonly profiles: string
  /** Whether that folder was set, and so has to exist; else it is the usual place. */
  readonly profiles_required: boolean
  readonly store: SettingsFile['store'] & { readonly encrypt_key: Secret | null }
  readonly admin: SettingsFile['admin'] & { readonly token: Secret | null }
  readonly drain: SettingsFile['drain'] & { readonly delay_s: number }
  /** The settings file that was read; null if there is none. */
  readonly config_file: string | null
}

export type SettingsOptions = {
  readonly flags: FlagValues
  readonly env: Environment
  /** The working directory, for `./foldgate.yaml` and for paths in flags and variables. */
  readonly cwd: string
}

export type LoadedSettings =
  | { readonly ok: true; readonly settings: Settings }
  | {
      readonly ok: false
      readonly problems: readonly Problem[]
      /** As far as they are valid, for asking a running Foldgate, and for finding further problems. */
      readonly settings: Settings
    }

/**
 * Merges flags, environment, foldgate.yaml and defaults, in this order. All wrong values are told at once; if
 * there are none, all problems between values and all with keys.
 */
export async function loadSettings(options: SettingsOptions): Promise<LoadedSettings> {
  const { flags, env, cwd } = options
  const { path, file, problems: fileProblems } = await readSettingsFile(options)
  const overrides = readOverrides(flags, env, cwd)
  const raw = applyOverrides(file?.value ?? {}, overrides)
  const { value, problems: wrong } = validate(settingsSchema, raw, { isSecret, otherFile })
  const directory = path === null ? cwd : dirname(path)
  const setBy = flagOrVariable('upstream', flags, env)?.source ?? null
  const surroundings = { env, directory, configFile: path, setBy }
  const { settings, problems: later } = await complete(value ?? validPart(raw, wrong), surroundings)
  const found = wrong ?? [...settingsRules(value), ...later]
  const proxyProblems = wrongProxyVariables(env).map((name) =>
    problemOf(name, 'is no address of a proxy', 'write http://HOST:PORT, or leave it out for Foldgate'),
  )
  const located = found.map((problem) => locate(problem, file, overrides))
  const problems = [...fileProblems, ...proxyProblems, ...located]
  return problems.length === 0
    ? { ok: true, settings }
    : { ok: false, settings, problems: sortProblems(problems) }
}

// --- internal ---

const otherFile = {
  name: 'a profile, such as profiles/default.yaml',
  keys: Object.keys(profileKeys.shape),
}

/** Settings whose values may be a credential, by right or by mistake. */
const secretKeys = /^(?:url|store|headers|(?:api_|encrypt_)?key_(?:env|file)|token_env)$/

function isSecret(path: readonly PropertyKey[]): boolean {
  const [group] = path
  // Where a group of keys belongs, people put the address or the key itself.
  if ((group === 'upstreams' || group === 'client_keys') && path.length <= 2) return true
  return path.some((step) => secretKeys.test(String(step)))
}

/** The settings without the keys and groups that something is wrong with: these get their defaults. */
function validPart(raw: unknown, wrong: readonly KeyProblem[]): SettingsFile {
  const isWrong = new Set(wrong.map(({ path: [key] }) => key))
  const given = Object.entries(isJsonObject(raw) ? raw : {})
  return settingsSchema.parse(Object.fromEntries(given.filter(([key]) => !isWrong.has(key))))
}

async function readSettingsFile({ flags, env, cwd }: SettingsOptions) {
  const given = flagOrVariable('config', flags, env)
  const source = given?.text ?? 'foldgate.yaml'
  const path = resolve(cwd, source)
  const read = await readYaml(path, source)
  if (read !== null) return { path, file: read, problems: read.problems }
  const problems =
    given === null ? otherSettingsFiles(cwd) : [problemOf(given.source, `the file ${source} does not exist`)]
  return { path: given === null ? null : path, file: null, problems }
}

/** Files that were meant to be the settings: who has written one believes that it holds. */
function otherSettingsFiles(cwd: string): readonly Problem[] {
  const there = ['foldgate.yml', 'foldgate.json'].filter((name) => existsSync(resolve(cwd, name)))
  return there.map((name) =>
    problemOf(
      name,
      'is not read: the settings file is foldgate.yaml',
      `rename it, or write --config ${name}`,
    ),
  )
}

/** Tells a problem at the flag or variable that set the value, else where it stands in the file. */
function locate(problem: KeyProblem, file: YamlFile | null, overrides: readonly Override[]): Problem {
  const { message, suggestion } = problem
  const key = spellPath(problem.path)
  const override = overrides.find(({ path }) => path.join('.') === key)
  // Who wrote a flag or a variable has written no key.
  if (override !== undefined) return problemOf(override.source, message.replace(`"${key}" `, ''), suggestion)
  return file?.locate(problem) ?? problemOf('settings', message, suggestion)
}

type Surroundings = {
  readonly env: Environment
  /** What paths in foldgate.yaml are relative to. */
  readonly directory: string
  readonly configFile: string | null
  /** The flag or variable that names the default upstream; null if neither does. */
  readonly setBy: string | null
}

async function complete(file: SettingsFile, surroundings: Surroundings) {
  const { env, directory, configFile, setBy } = surroundings
  const problems: KeyProblem[] = []
  const read: ReadSource = async (given) => {
    const key = await readLiveKey(
      { ...given, file: given.file === null ? null : resolve(directory, given.file) },
      env,
    )
    if (key === null || 'now' in key) return key
    problems.push(key)
    return null
  }
  const secret = async (variable: string | null, path: readonly string[]): Promise<Secret | null> => {
    const key = await read({ path, variable, file: null, takesSeveral: false })
    return key?.now()[0] ?? null
  }

  const upstreams = await completeUpstreams(file, read, setBy)
  const clientKeys = await completeClientKeys(file, read)
  const profiles = resolve(directory, file.profiles ?? 'profiles')
  if (file.profiles !== null && !(await isDirectory(profiles))) {
    const message = `the folder of profiles, ${profiles}, does not exist`
    problems.push(wrongAt(['profiles'], message, 'create it, or name another'))
  }
  const settings: Settings = {
    ...file,
    hosts: file.hosts.map((host) => host.toLowerCase()),
    upstreams,
    client_keys: clientKeys,
    profiles,
    profiles_required: file.profiles !== null,
    store: {
      ...file.store,
      url: resolveStoreUrl(directory, file.store.url),
      encrypt_key: await secret(file.store.encrypt_key_env, ['store', 'encrypt_key']),
    },
    admin: { ...file.admin, token: await secret(file.admin.token_env, ['admin', 'token']) },
    drain: {
      ...file.drain,
      delay_s: file.drain.delay_s ?? (isLoopback(file.host) ? 0 : drainDelaySeconds),
    },
    archive: {
      ...file.archive,
      dir: file.archive.dir === null ? null : resolve(directory, file.archive.dir),
    },
    config_file: configFile,
  }
  for (const { message } of keyClashes(settings))
    problems.push(wrongAt(['client_keys'], message, 'give each client a key of its own'))
  return { settings, problems }
}

const bareUpstream = upstreamKeys.parse({})

type ReadSource = (source: KeySource) => Promise<LiveKey | null>

async function completeUpstreams(
  { upstreams, client_keys }: SettingsFile,
  read: ReadSource,
  setBy: string | null,
): Promise<ReadonlyMap<string, ConfiguredUpstream>> {
  const completed = new Map<string, ConfiguredUpstream>()
  for (const [name, upstream] of Object.entries({ default: bareUpstream, ...upstreams })) {
    const key = await read({
      path: ['upstreams', name, 'api_key'],
      variable: upstream.api_key_env,
      file: upstream.api_key_file,
      takesSeveral: false,
    })
    // With client keys the client's credential is a key of Foldgate's own, which no upstream gets.
    const forwards = name === 'default' && key === null && client_keys.length === 0
    const inFile =
      upstream.url === null ? '--upstream (FOLDGATE_UPSTREAM)' : `upstreams.${name}.url in foldgate.yaml`
    completed.set(name, {
      name,
      url: canonicalUrl(upstream.url ?? defaultUpstreamUrl),
      set_by: (name === 'default' ? setBy : null) ?? inFile,
      key,
      headers: upstream.headers,
      concurrency: upstream.concurrency,
      forward_client_key: upstream.forward_client_key ?? forwards,
      drops_client_key:
        name !== 'default' &&
        key === null &&
        upstream.forward_client_key === null &&
        !holdsCredential(upstream.headers),
    })
  }
  return completed
}

async function completeClientKeys(
  { client_keys }: SettingsFile,
  read: ReadSource,
): Promise<readonly ClientKeySettings[]> {
  const completed: ClientKeySettings[] = []
  for (const [index, { name, key_env, key_file, overrides, ...may }] of client_keys.entries()) {
    const key = await read({
      path: ['client_keys', index, 'key'],
      variable: key_env,
      file: key_file,
      takesSeveral: true,
    })
    if (key === null) continue
    const { profiles, upstreams } = may
    completed.push({ name, key, profiles, upstreams, overrides: listOf(overrides) })
  }
  return completed
}

function listOf(overrides: boolean | readonly ClientOverride[]): readonly ClientOverride[] {
  if (typeof overrides !== 'boolean') return overrides
  return overrides ? clientOverrides : []
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
