import { isJsonObject, parseJsonText, stringifyJson, type JsonObject } from '../../conversation/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'
import type { Steps } from '../../conversation/source.ts'

/** Who wrote a passage: `call` is what an assistant handed to a tool, `result` what the tool gave back. */
export type Speaker = 'user' | 'assistant' | 'call' | 'result'

/** A few lines of a message in one run, as they were written. */
export type Passage = {
  readonly speaker: Speaker
  /** Which of the message's texts it stands in: its own, or that of one of its calls. */
  readonly part: number
  /** Which passage of the message it is: neighbours have consecutive numbers. */
  readonly position: number
  readonly text: string
}

/** A text of a message that can be quoted. */
export type Part = { readonly speaker: Speaker; readonly text: string }

/**
 * The arguments of a call as one would read them: each text with its own line breaks, behind its key. `what-stays`: without
 * what it has replaced by something new.
 */
export function* argumentLines(argumentsText: string, of: 'all' | 'what-stays' = 'all'): Steps<string> {
  if (argumentsText.length > PARSED_CHARS_MAX) return argumentsText
  const value = parseJsonText(argumentsText)
  if (!isJsonObject(value)) return argumentsText
  const lines: string[] = []
  const isReplacing = of === 'what-stays' && Object.keys(value).some((key) => isNew.test(key))
  const shown = Object.entries(value).filter(([key]) => !isReplacing || !isOld.test(key))
  yield* addLines(Object.fromEntries(shown), DEPTH_MAX, lines)
  return lines.join('\n')
}

/** The texts of a parsed message, each with who wrote it. What a call replaces is there no longer: it is no part of them. */
export function* partsOf({ text, calls }: ParsedMessage, role: string): Steps<Part[]> {
  const speaker = role === 'tool' ? 'result' : role === 'assistant' ? 'assistant' : 'user'
  const parts: Part[] = [{ speaker, text }]
  for (const { argumentsText } of calls)
    parts.push({ speaker: 'call', text: yield* argumentLines(argumentsText, 'what-stays') })
  return parts
}

/** Cuts the texts of a message into passages of whole lines; a line that is too long is cut between its words. */
export function passagesOf(parts: readonly Part[]): Passage[] {
  const passages: Passage[] = []
  for (const [part, { speaker, text }] of parts.entries()) {
    let start = 0
    for (const end of endsOf(text)) {
      const passage = text.slice(start, end).replace(/^\n+|\s+$/g, '')
      if (passage !== '') passages.push({ speaker, part, position: passages.length, text: passage })
      start = end
    }
  }
  return passages
}

/** The lines by which a text is told from others: short ones stand everywhere, and tell only where there is nothing else. */
export function tellingLines(text: string): string[] {
  const [long, short]: [string[], string[]] = [[], []]
  for (const line of text.split('\n')) {
    const written = line.trim()
    if (written.length >= TELLING_CHARS_MIN) long.push(written)
    else if (written !== '') short.push(written)
  }
  return long.length > 0 ? long : short
}

/**
 * A text as far as a recap looks at it: of a very long one the beginning and the end. What recorded conversations hold is
 * looked at whole.
 */
export function lookedAt(text: string): string {
  if (text.length <= 2 * END_CHARS) return text
  return `${text.slice(0, END_CHARS)}\n…\n${text.slice(-END_CHARS)}`
}

// --- internal ---

const END_CHARS = 131_072

/** About a hundred tokens: a function, a paragraph, the part of a listing that matters. */
const PASSAGE_CHARS_MAX = 360

/** `return result` and `} else {` say nothing of where they stand. */
const TELLING_CHARS_MIN = 12

/** Deeper arguments stand as the JSON that they are. */
const DEPTH_MAX = 4

/** Longer arguments are read as they are spelt: to be parsed they would take longer than other requests should wait. */
const PARSED_CHARS_MAX = 262_144

/** Values between two pauses. Each is text that was parsed already. */
const VALUES_PER_STEP = 64

/** How the arguments of edits are called: what is replaced, and by what. */
const isOld = /^old/i
const isNew = /^new/i

function* addLines(fields: JsonObject, depth: number, lines: string[]): Steps<void> {
  for (const [key, field] of Object.entries(fields)) {
    for (const value of Array.isArray(field) ? (field as readonly unknown[]) : [field]) {
      if (typeof value === 'string') lines.push(`${key}:${value.includes('\n') ? '\n' : ' '}${value}`)
      else if (depth > 1 && isJsonObject(value)) yield* addLines(value, depth - 1, lines)
      else lines.push(`${key}: ${stringifyJson(value) ?? '…'}`)
      if (lines.length % VALUES_PER_STEP === 0) yield
    }
  }
}

function* endsOf(text: string): Generator<number, void, void> {
  let start = 0
  while (start < text.length) {
    const furthest = start + PASSAGE_CHARS_MAX
    if (furthest >= text.length) {
      yield text.length
      return
    }
    // Looked for within the passage only: a line may be megabytes long.
    const within = text.slice(start, furthest + 1)
    const line = within.lastIndexOf('\n')
    const last = line > 0 ? line : within.lastIndexOf(' ')
    start = last > 0 ? start + last + 1 : furthest
    yield start
  }
}
