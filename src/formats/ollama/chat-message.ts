import { elementsIn, entriesIn, scanArray } from '../../json/json-scan.ts'
import { isJsonObject, type JsonObject, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { ParsedMessage, Role } from '../../conversation/message.ts'
import type { Digest, Pausable, Source, Span } from '../../json/source.ts'
import type { Described, Slot } from '../contract.ts'
import { addSaid, type ContentPart, type Said, textPart } from '../content/content-parts.ts'
import {
  joinedMessages,
  valueText,
  withContent,
  withoutMembers,
  withValue,
} from '../content/joined-content.ts'
import { argumentSlots, contentSlots, edited, stringSlots, valueIn, valueOf } from '../content/slots.ts'

// A message is a text, with thoughts, pictures and calls in fields beside it. Ids of calls are optional, and clients that get
// some do not send them back with the results: results answer calls in their order, whatever else is stated.

/** What a parsed message is; null if the server would not read it as a message. */
export function* describeChatMessage(
  message: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Pausable<Described | null> {
  const { role: stated, content } = message
  const calls = callsIn(message)
  const images = imagesIn(message)
  const isText = content === undefined || content === null || typeof content === 'string'
  if (typeof stated !== 'string' || !isText || calls === null || images === null) return null
  const said: Said = { content: [], media: [] }
  const parts: readonly ContentPart[] = [
    { kind: 'text', text: stringOr(content, '') },
    ...images.map((data): ContentPart => ({ kind: 'media', part: { type: 'image', data } })),
  ]
  if (!(yield* addSaid(said, parts, digest, unreadBytes))) return null
  const role = roleOf(message)
  return {
    facts: { role },
    answers: role === 'tool' ? [''] : [],
    meaning: {
      role: stated,
      name: stringOr(message['tool_name'], stringOr(message['name'], null)),
      content: said.content,
      calls,
    },
    media: said.media,
  }
}

/** The texts of a parsed message. */
export function parseChatMessage(message: JsonObject): ParsedMessage {
  return {
    text: stringOr(message['content'], ''),
    calls: callsIn(message) ?? [],
    uncut: stringOr(message['thinking'], ''),
    besides: '',
    opaqueCharacters: 0,
  }
}

/** The slots of a message: its text, its thoughts, and the arguments of its calls. */
export function* chatMessageSlots(
  source: Source,
  message: Span,
  parsed: ParsedMessage,
): Pausable<readonly Slot[]> {
  const fields = entriesIn(source, message) ?? []
  yield
  const role = valueOf(source, fields, 'role')
  const isResult = role !== null && source.latin1(role.start, role.end).toLowerCase() === '"tool"'
  const content = valueOf(source, fields, 'content')
  const slots = [
    ...contentSlots(isResult ? 'result' : 'text', source, content, parsed.text),
    ...stringSlots('thought', source, valueOf(source, fields, 'thinking'), SHORTEST_TEXT_BYTES),
  ]
  const list = parsed.calls.length === 0 ? null : valueOf(source, fields, 'tool_calls')
  const listed = (list && elementsIn(source, list)) ?? []
  for (const [position, { argumentsText }] of parsed.calls.entries()) {
    yield
    const call = listed[position]
    const called = call === undefined ? null : valueIn(source, call, 'function')
    const given = called && valueIn(source, called, 'arguments')
    slots.push(...argumentSlots(source, given, argumentsText, true))
  }
  return slots
}

/** A message with other texts in some of its slots, and with its last `mediaKept` pictures. */
export function* editedChatMessage(
  source: Source,
  message: Span,
  texts: ReadonlyMap<Slot, string>,
  mediaKept: number,
): Pausable<string> {
  return withLastImages(yield* edited(source, message, texts, mediaKept, textPart), mediaKept)
}

/** A message with its last `kept` pictures, and a mark before its text for the others; null if none goes. */
export function* withoutImages(
  source: Source,
  message: Span,
  kept: number,
  mark: string,
): Pausable<{ readonly json: string; readonly text: string } | null> {
  const whole = source.text(message.start, message.end)
  const left = withLastImages(whole, kept)
  if (left === whole) return null
  yield
  const said = valueText(left, 'content') ?? 'null'
  const marked = JSON.stringify(said === 'null' || said === '""' ? mark : `${mark}\n`)
  const content = said.startsWith('"') ? `${marked.slice(0, -1)}${said.slice(1)}` : marked
  return { json: withContent(left, content), text: stringOr(JSON.parse(content), '') }
}

/** Users' messages as one, with the pictures of all; null if one of them has no text. */
export function joinedChatMessages(messages: readonly string[], base: number): string | null {
  const joined = joinedMessages(messages, base, textPart)
  const images = messages.flatMap(writtenImages)
  return joined === null || images.length === 0
    ? joined
    : withValue(joined, 'images', `[${images.join(',')}]`)
}

/** A message of another role that says what this one does, behind a text of its own. */
export function saidByUser(text: string, message: string): string {
  return (
    joinedChatMessages(
      [
        JSON.stringify({ role: 'user', content: text }),
        valueText(message, 'content')?.startsWith('"') ? message : withContent(message, '""'),
      ],
      0,
    ) ?? JSON.stringify({ role: 'user', content: text })
  )
}

// --- internal ---

const roles: ReadonlyMap<string, Role> = new Map<string, Role>(
  (['system', 'user', 'assistant', 'tool'] as const).map((role) => [role, role]),
)

/** The server does not mind the case of a role. */
function roleOf({ role }: JsonObject): Role {
  return roles.get(stringOr(role, '').toLowerCase()) ?? 'other'
}

/** A text that says something, with its quotes. */
const SHORTEST_TEXT_BYTES = 3

/** The calls of an assistant's message, in their order; null if arguments are nested too deep to be written. */
function callsIn(message: JsonObject): ParsedMessage['calls'] | null {
  const { tool_calls: list } = message
  if (roleOf(message) !== 'assistant' || !Array.isArray(list)) return []
  const calls: ParsedMessage['calls'][number][] = []
  for (const call of list) {
    const called = isJsonObject(call) && isJsonObject(call['function']) ? call['function'] : {}
    const given = called['arguments'] ?? {}
    const argumentsText = typeof given === 'string' ? given : stringifyJson(given)
    if (argumentsText === null) return null
    calls.push({ id: '', name: stringOr(called['name'], ''), argumentsText })
  }
  return calls
}

/** The pictures of a message, in base64; null if something else stands in their place. */
function imagesIn({ images }: JsonObject): readonly string[] | null {
  if (images === undefined || images === null) return []
  if (!Array.isArray(images)) return null
  const texts = images.filter((image) => typeof image === 'string')
  return texts.length === images.length ? texts : null
}

/** The pictures of a message as they are spelt. */
function writtenImages(message: string): readonly string[] {
  const images = valueText(message, 'images')
  if (images?.startsWith('[') !== true) return []
  return (scanArray(images, 0)?.elements ?? []).map(({ start, end }) => images.slice(start, end))
}

function withLastImages(message: string, kept: number): string {
  const images = writtenImages(message)
  if (images.length <= kept) return message
  if (kept === 0) return withoutMembers(message, IMAGES)
  return withValue(message, 'images', `[${images.slice(-kept).join(',')}]`)
}

const IMAGES: ReadonlySet<string> = new Set(['images'])
