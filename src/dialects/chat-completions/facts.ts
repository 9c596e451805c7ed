import { LRUCache } from 'lru-cache'
import type { EntrySpan } from '../../conversation/body-scan.ts'
import { readCalls } from './calls.ts'
import { contentParts } from './content.ts'
import { isJsonObject, parseJson, stringifyJson, stringOr } from '../../conversation/json-value.ts'
import type { JsonObject } from '../../conversation/json-value.ts'
import { digestOfMeaning } from '../../conversation/keys.ts'
import type { Meaning } from '../../conversation/keys.ts'
import { audioReference, readMedia, utf8Length } from '../media/media.ts'
import { findContent } from './message-fields.ts'
import type { Media, MessageFacts, Role } from '../../conversation/message.ts'
import { movedBy, shortened } from './readable.ts'
import type { Digest, Source, Span, Steps } from '../../conversation/source.ts'
import { marksIn, READ_BYTES_MAX, unreadMark, unreadMiddles, type Unread } from '../../conversation/unread.ts'
import { readUncut } from './uncut.ts'

/** Reads a message's facts, or finds them again; null where the message cannot be read with certainty. */
export type FactsReader = (scope: string, source: Source, entry: EntrySpan) => Steps<MessageFacts | null>

const roleOf: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'developer',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** Facts of the usual size weigh one; those with thousands of ids or media weigh as many as they replace. */
const charactersPerEntry = 1_024

/**
 * The facts of the message at `span`. Null where it cannot be read with certainty: it is no JSON object, a
 * key stands in it twice, its role is no string, or it is nested too deep. Never throws.
 *
 * @internal exported for tests
 */
export function* readFacts(source: Source, entry: EntrySpan, digest: Digest): Steps<MessageFacts | null> {
  return yield* readHashedFacts(source, entry, digest, yield* hashOf(source, entry))
}

/**
 * A reader that remembers: a message of the same scope with the same bytes is not parsed again, an
 * unreadable one neither. Keeps about `entriesMax` messages of usual size, the most recently used ones. Those of a
 * short body are read anew each time, which takes no longer than to find them; mostly nothing in it is counted.
 */
export function createFactsReader(
  digest: Digest,
  { entriesMax }: { readonly entriesMax: number },
): FactsReader {
  const memo = new LRUCache<string, MessageFacts | 'unreadable'>({
    max: entriesMax,
    maxSize: entriesMax,
    sizeCalculation: weightOf,
  })
  return function* readRememberedFacts(scope, source, entry) {
    const key = `${yield* hashOf(source, entry)} ${scope}`
    if (source.length < REMEMBERED_BODY_BYTES) return yield* readHashedFacts(source, entry, digest, key)
    const known = memo.get(key)
    if (known !== undefined) return known === 'unreadable' ? null : known
    const facts = yield* readHashedFacts(source, entry, digest, key)
    memo.set(key, facts ?? 'unreadable')
    return facts
  }
}

// --- internal ---

/** From this size on the messages of a body are remembered, and with them what they weigh. */
const REMEMBERED_BODY_BYTES = 4_096

/** Most messages have neither calls nor media, and hundreds of thousands of them may be remembered. */
const none: readonly never[] = []

/** Up to this size a message is hashed in one go, in bytes: in a fraction of a millisecond. */
const HASHED_BYTES_MAX = 262_144

function* hashOf(source: Source, { start, end }: Span): Steps<string> {
  return end - start <= HASHED_BYTES_MAX ? source.hash(start, end) : yield* source.hashSteps(start, end)
}

function* readHashedFacts(
  source: Source,
  entry: EntrySpan,
  digest: Digest,
  hash: string,
): Steps<MessageFacts | null> {
  if (entry.end - entry.start <= READ_BYTES_MAX)
    return yield* factsOf({ source, span: entry, marks: none }, entry, digest, hash)
  const unread = unreadMiddles(source, entry)
  if (unread === null) return null
  const names: string[] = []
  // What is not read makes a difference all the same.
  for (const { start, end } of unread) names.push(`: ${yield* source.hashSteps(start, end)}`)
  const short = shortened(source, entry, unread, (index) => names[index] ?? '')
  const marks = unread.map((each, index) => ({
    unread: movedBy(each, -entry.start),
    text: unreadMark(each, index, names[index]),
  }))
  return yield* factsOf({ source: short, span: { start: 0, end: short.length }, marks }, entry, digest, hash)
}

/** Reading a longer message takes milliseconds at each turn, in bytes. */
const LONG_BYTES = 262_144

/** Parts that are no text read between two pauses: of each a digest is made. */
const MEDIA_PER_STEP = 256

/** What is read of a message, where it stands, and the marks in it. */
type Reading = {
  readonly source: Source
  readonly span: Span
  readonly marks: readonly { readonly unread: Unread; readonly text: string }[]
}

function* factsOf(
  reading: Reading,
  entry: EntrySpan,
  digest: Digest,
  hash: string,
): Steps<MessageFacts | null> {
  const { source, span, marks } = reading
  const markTexts = marks.map(({ text }) => text)
  const isLong = span.end - span.start > LONG_BYTES
  const message = parseJson(source, span)
  if (!isJsonObject(message)) return null
  if (isLong) yield
  const contentPlace = findContent(source, span)
  const roleText = message['role']
  if (contentPlace === null || typeof roleText !== 'string') return null
  const role = Object.hasOwn(roleOf, roleText) ? (roleOf[roleText] ?? 'other') : 'other'
  const name = stringOr(message['name'], null)
  const calls = readCalls(message)
  if (isLong) yield
  const content = yield* readContent(message, digest, (text) => unreadBytesIn(text, marks, markTexts))
  if (calls === null || content === null) return null
  if (isLong) yield
  const meaning = { role: role === 'other' ? roleText : role, name, content: content.meaning, calls }
  const answersId = role === 'tool' ? stringOr(message['tool_call_id'], null) : null
  const names = [...(name === null ? none : [name]), ...calls.map((call) => call.name)]
  const uncountedCharacters = names.reduce(
    (sum, { length }) => sum + Math.max(0, length - NAME_CHARACTERS_MAX),
    0,
  )
  const kept = (text: string): string => keptName(text, digest)
  return {
    hash,
    role,
    bytes: entry.end - entry.start,
    elements: entry.elements,
    callIds: calls.length === 0 ? none : calls.map(({ id }) => kept(id)),
    callNames: calls.length === 0 ? none : calls.map((call) => kept(call.name)),
    emptyCalls: role === 'assistant' && isEmptyList(message['tool_calls']),
    answersId: answersId === null ? null : kept(answersId),
    name: name === null ? null : kept(name),
    ...(uncountedCharacters === 0 ? {} : { uncountedCharacters }),
    content: contentSpan(message['content'], placeInWhole(contentPlace, marks)),
    media: content.media.length === 0 ? none : content.media,
    ...(marks.length === 0 ? {} : { unread: yield* unreadOf(message, calls, marks) }),
    meaning: digestOfMeaning(meaning, digest),
  }
}

/** Longer names and ids are nobody's: a beginning and a digest stand for them, in characters. */
const NAME_CHARACTERS_MAX = 1_024

function keptName(text: string, digest: Digest): string {
  return text.length <= NAME_CHARACTERS_MAX
    ? text
    : `${text.slice(0, NAME_CHARACTERS_MAX / 2)}…${digest(text)}`
}

/** How much longer a text is than what was read of it, in bytes. */
function unreadBytesIn(text: string, marks: Reading['marks'], texts: readonly string[]): number {
  if (marks.length === 0) return 0
  return marksIn(text, texts).reduce((sum, { position }) => {
    const unread = marks[position]?.unread
    return unread === undefined ? sum : sum + unread.end - unread.start
  }, 0)
}

/** Where what stands here in a text with marks stands in the whole; both relative to the message's first byte. */
function placeInWhole(place: Span | 'none', marks: Reading['marks']): Span | 'none' {
  if (place === 'none' || marks.length === 0) return place
  const whole = (index: number): number => {
    let added = 0
    for (const { unread, text } of marks) {
      // A mark stands where the unread bytes began.
      if (index + added <= unread.start) break
      added += unread.end - unread.start - utf8Length(text)
    }
    return index + added
  }
  return { start: whole(place.start), end: whole(place.end) }
}

/** What is not read of a message, and whether it is text that counts. */
function* unreadOf(
  message: JsonObject,
  calls: NonNullable<ReturnType<typeof readCalls>>,
  marks: Reading['marks'],
): Steps<NonNullable<MessageFacts['unread']>> {
  const texts = contentParts(message['content']).flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  const markTexts = marks.map(({ text }) => text)
  const counted = new Set<number>()
  let characters = 0
  for (const text of [...texts, ...calls.map((call) => call.argumentsText), readUncut(message).uncut]) {
    for (const { position } of marksIn(text, markTexts)) counted.add(position)
    characters += text.length
    if (characters < LONG_BYTES) continue
    characters = 0
    yield
  }
  return marks.map(({ unread }, position) => ({ ...unread, isText: counted.has(position) }))
}

function contentSpan(content: unknown, place: Span | 'none'): MessageFacts['content'] {
  if (place === 'none') return null
  const kind =
    typeof content === 'string'
      ? 'string'
      : Array.isArray(content)
        ? 'parts'
        : content === null
          ? 'null'
          : 'other'
  return { start: place.start, end: place.end, kind }
}

/** What the content means and which media it holds; null where a part is nested too deep. */
function* readContent(
  message: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Steps<{ readonly meaning: Meaning['content']; readonly media: readonly Media[] } | null> {
  const { content, refusal, audio } = message
  const meaning: { kind: string; text: string }[] = []
  const media: Media[] = []
  for (const part of contentParts(content)) {
    if (part.kind === 'text') {
      meaning.push({ kind: 'text', text: part.text })
      continue
    }
    if (part.kind === 'reasoning') continue
    const read = readMedia(part.part, digest, unreadBytes)
    if (read === null) return null
    media.push(read)
    meaning.push({ kind: read.kind, text: read.digest })
    if (media.length % MEDIA_PER_STEP === 0) yield
  }
  if (isJsonObject(content) || typeof content === 'number' || typeof content === 'boolean') {
    const text = stringifyJson(content)
    if (text === null) return null
    meaning.push({ kind: 'content', text })
  }
  if (typeof refusal === 'string') meaning.push({ kind: 'text', text: refusal })
  if (isJsonObject(audio) && typeof audio['id'] === 'string') {
    const reference = audioReference(audio['id'], digest)
    media.push(reference)
    meaning.push({ kind: reference.kind, text: reference.digest })
  }
  return { meaning, media }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function weightOf(facts: MessageFacts | 'unreadable'): number {
  if (facts === 'unreadable') return 1
  const texts = [...facts.callIds, ...facts.callNames, facts.answersId ?? '', facts.name ?? '']
  // 32 characters for what a string costs beside its characters, 256 for one description of media.
  const characters = texts.reduce((sum, text) => sum + text.length + 32, 256 * facts.media.length)
  return 1 + Math.floor(characters / charactersPerEntry)
}
