import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml'
import type { KeyProblem } from '../profiles/issues.ts'
import { type Problem, problemOf } from './problem.ts'
import { readFile, stat } from 'node:fs/promises'

/** A YAML (or JSON) file that was read, with the places of its keys. */
export type YamlFile = {
  /** Its path as it is told to people. */
  readonly source: string
  /** Its content as plain values; `{}` for an empty file. */
  readonly value: unknown
  /** Adds to a problem where its key or value stands in the file. */
  readonly locate: (problem: KeyProblem) => Problem
  /** Why it cannot be read; it has no content then. */
  readonly problems: readonly Problem[]
}

/** Settings and profiles are a few kilobytes; more is the wrong file. */
const yamlBytesMax = 256 * 1024

/** More keys than a price list has. Telling the problems of a wrong file takes time for each key, beside running requests. */
const keysMax = 5_000

/** How often aliases may be followed, so that a few lines cannot unfold into gigabytes. */
const aliasesMax = 100

/** Reads a file, which problems call `source`; null if there is none. Never throws. */
export async function readYaml(path: string, source: string): Promise<YamlFile | null> {
  const read = await readText(path, yamlBytesMax)
  if (read === null) return null
  return typeof read === 'string' ? parseYaml(source, read) : failed(source, problemOf(source, read.fault))
}

/**
 * The text of a UTF-8 file of at most `bytesMax` bytes, without a byte order mark; or why it cannot be read, as the end of
 * "the file …"; null where there is none. Never throws.
 */
export async function readText(
  path: string,
  bytesMax: number,
): Promise<string | { readonly fault: string } | null> {
  try {
    const { size } = await stat(path)
    if (size > bytesMax) return { fault: `is larger than ${bytesMax} bytes` }
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    return { fault: reasons[code] ?? `cannot be read (${code})` }
  }
}

/** The system's code for an error (`ENOENT`), or `unknown`. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'unknown'
}

// --- internal ---

function failed(source: string, ...problems: readonly Problem[]): YamlFile {
  const locate = ({ message, suggestion }: KeyProblem): Problem => problemOf(source, message, suggestion)
  return { source, value: {}, locate, problems }
}

/** Duplicate keys, unknown tags and anything ambiguous are problems. */
function parseYaml(source: string, text: string): YamlFile {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // The parser compares each key of a group with all before it.
    uniqueKeys: false,
  })
  const faults: readonly Fault[] = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    code,
    offset: pos[0],
  }))
  const found = readThrough(document)
  if (found.keys > keysMax)
    return failed(source, problemOf(source, `holds more than ${keysMax} keys`, 'is it the right file?'))
  const told = faults.length > 0 ? faults : found.faults
  if (told.length > 0) {
    const first = told.slice(0, faultsShownMax)
    return failed(
      source,
      ...first.map(({ code, offset }) => syntaxProblem(source, code, lines.linePos(offset))),
    )
  }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: aliasesMax }) ?? {}
  } catch {
    return failed(source, problemOf(source, 'its aliases (*name) lead too far', 'write the values out'))
  }
  const locate = (problem: KeyProblem): Problem => {
    const { message, suggestion } = problem
    const offset = offsetOf(document, problem)
    const { line = null, col = null } = offset === null ? {} : lines.linePos(offset)
    return { source, line, column: col, message, suggestion }
  }
  return { source, value, locate, problems: [] }
}

/** One fault in the syntax often causes others after it. */
const faultsShownMax = 5

type Fault = { readonly code: ErrorCode; readonly offset: number }

/** How many keys a file has, which of them stand twice in their group, and which aliases have no anchor before them. */
function readThrough(document: Document): { readonly keys: number; readonly faults: readonly Fault[] } {
  const faults: Fault[] = []
  const anchors = new Set<string | undefined>()
  let keys = 0
  visit(document, (_key, node) => {
    if (isAlias(node)) {
      if (!anchors.has(node.source)) faults.push({ code: 'BAD_ALIAS', offset: node.range?.[0] ?? 0 })
    } else if (isNode(node)) anchors.add(node.anchor)
    if (!isMap(node)) return
    const seen = new Set<unknown>()
    for (const { key } of node.items) {
      if (!isScalar(key)) continue
      keys += 1
      if (seen.has(key.value)) faults.push({ code: 'DUPLICATE_KEY', offset: key.range?.[0] ?? 0 })
      seen.add(key.value)
    }
  })
  return { keys, faults }
}

function syntaxProblem(
  source: string,
  code: ErrorCode,
  { line, col }: ReturnType<LineCounter['linePos']>,
): Problem {
  const [what, suggestion = null] = syntaxFaults[code] ?? syntaxFault
  return { source, line, column: col, message: `cannot be read: ${what}`, suggestion }
}

type SyntaxFault = readonly [what: string, advice?: string]

/**
 * The parser's more frequent complaints in our words. Its own messages repeat the text around the fault, which may hold
 * a credential.
 */
const syntaxFaults: { readonly [Code in ErrorCode]?: SyntaxFault } = {
  BAD_ALIAS: ['this alias (*name) has no anchor before it', 'put text that begins with * in quotes'],
  BAD_DQ_ESCAPE: ['unknown escape in double quotes', 'double the backslash, or use single quotes'],
  BAD_INDENT: ['the indentation does not fit the lines above'],
  BAD_SCALAR_START: ['text may not begin with this character', 'put it in quotes'],
  BLOCK_AS_IMPLICIT_KEY: ['a key and a value too many in this line', 'put text that holds ": " in quotes'],
  BLOCK_IN_FLOW: ['an indented block inside { } or [ ]'],
  DUPLICATE_KEY: ['this key stands twice in its group', 'remove one of the two'],
  MISSING_CHAR: ['something is missing here', 'look for an open quote or bracket, or a missing ":" or ","'],
  MULTILINE_IMPLICIT_KEY: ['a key that goes over several lines', 'look for a missing ":" or an open quote'],
  MULTIPLE_DOCS: ['a second document begins here', 'one file holds one document: remove the "---"'],
  NON_STRING_KEY: ['a key must be plain text'],
  TAB_AS_INDENT: ['a tab in the indentation', 'indent with spaces'],
  TAG_RESOLVE_FAILED: ['this tag (!name) is not understood', 'put text that begins with ! in quotes'],
}

const syntaxFault: SyntaxFault = [
  'something unexpected stands here',
  'put text with special characters in quotes',
]

/** Where the key or value begins, else the nearest group around it that the file has. */
function offsetOf(document: Document, { path, of }: KeyProblem): number | null {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const value = document.getIn(path.slice(0, depth), true)
    const group = depth === 0 ? null : document.getIn(path.slice(0, depth - 1), true)
    const name = String(path[depth - 1])
    const key = isMap(group)
      ? group.items.find((pair) => isScalar(pair.key) && pair.key.value === name)?.key
      : null
    const node = of === 'key' && depth === path.length ? (key ?? value) : (value ?? key)
    if (isNode(node) && node.range != null) return node.range[0]
  }
  return null
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is no UTF-8 text',
}
