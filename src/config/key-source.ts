import { type KeyProblem, spellPath } from '../profiles/issues.ts'
import type { LiveSecrets } from './live-key.ts'
import { readText } from './read-text.ts'
import { Secret } from './secret.ts'

/** Environment variables, as the process has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where a key is to be read from: one of the two, or neither. */
export type KeySource = {
  /** The setting that holds `variable`, and where it stands. */
  readonly variablePath: readonly PropertyKey[]
  readonly variable: string | null
  readonly filePath: readonly PropertyKey[]
  /** Absolute. */
  readonly file: string | null
  /** Whether each line is a key, and all of them hold. */
  readonly takesSeveral: boolean
}

/** Null with no problem where neither source is set. A key never stands in a problem. */
export type KeyRead =
  | { readonly secrets: LiveSecrets; readonly problem: null }
  | { readonly secrets: null; readonly problem: KeyProblem | null }

/** Keys and tokens are a line; more is the wrong file. */
const keyFileBytesMax = 64 * 1024

/** Reads a key, or several where the source takes them. */
export async function readKeys(source: KeySource, env: Environment): Promise<KeyRead> {
  const { variable, file, variablePath, filePath, takesSeveral } = source
  if (variable !== null && file !== null) {
    const message = `"${spellPath(variablePath)}" and "${spellPath(filePath)}" are both set`
    return failed({ path: filePath, of: 'key', message, suggestion: 'keep one of the two' })
  }
  if (variable !== null) return fromVariable(variable, variablePath, env, takesSeveral)
  if (file === null) return { secrets: null, problem: null }
  const read = await readKeyFile(file, takesSeveral)
  if (read.secrets !== null) return { secrets: read.secrets, problem: null }
  return failed({ ...problemAt(filePath), message: `the file in "${spellPath(filePath)}" ${read.fault}` })
}

/** Reads keys from a file: what is wrong with it is told as the end of "the file …". */
export async function readKeyFile(path: string, takesSeveral: boolean): Promise<Secrets> {
  const read = await readText(path, keyFileBytesMax)
  if (read.kind === 'absent') return { secrets: null, fault: 'does not exist' }
  if (read.kind === 'unreadable') return { secrets: null, fault: read.reason }
  return secretsIn(read.text, takesSeveral, 'is empty')
}

/** Reads a key from an environment variable, or several where it may hold them. */
export function fromVariable(
  variable: string,
  path: readonly PropertyKey[],
  env: Environment,
  takesSeveral = false,
): KeyRead {
  // What every object has (`constructor`) is no variable.
  const text = Object.hasOwn(env, variable) ? (env[variable] ?? '') : ''
  const { secrets, fault } = secretsIn(text, takesSeveral, 'is not set')
  if (secrets !== null) return { secrets, problem: null }
  const named = `the environment variable ${nameToShow(variable)}in "${spellPath(path)}"`
  return failed({ ...problemAt(path), message: `${named} ${fault}` })
}

// --- internal ---

/** Keys, or what is wrong with what should hold one. */
type Secrets =
  | { readonly secrets: LiveSecrets; readonly fault: null }
  | { readonly secrets: null; readonly fault: string }

function secretsIn(text: string, takesSeveral: boolean, whenEmpty: string): Secrets {
  const trimmed = text.trim()
  const lines = takesSeveral ? trimmed.split(/\s*\n\s*/) : [trimmed]
  const [first = '', ...more] = lines
  if (first === '') return { secrets: null, fault: whenEmpty }
  // It goes into a header, which carries visible ASCII only.
  if (!lines.every((line) => /^[\x21-\x7e]+$/.test(line)))
    return { secrets: null, fault: 'holds spaces or characters that no key has' }
  return { secrets: [new Secret(first), ...more.map((line) => new Secret(line))], fault: null }
}

function problemAt(path: readonly PropertyKey[]): KeyProblem {
  return { path, of: 'value', message: '', suggestion: 'set it, or remove the setting' }
}

function failed(problem: KeyProblem): KeyRead {
  return { secrets: null, problem }
}

// Some keys are spelt like names of variables (gsk_…). What is not in capitals might be one.
function nameToShow(variable: string): string {
  return /^[A-Z][A-Z0-9_]{0,63}$/.test(variable) ? `${variable} ` : ''
}
