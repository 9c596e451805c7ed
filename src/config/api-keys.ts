import { type KeyProblem, spellPath, wrongAt } from '../profiles/issues.ts'
import { readText } from './yaml-file.ts'
import { Secret } from './secret.ts'

/** Environment variables, as the process has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where a key is to be read from: one of the two, or neither. */
export type KeySource = {
  /** The setting of the two, without its ending `_env` or `_file`: `client_keys`, 0, `key`. */
  readonly path: readonly PropertyKey[]
  readonly variable: string | null
  /** Absolute. */
  readonly file: string | null
  /** Whether each line is a key, and all of them are valid. */
  readonly takesSeveral: boolean
}

/**
 * A key as it is now. A key from a file may change while the process runs (`watch-files.ts`), so that nobody keeps a copy
 * of it.
 */
export type LiveKey = {
  readonly source: KeySource
  /** All that are valid, at least one. A client may have two while a new key replaces an old one. */
  readonly now: () => LiveSecrets
  readonly replace: (secrets: LiveSecrets) => void
}

export type LiveSecrets = readonly [Secret, ...Secret[]]

/** Keys, or what is wrong with the text that should hold one: "is empty". */
export type KeyRead = LiveSecrets | { readonly fault: string }

/** Reads a key. Null if neither source is set. A key never stands in a problem. */
export async function readLiveKey(source: KeySource, env: Environment): Promise<LiveKey | KeyProblem | null> {
  const { variable, file, takesSeveral } = source
  const [variablePath, filePath] = [settingPath(source, 'env'), settingPath(source, 'file')]
  if (variable !== null && file !== null) {
    const message = `"${spellPath(variablePath)}" and "${spellPath(filePath)}" are both set`
    return { path: filePath, of: 'key', message, suggestion: 'keep one of the two' }
  }
  let read: LiveSecrets | KeyProblem
  if (variable !== null) read = readVariable(variable, variablePath, env, takesSeveral)
  else if (file !== null) read = keyOrProblem(await readKeyFile(file, takesSeveral), filePath, 'the file')
  else return null
  if ('message' in read) return read
  let current = read
  return {
    source,
    now: () => current,
    replace: (replacement) => {
      current = replacement
    },
  }
}

/** The setting that names a key's variable or file. */
export function settingPath({ path }: KeySource, of: 'env' | 'file'): readonly PropertyKey[] {
  return [...path.slice(0, -1), `${String(path.at(-1))}_${of}`]
}

/** Reads keys from a file; a fault is the end of "the file …". */
export async function readKeyFile(path: string, takesSeveral: boolean): Promise<KeyRead> {
  const read = await readText(path, keyFileBytesMax)
  if (read === null) return { fault: 'does not exist' }
  return typeof read === 'string' ? secretsIn(read, takesSeveral, 'is empty') : read
}

/** The settings that have keys. */
export type KeyHolders = {
  readonly upstreams: ReadonlyMap<string, { readonly name: string; readonly key: LiveKey | null }>
  readonly client_keys: readonly { readonly name: string; readonly key: LiveKey }[]
  readonly admin: { readonly token: Secret | null }
}

/**
 * Finds keys of clients that are somebody else's too: another client's, so that the two could not be told apart, or one
 * that no client is to have. Upstreams may share a key. `changes` take the place of keys as they are now.
 */
export function keyClashes(
  { upstreams, client_keys: clients, admin }: KeyHolders,
  changes: ReadonlyMap<LiveKey, LiveSecrets> = new Map(),
): readonly KeyClash[] {
  const clashes: KeyClash[] = []
  for (const [index, { name, key }] of clients.entries()) {
    const own = new Set((changes.get(key) ?? key.now()).map((secret) => secret.reveal()))
    const hasOneOf = (secrets: readonly Secret[]): boolean =>
      secrets.some((secret) => own.has(secret.reveal()))
    const compare = (other: LiveKey, message: string): void => {
      if (hasOneOf(changes.get(other) ?? other.now())) clashes.push({ keys: [key, other], message })
    }
    for (const other of clients.slice(index + 1))
      compare(other.key, `the client keys "${name}" and "${other.name}" are the same key`)
    for (const { name: upstream, key: sent } of upstreams.values()) {
      const message = `the client key "${name}" is the key that Foldgate sends to the upstream "${upstream}"`
      if (sent !== null) compare(sent, message)
    }
    if (admin.token !== null && hasOneOf([admin.token]))
      clashes.push({ keys: [key], message: `the client key "${name}" is the token of the admin listener` })
  }
  return clashes
}

// --- internal ---

/** A client's key that is somebody else's too. */
type KeyClash = {
  readonly keys: readonly LiveKey[]
  /** What is wrong, without the key. */
  readonly message: string
}

/** Keys and tokens are a line; more is the wrong file. */
const keyFileBytesMax = 64 * 1024

function readVariable(
  variable: string,
  path: readonly PropertyKey[],
  env: Environment,
  takesSeveral: boolean,
): LiveSecrets | KeyProblem {
  // A property that every object has, such as `constructor`, is no variable.
  const text = Object.hasOwn(env, variable) ? (env[variable] ?? '') : ''
  // The setting may hold a key by mistake, and some are spelt like variables (gsk_…): only capitals are shown.
  const name = /^[A-Z][A-Z0-9_]{0,63}$/.test(variable) ? ` ${variable}` : ''
  return keyOrProblem(secretsIn(text, takesSeveral, 'is not set'), path, `the environment variable${name}`)
}

function secretsIn(text: string, takesSeveral: boolean, whenEmpty: string): KeyRead {
  const trimmed = text.trim()
  const lines = takesSeveral ? trimmed.split(/\s*\n\s*/) : [trimmed]
  const [first = '', ...more] = lines
  if (first === '') return { fault: whenEmpty }
  // It goes into a header, which carries visible ASCII only.
  if (!lines.every((line) => /^[\x21-\x7e]+$/.test(line)))
    return { fault: 'holds spaces or characters that no key has' }
  return [new Secret(first), ...more.map((line) => new Secret(line))]
}

function keyOrProblem(read: KeyRead, path: readonly PropertyKey[], what: string): LiveSecrets | KeyProblem {
  if (!('fault' in read)) return read
  const message = `${what} in "${spellPath(path)}" ${read.fault}`
  return wrongAt(path, message, 'set it, or remove the setting')
}
