import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { errorCode } from '../config/read-text.ts'
import { isJsonObject, parseJsonText, type JsonObject } from '../conversation/json-value.ts'
import { dialects } from '../dialects/dialects.ts'

/** The body of a request, made of what was recorded. */
export type Recorded = {
  /** Its file, and its place there. */
  readonly where: string
  readonly body: Buffer
}

/** What stands in files, and in the JSON files of folders; and what of it is of no use, and why. */
export async function readRecorded(
  paths: readonly string[],
  model: string | null,
): Promise<{ readonly recorded: readonly Recorded[]; readonly unread: readonly string[] }> {
  const recorded: Recorded[] = []
  const unread: string[] = []
  for (const path of paths) {
    try {
      const files = (await stat(path)).isDirectory() ? await filesBelow(path) : [path]
      if (files.length === 0) unread.push(`${path}: ${archiveAdvice(path, 'it has no .jsonl or .json file')}`)
      for (const file of files) {
        for (const { where, text } of rowsOf(file, await readFile(file, 'utf8'))) {
          const body = bodyOf(text, model)
          if ('body' in body) recorded.push({ where, ...body })
          else unread.push(`${where}: ${archiveAdvice(file, body.problem)}`)
        }
      }
    } catch (error) {
      const code = errorCode(error)
      const trouble = code === 'ENOENT' ? 'there is no such file or folder' : `it cannot be read (${code})`
      unread.push(`${path}: ${trouble}`)
    }
  }
  return { recorded, unread }
}

// --- internal ---

const recordings: ReadonlySet<string> = new Set(['.jsonl', '.ndjson', '.json'])

async function filesBelow(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true })
  return names
    .filter((name) => recordings.has(extname(name)))
    .toSorted()
    .map((name) => join(folder, name))
}

/** A file that is one value of JSON, a list of them, or one on each line. */
function rowsOf(file: string, text: string): readonly { readonly where: string; readonly text: string }[] {
  const whole = parseJsonText(text)
  if (Array.isArray(whole))
    return whole.map((row, at) => ({ where: `${file}[${at}]`, text: JSON.stringify(row) }))
  if (whole !== undefined) return [{ where: file, text }]
  return text
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [{ where: `${file}:${at + 1}`, text: line }]))
}

/** A request keeps its bytes. Of what a recorder has made only the fields go along that a request may have. */
function bodyOf(
  text: string,
  model: string | null,
): { readonly body: Buffer } | { readonly problem: string } {
  const row = parseJsonText(text)
  if (!isJsonObject(row)) return { problem: 'it is no JSON object' }
  if (!hasHistory(row)) {
    const inner = [row['body'], row['request']].find((value) => isJsonObject(value) && hasHistory(value))
    if (inner !== undefined) return bodyOf(JSON.stringify(inner), model)
    return { problem: 'it has neither messages nor input, as a conversation or the body of a request has' }
  }
  const named = typeof row['model'] === 'string' ? row['model'] : model
  if (named === null) return { problem: 'it names no model: say which by --model NAME' }
  const fields = Object.entries(row).filter(([key]) => key !== 'model' && isKnownField(key))
  if (row['model'] === named && fields.length === Object.keys(row).length - 1)
    return { body: Buffer.from(text) }
  return { body: Buffer.from(JSON.stringify({ model: named, ...Object.fromEntries(fields) })) }
}

const hasHistory = ({ messages, input }: JsonObject): boolean =>
  Array.isArray(messages) || Array.isArray(input)

/** What a recorder calls usage is that of the answer. */
const isKnownField = (key: string): boolean =>
  key !== 'usage' && dialects.some(({ bodies }) => bodies.knownFields.has(key))

/** The archive is what people think of first, and holds no requests. */
const archiveAdvice = (path: string, problem: string): string =>
  extname(path) === '.md' || /archive/.test(path)
    ? `${problem}. Foldgate’s archive holds what compactions took away, and no whole requests: record those at the client`
    : problem
