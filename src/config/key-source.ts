import { resolve } from 'node:path'
import { type KeyProblem, spellPath } from '../profiles/issues.ts'
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
  readonly file: string | null
}

/** Keys and tokens are a line; more is the wrong file. */
const keyFileBytesMax = 64 * 1024

/** Reads a key. Null with no problem where neither source is set. A key never stands in a problem. */
export async function readKey(
  source: KeySource,
  env: Environment,
  baseDirectory: string,
): Promise<{ readonly key: Secret | null; readonly problem: KeyProblem | null }> {
  const { variable, file, variablePath, filePath } = source
  if (variable !== null && file !== null) {
    const message = `"${spellPath(variablePath)}" and "${spellPath(filePath)}" are both set`
    return failed({ path: filePath, of: 'key', message, suggestion: 'keep one of the two' })
  }
  if (variable !== null) return fromVariable(variable, variablePath, env)
  return file === null ? { key: null, problem: null } : fromFile(resolve(baseDirectory, file), filePath)
}

/** Reads a key from an environment variable. */
export function fromVariable(
  variable: string,
  path: readonly PropertyKey[],
  env: Environment,
): { readonly key: Secret | null; readonly problem: KeyProblem | null } {
  // What every object has (`constructor`) is no variable.
  const text = Object.hasOwn(env, variable) ? (env[variable]?.trim() ?? '') : ''
  const named = `the environment variable ${nameToShow(variable)}in "${spellPath(path)}"`
  return checked(text, path, named, text === '' ? `${named} is not set` : null)
}

// --- internal ---

async function fromFile(path: string, at: readonly PropertyKey[]) {
  const named = `the file in "${spellPath(at)}"`
  const read = await readText(path, keyFileBytesMax)
  if (read.kind === 'absent') return failed({ ...problemAt(at), message: `${named} does not exist` })
  if (read.kind === 'unreadable') return failed({ ...problemAt(at), message: `${named} ${read.reason}` })
  const text = read.text.trim()
  return checked(text, at, named, text === '' ? `${named} is empty` : null)
}

function checked(text: string, path: readonly PropertyKey[], named: string, fault: string | null) {
  if (fault !== null) return failed({ ...problemAt(path), message: fault })
  // It goes into a header, which carries visible ASCII only.
  if (!/^[\x21-\x7e]+$/.test(text)) {
    return failed({ ...problemAt(path), message: `${named} holds spaces or characters that no key has` })
  }
  return { key: new Secret(text), problem: null }
}

function problemAt(path: readonly PropertyKey[]): KeyProblem {
  return { path, of: 'value', message: '', suggestion: 'set it, or remove the setting' }
}

function failed(problem: KeyProblem): { readonly key: null; readonly problem: KeyProblem } {
  return { key: null, problem }
}

// Some keys are spelt like names of variables (gsk_…). What is not in capitals might be one.
function nameToShow(variable: string): string {
  return /^[A-Z][A-Z0-9_]{0,63}$/.test(variable) ? `${variable} ` : ''
}
