import { LRUCache } from 'lru-cache'
import { readCalls } from './calls.ts'
import { contentParts } from './content.ts'
import type { EntrySpans } from './json-scan.ts'
import { isJsonObject, parseJson, stringifyJson, stringOr } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import { digestOfMeaning } from './keys.ts'
import type { Meaning } from './keys.ts'
import { audioReference, readMedia } from './media.ts'
import type { Media, MessageFacts, Role } from './message.ts'
import type { Digest, Source, Span } from './source.ts'
import { entriesIn } from './spans-in.ts'

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
 * unreadable one neither. Keeps about `entriesMax` messages of usual size, the most recently used ones.
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
    const known = memo.get(key)
    if (known !== undefined) return known === 'unreadable' ? null : known
    const facts = readHashedFacts(source, span, digest, key)
    memo.set(key, facts ?? 'unreadable')
    return facts
  }
}

// --- internal ---

/** Most messages have neither calls nor media, and hundreds of thousands of them may be remembered. */
const none: readonly never[] = []

function readHashedFacts(source: Source, span: Span, digest: Digest, hash: string): MessageFacts | null {
  const entries = entriesIn(source, span)
  const message = parseJson(source, span)
  if (entries === null || !isJsonObject(message)) return null
  const spans = valueSpans(source, entries)
  const roleText = message['role']
  if (spans === null || typeof roleText !== 'string') return null
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
    content: contentSpan(message['content'], spans.get('content'), span.start),
    media: content.media.length === 0 ? none : content.media,
    meaning: digestOfMeaning(meaning, digest),
  }
}

/** Where the value of each key stands; null where a key stands twice: which one counts is anybody's guess. */
function valueSpans(source: Source, entries: readonly EntrySpans[]): ReadonlyMap<unknown, Span> | null {
  const spans = new Map(entries.map(({ key, value }) => [parseJson(source, key), value]))
  return spans.size === entries.length ? spans : null
}

function contentSpan(
  content: unknown,
  span: Span | undefined,
  messageStart: number,
): MessageFacts['content'] {
  if (span === undefined) return null
  const kind =
    typeof content === 'string'
      ? 'string'
      : Array.isArray(content)
        ? 'parts'
        : content === null
          ? 'null'
          : 'other'
  return { start: span.start - messageStart, end: span.end - messageStart, kind }
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
