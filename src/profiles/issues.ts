import { z } from 'zod'
import { nearest } from './near-miss.ts'

/** Something wrong with a key or its value, told to the person who wrote it. */
export type KeyProblem = {
  /** Where it is, from the root of the file. */
  readonly path: readonly PropertyKey[]
  /** Whether the key itself or its value is wrong: where an editor should point. */
  readonly of: 'key' | 'value'
  /** Names what is wrong and what is accepted. */
  readonly message: string
  /** What was probably meant, or what to do; null if the message says it all. */
  readonly suggestion: string | null
}

/** A problem with the value at a path. */
export function wrongAt(
  path: readonly PropertyKey[],
  message: string,
  suggestion: string | null = null,
): KeyProblem {
  return { path, of: 'value', message, suggestion }
}

/** What a schema does not say of its keys and values. */
export type ValidateOptions = {
  /** Where a value may hold a credential, and must not be shown. Default: nowhere. */
  readonly isSecret?: (path: readonly PropertyKey[]) => boolean
  /** The keys of the other kind of file, with which this one may be confused, and what a message calls such a file. */
  readonly otherFile: { readonly keys: readonly string[]; readonly name: string }
}

/**
 * Validates a value, and turns zod's issues into problems a person can act on. Schemas give each kind of value a phrase
 * that completes `"key" must be …`.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
  { isSecret = () => false, otherFile }: ValidateOptions,
) {
  const parsed = schema.safeParse(raw)
  if (parsed.success) return { value: parsed.data, problems: null }
  const root = z.toJSONSchema(schema, { io: 'input' })
  const problems = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownKey(issue.path, key, root, otherFile))
      : [wrongValue(issue, raw, root, isSecret(issue.path))],
  )
  return { value: null, problems }
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

/** The value at `path`, undefined if there is none. */
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

function unknownKey(
  path: readonly PropertyKey[],
  key: string,
  root: SchemaNode,
  otherFile: ValidateOptions['otherFile'],
): KeyProblem {
  const siblings = keysAt(root, path)
  const near = nearest(key, siblings)
  const isOfOther = path.length === 0 && otherFile.keys.includes(key)
  const elsewhere = [...pathsIn(root, '')].filter((each) =>
    `${each.slice(each.lastIndexOf('.') + 1)}_`.startsWith(`${key}_`),
  )
  let suggestion = `remove it; ${path.length === 0 ? 'docs/configuration.md lists every key' : `there are ${siblings.join(', ')}`}`
  if (near !== null)
    suggestion = `did you mean "${near}"?${isOfOther ? ` Or it belongs in ${otherFile.name}` : ''}`
  else if (isOfOther) suggestion = `it belongs in ${otherFile.name}`
  else if (elsewhere.length > 0) suggestion = `the key exists at another level: ${elsewhere.join(', ')}`
  const place = path.length === 0 ? '' : ` in "${spellPath(path)}"`
  return { path: [...path, key], of: 'key', message: `unknown key ${quote(key)}${place}`, suggestion }
}

function wrongValue(issue: z.core.$ZodIssue, raw: unknown, root: SchemaNode, isSecret: boolean): KeyProblem {
  const { path } = issue
  const name = path.length === 0 ? 'the file' : `"${spellPath(path)}"`
  if (issue.code === 'invalid_key') {
    const phrase = issue.issues[0]?.message ?? issue.message
    return { path, of: 'key', message: `the name ${name} must be ${phrase}`, suggestion: null }
  }
  // A problem between keys is told in a whole sentence of its own.
  if (issue.code === 'custom' && issue.params?.['sentence'] === true) {
    return wrongAt(path, issue.message)
  }
  const value = valueAt(raw, path)
  if (value === undefined) {
    return wrongAt(path, `${name} is missing; it must be ${issue.message}`)
  }
  const found = isSecret ? '' : `; found ${show(value)}`
  const meant = meantValue(issue, value, keysAt(root, path))
  return wrongAt(path, `${name} must be ${issue.message}${found}`, meant)
}

/** What a word for on or off says; YAML 1.2 knows none but true and false. */
function switchOf(value: unknown): boolean | null {
  const word = String(value).toLowerCase()
  return /^(?:true|on|yes)$/.test(word) ? true : /^(?:false|off|no)$/.test(word) ? false : null
}

function meantValue(issue: z.core.$ZodIssue, value: unknown, keysBelow: readonly string[]): string | null {
  const isGroup = typeof value === 'object' && value !== null
  if (keysBelow.length > 0 && !isGroup) {
    const wanted = switchOf(value)
    return keysBelow.includes('enabled') && wanted !== null
      ? `write enabled: ${wanted} below it`
      : `indent its keys below it: ${keysBelow.join(', ')}`
  }
  if (typeof value !== 'string') return null
  const word = nearest(value, wordsOf(issue))
  if (word !== null) return `did you mean "${word}"?`
  if (issue.code === 'invalid_type' && issue.expected === 'array')
    return 'write it as a list, in brackets: […]'
  const number = readNumber(value)
  return number === null ? null : `write ${number}, without quotes or units`
}

/** Reads numbers as people write them: "8192", 128k, 128_000, 128,000, 75%, 0,75. */
function readNumber(text: string): number | null {
  const [, written, unit = ''] = /^(\d[\d_,]*(?:\.\d+)?)\s*(k|%)?$/i.exec(text.trim()) ?? []
  if (written === undefined) return null
  // A comma sets thousands apart, or stands for the point.
  const isDecimal = /^(?:0,\d+|\d+,\d{1,2})$/.test(written)
  const number = Number(isDecimal ? written.replace(',', '.') : written.replaceAll(/[_,]/g, ''))
  return unit === '' ? number : unit === '%' ? number / 100 : number * 1000
}

function wordsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.filter((word) => typeof word === 'string')
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(wordsOf)
  return []
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

type SchemaNode = z.core.JSONSchema.BaseSchema

/** The keys that may stand in the group at `path`; none if there is no such group. */
function keysAt(root: SchemaNode, path: readonly PropertyKey[]): readonly string[] {
  let node: SchemaNode | undefined = root
  for (const step of path) {
    const { properties = {}, additionalProperties, items }: SchemaNode = node ?? {}
    if (typeof step === 'number') node = nodeOf(items)
    else node = nodeOf(Object.hasOwn(properties, step) ? properties[String(step)] : additionalProperties)
  }
  return Object.keys(node?.properties ?? {})
}

/** The dotted paths of all keys. Names that the user chooses appear as `NAME`, list entries as `[]`. */
function* pathsIn(schema: SchemaNode['items'], prefix: string): Generator<string> {
  for (const [key, child] of Object.entries(nodeOf(schema)?.properties ?? {})) {
    const path = prefix === '' ? key : `${prefix}.${key}`
    const node = nodeOf(child)
    yield path
    yield* pathsIn(node, path)
    yield* pathsIn(node?.additionalProperties, `${path}.NAME`)
    yield* pathsIn(node?.items, `${path}[]`)
  }
}

/** A group that may be null is the group. */
function nodeOf(schema: SchemaNode['items']): SchemaNode | undefined {
  if (typeof schema !== 'object' || Array.isArray(schema)) return undefined
  return schema.anyOf?.map(nodeOf).find((each) => each?.properties !== undefined) ?? schema
}
