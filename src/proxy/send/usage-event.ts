import { createEventReader } from '../../overflow/event-reader.ts'
import { parseJson } from '../../overflow/parse-json.ts'
import { isJsonObject, stringifyJson, type JsonObject } from '../../conversation/json-value.ts'

/** A usage event takes a few hundred bytes. What is longer goes on, so that nothing is kept for long. */
export const EVENT_BYTES_MAX = 64 * 1024

/** The beginning of a choice: what nearly every event has near its own beginning, and a usage event has not. */
export const namesChoice = /"choices"[ \t]{0,4}:[ \t]{0,4}\[[ \t]{0,4}[^\s\]]/

/** The longest text that `namesChoice` matches. */
export const NAMED_CHOICE_CHARS_MAX = 24

/** What is left of a usage event. */
type Remains = {
  readonly bytes: Buffer
  /** It is an event still, with the blank line at its end; else at most comments. */
  readonly isEvent: boolean
}

/**
 * What is left of a usage event for a client that did not ask for one: its comments, and whatever else it says.
 * Null where this is no usage event: one whose `choices` are an empty list, or not there, and whose `usage` is an
 * object.
 */
export function withoutUsage(event: Buffer): Remains | null {
  const chunk = usageChunk(event)
  if (chunk === null) return null
  const lines = event.toString('latin1').match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? []
  const rest = saysMore(chunk) ? restOf(chunk) : null
  if (rest === null) {
    const comments = lines.filter((line) => line.startsWith(':') && lineEnd.test(line))
    return { bytes: Buffer.from(comments.join(''), 'latin1'), isEvent: false }
  }
  const last = lines.findLastIndex((line) => isData.test(line))
  const behind = lineEnd.exec(lines[last] ?? '')?.[0] ?? ''
  const bytes = Buffer.concat([
    Buffer.from(withoutData(lines.slice(0, last)), 'latin1'),
    Buffer.from(`data: ${rest}${behind}`),
    Buffer.from(withoutData(lines.slice(last + 1)), 'latin1'),
  ])
  return { bytes, isEvent: true }
}

// --- internal ---

const lineEnd = /[\r\n]+$/
const isData = /^(?:\u00ef\u00bb\u00bf)?data(?:[:\r\n]|$)/

/** What every chunk of some provider carries: with the usage gone, it says nothing. */
const ordinaryKeys: ReadonlySet<string> = new Set([
  'choices',
  'created',
  'error',
  'id',
  'model',
  'object',
  'obfuscation',
  'provider',
  'service_tier',
  'system_fingerprint',
  'usage',
  'x_groq',
])

function usageChunk(event: Buffer): JsonObject | null {
  if (event.length > EVENT_BYTES_MAX || !event.includes('"usage"')) return null
  if (namesChoice.test(event.toString('latin1'))) return null
  const reader = createEventReader({ eventCharactersMax: EVENT_BYTES_MAX })
  const [read] = [...reader.feed(event.toString('utf8')), ...reader.end()]
  if (read === undefined || read.error !== '' || read.name === 'error') return null
  const chunk = parseJson(read.data)
  if (!isJsonObject(chunk) || !isJsonObject(chunk['usage'])) return null
  const choices = chunk['choices'] ?? []
  // An error is for the client, whatever comes with it.
  const isUsage = Array.isArray(choices) && choices.length === 0 && (chunk['error'] ?? null) === null
  return isUsage ? chunk : null
}

function saysMore(chunk: JsonObject): boolean {
  return Object.entries(chunk).some(([key, value]) => !ordinaryKeys.has(key) && !isEmpty(value))
}

/** Null, or a list or an object without anything in it. */
function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

/**
 * Null where it is nested too deep to be written. llama.cpp puts its timings, xAI its citations into a stream's last chunk, and that is the usage chunk as soon as
 * somebody asked for one. So it is not dropped with the rest. Nor can it go on as it is: many clients read
 * `choices[0]` of every chunk, and end in an error where there is none. A choice that adds nothing suits both.
 */
function restOf(chunk: JsonObject): string | null {
  return stringifyJson({
    ...chunk,
    usage: undefined,
    choices: [{ index: 0, delta: {}, finish_reason: null }],
  })
}

function withoutData(lines: readonly string[]): string {
  return lines.filter((line) => !isData.test(line)).join('')
}
