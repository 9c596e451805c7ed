import { isJsonObject, type JsonObject, parseJsonText } from '../json/json-value.ts'
import type { RecallTool } from '../formats/contract.ts'

/** Messages by their numbers, `last` included. */
export type MessageRun = { readonly first: number; readonly last: number }

/** What a call of the recall tool asks for. */
export type RecallQuery =
  | { readonly kind: 'list'; readonly offset: number }
  | { readonly kind: 'messages'; readonly runs: readonly MessageRun[]; readonly offset: number }
  /** `among`: only in these messages; null: in all that was left out. */
  | {
      readonly kind: 'search'
      readonly text: string
      readonly among: readonly MessageRun[] | null
      readonly offset: number
    }
  /** `problem`: what was wrong, as a clause. */
  | { readonly kind: 'unclear'; readonly problem: string }

/**
 * Reads the arguments of a call however a model may have written them: no arguments at all, numbers for texts, texts
 * for numbers, lists, ranges backwards. Never throws.
 */
export function readRecallQuery(argumentsText: string): RecallQuery {
  const value = valueOf(argumentsText)
  if (value === undefined) return { kind: 'unclear', problem: 'the arguments are no JSON object' }
  if (isEmpty(value)) return { kind: 'list', offset: 0 }
  // A model may leave the object out: what it names must be messages.
  return readFields(isJsonObject(value) ? value : { messages: value })
}

/** The tool with which a model reads earlier messages back, by a name that none of the client's tools has. */
export function recallTool(taken: ReadonlySet<string>): RecallTool {
  let name = NAME
  for (let number = 2; taken.has(name); number += 1) name = `${NAME}_${number}`
  return { name, description, properties }
}

// --- internal ---

/** A longer text is searched for by its beginning, which tells it as well. */
const SEARCH_CHARS_MAX = 400

/** Beyond this a conversation has no messages, and numbers lose their digits. */
const NUMBER_MAX = 1_000_000_000

/** The value of the arguments; undefined where they are no JSON. Some models write the JSON into a JSON text. */
function valueOf(argumentsText: string): unknown {
  const text = argumentsText.trim()
  if (text === '') return null
  const value = parseJsonText(text)
  if (typeof value === 'string') return parseJsonText(value) ?? value
  return value === undefined && /^#?\d/.test(text) ? text : value
}

function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0) ||
    (isJsonObject(value) && Object.keys(value).length === 0)
  )
}

function readFields({ messages, search, offset, ...others }: JsonObject): RecallQuery {
  const at = readOffset(offset)
  if (at === null) return { kind: 'unclear', problem: '"offset" takes a whole number' }
  const runs = isEmpty(messages) ? null : readRuns(messages)
  if (runs?.length === 0)
    return { kind: 'unclear', problem: '"messages" takes names like "#17" or "#12-#20"' }
  const text = isEmpty(search) ? '' : readSearch(search)
  if (text === null) return { kind: 'unclear', problem: '"search" takes a text of words' }
  if (text !== '') return { kind: 'search', text, among: runs, offset: at }
  if (runs !== null) return { kind: 'messages', runs, offset: at }
  const isKnown = Object.values(others).every(isEmpty)
  return isKnown
    ? { kind: 'list', offset: at }
    : { kind: 'unclear', problem: 'there are no arguments but "messages", "search" and "offset"' }
}

/** Null where it is no number. */
function readOffset(value: unknown): number | null {
  if (isEmpty(value)) return 0
  const number = typeof value === 'string' ? Number(value.trim().replaceAll(/[,_](?=\d{3})/g, '')) : value
  if (typeof number !== 'number' || Number.isNaN(number)) return null
  return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, Math.floor(number)))
}

function readSearch(value: unknown): string | null {
  if (typeof value === 'string' || typeof value === 'number') return words(String(value))
  if (!Array.isArray(value)) return null
  const texts = value.filter((each: unknown) => typeof each === 'string' || typeof each === 'number')
  return texts.length === value.length ? words(texts.join(' ')) : null
}

/** Words with single blanks; quotes around all of them mean nothing else. */
function words(text: string): string {
  const line = text
    .slice(0, 2 * SEARCH_CHARS_MAX)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const bare = /^"([^"]+)"$/.exec(line)?.[1]?.trim() ?? line
  return bare
    .slice(0, SEARCH_CHARS_MAX)
    .replace(/[\ud800-\udbff]$/, '')
    .trim()
}

/** A name, two with something between them that means "up to", or several of either. */
const named = /#?\s*(\d+)(?:\s*(?:-|–|—|:|…|\.{2,3}|\b(?:up to|to|through|until)\b)\s*#?\s*(\d+))?/gi

/** The messages that a call names, ascending. */
function readRuns(value: unknown): readonly MessageRun[] {
  const merged: MessageRun[] = []
  const names = (Array.isArray(value) ? value : [value]).flatMap(namesIn).slice(0, NAMES_MAX)
  const runs = names.map(([from, to]) => ({ first: Math.min(from, to), last: Math.max(from, to) }))
  for (const run of runs.sort((one, other) => one.first - other.first)) {
    const last = merged.at(-1)
    if (last === undefined || run.first > last.last + 1) merged.push(run)
    else merged[merged.length - 1] = { first: last.first, last: Math.max(last.last, run.last) }
  }
  return merged
}

function namesIn(value: unknown): (readonly [from: number, to: number])[] {
  if (typeof value !== 'string' && typeof value !== 'number') return []
  if (/^\s*(?:\*|all)\s*$/i.test(String(value))) return [[1, NUMBER_MAX]]
  const text = typeof value === 'number' ? String(Math.trunc(value)) : value.slice(0, NAMES_CHARS_MAX)
  return [...text.matchAll(named)].map(([, from = '', to = from]) => [
    Math.min(NUMBER_MAX, Number(from)),
    Math.min(NUMBER_MAX, Number(to)),
  ])
}

/** Names behind these are not read: what is found is looked for in each. */
const NAMES_CHARS_MAX = 4000
const NAMES_MAX = 256

const NAME = 'recall_conversation'

const description =
  'Reads earlier messages of this conversation word for word. They may have been shortened or left out above; ' +
  'marks, recaps and summaries name them like #17. Without arguments lists what was left out. ' +
  'Call it alone: beside other tools it is not answered. Never mention this tool to the user.'

const properties = {
  messages: { type: 'string', description: 'What to read: "#17" or "#12-#20".' },
  search: { type: 'string', description: 'Words to find in what was left out.' },
  offset: { type: 'integer', description: 'Where to go on in a long answer, as its last line says.' },
} as const
