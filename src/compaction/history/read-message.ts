import type { Message, ParsedMessage } from '../../conversation/message.ts'
import type { Source, Pausable } from '../../json/source.ts'
import { parseEntry } from '../../formats/entry-facts.ts'
import { readable, type Readable, restored } from '../../formats/shortened-message.ts'
import type { History } from './history.ts'
import { isJsonObject, type JsonObject, parseJsonText, stringifyJson } from '../../json/json-value.ts'

/** A message parsed, with a pause behind a long one: of short ones hundreds are read within a millisecond. */
export function* readMessage(
  { source, dialect }: Pick<History, 'source' | 'dialect'>,
  message: Message,
): Pausable<ParsedMessage> {
  if (message.facts.skipped !== undefined) {
    // Made here, and found again when it is parsed.
    readable(source, message)
    yield
  }
  const parsed = parseEntry(dialect, source, message)
  if (message.end - message.start >= LONG_BYTES) yield
  return parsed
}

/** A message as it is edited: where what is read of it stands, and what that says. */
export type MessageForm = Readable & { readonly parsed: ParsedMessage }

/** A message as it is edited; `isUnbound`: without the thoughts in it that only hold for the conversation they were made in. */
export function* readForm(
  history: Pick<History, 'source' | 'dialect'>,
  message: Message,
  isUnbound: boolean,
): Pausable<MessageForm> {
  const { source, dialect } = history
  const whole = readable(source, message)
  if (!isUnbound) return { ...whole, parsed: yield* readMessage(history, message) }
  const json = dialect.entries.unbound(whole.source.text(whole.message.start, whole.message.end))
  if (json.length >= LONG_BYTES) yield
  const unbound = source.joined([json])
  // Marks of what is not read are a part of its texts.
  const { skipped: _skipped, ...facts } = message.facts
  const form = { start: 0, end: unbound.length, facts }
  return { source: unbound, message: form, parsed: yield* readMessage({ source: unbound, dialect }, form) }
}

/** The JSON of a form. */
export function textOfForm({ source, message }: Readable): string {
  return source.text(message.start, message.end)
}

/** The same with what is not read of the message that it is a form of. */
export function* wholeText(source: Source, message: Message, form: Readable): Pausable<string> {
  return (yield* restored(source, message, textOfForm(form))).json
}

/**
 * The arguments of a call as one would read them: each text with its own line breaks, behind its key. `what-stays`: without
 * what it has replaced by something new.
 */
export function* argumentLines(argumentsText: string, of: 'all' | 'what-stays' = 'all'): Pausable<string> {
  if (argumentsText.length > PARSED_CHARS_MAX) return argumentsText
  const value = parseJsonText(argumentsText)
  if (!isJsonObject(value)) return argumentsText
  const lines: string[] = []
  const isReplacing = of === 'what-stays' && Object.keys(value).some((key) => isNew.test(key))
  const shown = Object.entries(value).filter(([key]) => !isReplacing || !isOld.test(key))
  const [only] = shown
  // A lone text speaks for itself.
  if (of === 'what-stays' && shown.length === 1 && typeof only?.[1] === 'string') return only[1]
  yield* addLines(Object.fromEntries(shown), DEPTH_MAX, lines)
  return lines.join('\n')
}

/**
 * A text as far as a recap looks at it: of a very long one the beginning and the end. What recorded conversations hold is
 * looked at whole.
 */
export function lookedAt(text: string): string {
  return endsOf(text, END_CHARS)
}

/** The two ends of a text, of so many characters each; all of it if it is no longer than both. */
export function endsOf(text: string, chars: number): string {
  return text.length <= 2 * chars ? text : `${text.slice(0, chars)}\n…\n${text.slice(-chars)}`
}

// --- internal ---

/** Read in a tenth of a millisecond. */
const LONG_BYTES = 16_384

const END_CHARS = 131_072

/** Deeper arguments stand as the JSON that they are. */
const DEPTH_MAX = 4

/** Longer arguments are read as they are spelt: to be parsed they would take longer than other requests should wait. */
const PARSED_CHARS_MAX = 262_144

/** Values between two pauses. Each is text that was parsed already. */
const VALUES_PER_STEP = 64

/** How the arguments of edits are called: what is replaced, and by what. */
const isOld = /^old/i
const isNew = /^new/i

function* addLines(fields: JsonObject, depth: number, lines: string[]): Pausable<void> {
  for (const [key, field] of Object.entries(fields)) {
    for (const value of Array.isArray(field) ? (field as readonly unknown[]) : [field]) {
      if (typeof value === 'string') lines.push(`${key}:${value.includes('\n') ? '\n' : ' '}${value}`)
      else if (depth > 1 && isJsonObject(value)) yield* addLines(value, depth - 1, lines)
      else lines.push(`${key}: ${stringifyJson(value) ?? '…'}`)
      if (lines.length % VALUES_PER_STEP === 0) yield
    }
  }
}
