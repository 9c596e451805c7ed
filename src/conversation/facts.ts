import { LRUCache } from 'lru-cache'
import { readCalls } from './calls.ts'
import { contentParts } from './content.ts'
import { scanObject } from './json-scan.ts'
import { isJsonObject, parseJson, readKey, stringifyJson, stringOr } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import { digestOfMeaning } from './keys.ts'
import type { Meaning } from './keys.ts'
import { audioReference, readMedia } from './media.ts'
import type { Media, MessageFacts, Role } from './message.ts'
import type { Digest, Source, Span } from './source.ts'

/** Reads a message's facts, or finds them again; null where the message cannot be read with certainty. */
export type FactsReader = (scope: string, source: Source, span: Span) => MessageFacts | null

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
export function readFacts(source: Source, span: Span, digest: Digest): MessageFacts | null {
  return readHashedFacts(source, span, digest, source.hash(span.start, span.end))
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
  return function readRememberedFacts(scope, source, span) {
    const key = `${source.hash(span.start, span.end)} ${scope}`
    if (source.length < REMEMBERED_BODY_BYTES) return readHashedFacts(source, span, digest, key)
    const known = memo.get(key)
    if (known !== undefined) return known === 'unreadable' ? null : known
    const facts = readHashedFacts(source, span, digest, key)
    memo.set(key, facts ?? 'unreadable')
    return facts
  }
}

// --- internal ---

/** From this size on the messages of a body are remembered, and with them what they weigh. */
const REMEMBERED_BODY_BYTES = 4_096

/** Most messages have neither calls nor media, and hundreds of thousands of them may be remembered. */
const none: readonly never[] = []

function readHashedFacts(source: Source, span: Span, digest: Digest, hash: string): MessageFacts | null {
  const message = parseJson(source, span)
  if (!isJsonObject(message)) return null
  const contentPlace = findContent(source, span)
  const roleText = message['role']
  if (contentPlace === null || typeof roleText !== 'string') return null
  const role = Object.hasOwn(roleOf, roleText) ? (roleOf[roleText] ?? 'other') : 'other'
  const name = stringOr(message['name'], null)
  const calls = readCalls(message)
  const content = readContent(message, digest)
  if (calls === null || content === null) return null
  const meaning = { role: role === 'other' ? roleText : role, name, content: content.meaning, calls }
  return {
    hash,
    role,
    bytes: span.end - span.start,
    callIds: calls.length === 0 ? none : calls.map(({ id }) => id),
    callNames: calls.length === 0 ? none : calls.map((call) => call.name),
    emptyCalls: role === 'assistant' && isEmptyList(message['tool_calls']),
    answersId: role === 'tool' ? stringOr(message['tool_call_id'], null) : null,
    name,
    content: contentSpan(message['content'], contentPlace),
    media: content.media.length === 0 ? none : content.media,
    meaning: digestOfMeaning(meaning, digest),
  }
}

/**
 * Where the content stands, relative to the message's first byte; 'none' where there is none. Null where a key stands
 * twice: which one counts is anybody's guess.
 */
function findContent(source: Source, message: Span): Span | 'none' | null {
  const scanned = scanObject(source.latin1(message.start, message.end), 0)
  if (scanned === null) return null
  const keys = new Set<string>()
  let content: Span | 'none' = 'none'
  for (const { key, value } of scanned.entries) {
    const name = readKey(source, { start: message.start + key.start, end: message.start + key.end })
    if (name === null || keys.has(name)) return null
    keys.add(name)
    if (name === 'content') content = value
  }
  return content
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
function readContent(
  message: JsonObject,
  digest: Digest,
): { readonly meaning: Meaning['content']; readonly media: readonly Media[] } | null {
  const { content, refusal, audio } = message
  const meaning: { kind: string; text: string }[] = []
  const media: Media[] = []
  for (const part of contentParts(content)) {
    if (part.kind === 'text') {
      meaning.push({ kind: 'text', text: part.text })
      continue
    }
    if (part.kind === 'reasoning') continue
    const read = readMedia(part.part, digest)
    if (read === null) return null
    media.push(read)
    meaning.push({ kind: read.kind, text: read.digest })
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
