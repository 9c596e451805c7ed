import type { z } from 'zod'
import type { KnownKeys } from './known-keys.ts'
import { nearest } from './nearest.ts'

/** Something wrong with a key or its value, told to the person who wrote it. */
export type KeyProblem = {
  /** Where it is, from the root of the file. */
  readonly path: readonly PropertyKey[]
  /** Whether the key itself or its value is wrong: where an editor should point. */
  readonly of: 'key' | 'value'
  /** Names what is wrong and what is accepted. */
  readonly message: string
  /** What was probably meant, or what to do; null where the message says it all. */
  readonly suggestion: string | null
}

export type DescribeOptions = {
  /** The value that was validated. */
  readonly raw: unknown
  readonly keys: KnownKeys
  /** Whether the value there may hold a credential, and must not be shown. Default: never. */
  readonly isSecret?: (path: readonly PropertyKey[]) => boolean
}

/**
 * Turns zod's issues into problems a person can act on. Schemas give each kind of value a phrase that
 * completes `"key" must be …`.
 */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  options: DescribeOptions,
): readonly KeyProblem[] {
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownKey(issue.path, key, options.keys))
      : [wrongValue(issue, options)],
  )
}

/** A path as people write it: `summary.at`, `client_keys[0].name`. */
export function spellPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? String(step) : `.${String(step)}`
  }
  return text
}

/** The value at `path`, undefined where there is none. */
export function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return value
}

// --- internal ---

/** Longer values are not repeated in messages. */
const shownCharactersMax = 40

function unknownKey(path: readonly PropertyKey[], key: string, keys: KnownKeys): KeyProblem {
  const place = path.length === 0 ? '' : ` in "${spellPath(path)}"`
  const message = `unknown key ${quote(key)}${place}`
  return { path: [...path, key], of: 'key', message, suggestion: meantKey(path, key, keys) }
}

function meantKey(path: readonly PropertyKey[], key: string, keys: KnownKeys): string {
  const here = nearest(key, keys.at(path))
  const elsewhere = keys.pathsOf(key)
  const places = elsewhere.map((place) => `"${place}"`).join(' and ')
  if (here !== null && elsewhere.length > 0) return `did you mean "${here}"? or ${places}?`
  if (here !== null) return `did you mean "${here}"?`
  if (elsewhere.length > 0) return `the key exists at another level: ${places}`
  return 'remove it; docs/configuration.md lists every key'
}

function wrongValue(issue: z.core.$ZodIssue, { raw, keys, isSecret }: DescribeOptions): KeyProblem {
  const { path } = issue
  const name = path.length === 0 ? 'the file' : `"${spellPath(path)}"`
  if (issue.code === 'invalid_key') {
    const phrase = issue.issues[0]?.message ?? issue.message
    return { path, of: 'key', message: `the name ${name} must be ${phrase}`, suggestion: null }
  }
  // What holds between keys is told in a whole sentence of its own.
  if (issue.code === 'custom' && issue.params?.['sentence'] === true) {
    return { path, of: 'value', message: issue.message, suggestion: null }
  }
  const value = valueAt(raw, path)
  if (value === undefined) {
    return { path, of: 'value', message: `${name} is missing; it must be ${issue.message}`, suggestion: null }
  }
  const found = isSecret?.(path) === true ? '' : `; found ${show(value)}`
  const message = `${name} must be ${issue.message}${found}`
  return { path, of: 'value', message, suggestion: meantValue(issue, value, keys.at(path)) }
}

function meantValue(issue: z.core.$ZodIssue, value: unknown, keysBelow: readonly string[]): string | null {
  if (value === null && keysBelow.length > 0) return 'indent its keys below it, or remove it'
  if (typeof value !== 'string') return null
  const words = wordsOf(issue)
  const word = nearest(value, words)
  if (word !== null) return `did you mean "${word}"?`
  const number = readNumber(value)
  return number === null ? null : `write ${number}, without quotes or units`
}

function wordsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.filter((word) => typeof word === 'string')
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(wordsOf)
  return []
}

/** Reads numbers as people write them: "8192", 128k, 128_000, 75%. */
function readNumber(text: string): number | null {
  const parts = /^(\d[\d_,]*(?:\.\d+)?)\s*(k|%)?$/i.exec(text.trim())
  if (parts === null) return null
  const number = Number((parts[1] ?? '').replaceAll(/[_,]/g, ''))
  const unit = parts[2]?.toLowerCase()
  if (unit === 'k') return number * 1000
  return unit === '%' ? number / 100 : number
}

function show(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a group of keys'
  if (typeof value === 'string') return quote(value)
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

function quote(text: string): string {
  return JSON.stringify(text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text)
}
