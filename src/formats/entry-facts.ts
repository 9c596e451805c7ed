import { LRUCache } from 'lru-cache'
import type { EntrySpan, Envelope } from '../json/body-spans.ts'
import { isJsonObject, parseJson, parseJsonText, type JsonObject } from '../json/json-value.ts'
import { digestOfMeaning } from '../conversation/prefix-keys.ts'
import type { Message, MessageFacts, ParsedMessage } from '../conversation/message.ts'
import type { Digest, Source, Span, Pausable } from '../json/source.ts'
import { keptIn, mayHoldKept } from '../conversation/keep-tags.ts'
import { refersBack, tellsFailure } from '../conversation/result-words.ts'
import {
  marksIn,
  READ_BYTES_MAX,
  skippedMark,
  skippedMiddles,
  type SkippedText,
} from '../json/skipped-text.ts'
import type { Dialect } from './contract.ts'
import { movedBy, readable, shortened } from './shortened-message.ts'

/**
 * Reads an entry's facts, or finds them again; null if the entry cannot be read with certainty, `stateful` if it stands for
 * something that only the server has.
 */
export type FactsReader = (
  dialect: Dialect,
  scope: string,
  source: Source,
  entry: EntrySpan,
) => Pausable<MessageFacts | 'stateful' | null>

/**
 * A reader that remembers: an entry of the same scope with the same bytes is not parsed again, an unreadable one neither.
 * Keeps about `entriesMax` entries of usual size, the most recently used ones. Those of a short body are read anew each time,
 * which takes no longer than to find them; mostly nothing in it is counted.
 */
export function createFactsReader(
  digest: Digest,
  { entriesMax }: { readonly entriesMax: number },
): FactsReader {
  const memo = new LRUCache<string, MessageFacts | 'stateful' | 'unreadable'>({
    // Without `max`, which sets aside room for all of them at the start.
    maxSize: entriesMax,
    sizeCalculation: weightOf,
  })
  return function* readRememberedFacts(dialect, scope, source, entry) {
    const { start, end } = entry
    const holder = holderOf(source, entry, digest)
    if (holder === 'unreadable') return null
    const hash =
      end - start <= HASHED_BYTES_MAX ? source.hash(start, end) : yield* source.hashSteps(start, end)
    const key = `${hash} ${scope} ${dialect.name}${holder === null ? '' : ` ${holder.hash}`}`
    if (source.length < REMEMBERED_BODY_BYTES) return yield* readFacts(dialect, source, entry, digest, key)
    const known = memo.get(key)
    if (known !== undefined) return known === 'unreadable' ? null : known
    const facts = yield* readFacts(dialect, source, entry, digest, key)
    memo.set(key, facts ?? 'unreadable')
    return facts
  }
}

/** The entries at `spans` with their facts; null or `stateful` if that is what one of them is (see `FactsReader`). */
export function* readEntries(
  dialect: Dialect,
  spans: readonly EntrySpan[],
  source: Source,
  scope: string,
  readFactsOf: FactsReader,
): Pausable<readonly Message[] | 'stateful' | null> {
  const messages: Message[] = []
  let bytes = 0
  for (const entry of spans) {
    const { start, end } = entry
    const facts = yield* readFactsOf(dialect, scope, source, entry)
    if (facts === null || facts === 'stateful') return facts
    messages.push(
      entry.envelope === undefined ? { start, end, facts } : { start, end, envelope: entry.envelope, facts },
    )
    bytes += end - start + ENTRY_BYTES
    if (bytes < STEP_BYTES) continue
    bytes = 0
    yield
  }
  return messages
}

/** The texts of an entry whose facts were read: of a very long one those of its readable form. Never throws. */
export function parseEntry(dialect: Dialect, source: Source, message: Message): ParsedMessage {
  const form = readable(source, message)
  // An entry with facts is one.
  return dialect.entries.parse(entryOf(dialect, parseJson(form.source, form.message)) ?? {})
}

/**
 * The facts of an entry under this hash; null if it is no JSON object, has a key twice or is nobody's by its keys, or if its
 * dialect cannot tell what it is. Never throws.
 *
 * @internal exported for tests
 */
export function* readFacts(
  dialect: Dialect,
  source: Source,
  entry: EntrySpan,
  digest: Digest,
  hash: string,
): Pausable<MessageFacts | 'stateful' | null> {
  const reading =
    entry.end - entry.start <= READ_BYTES_MAX
      ? { source, span: entry, marks: NONE }
      : yield* shortReading(source, entry)
  if (reading === null) return null
  const { span, marks } = reading
  const parsed = parseJson(reading.source, span)
  const value = entryOf(dialect, parsed)
  if (value === null || (isJsonObject(parsed) && !hasPlainKeys(entry, parsed))) return null
  if (span.end - span.start > LONG_BYTES) yield
  const holder = holderOf(source, entry, digest)
  if (holder === 'unreadable') return null
  const described = yield* dialect.entries.describe(
    value,
    digest,
    (text) => unreadBytesIn(text, marks),
    holder?.value ?? null,
  )
  if (described === null || described === 'stateful') return described
  const { facts, meaning, answers, media } = described
  const { calls, name } = meaning
  let uncountedCharacters = Math.max(0, (name?.length ?? 0) - NAME_CHARACTERS_MAX)
  for (const call of calls) uncountedCharacters += Math.max(0, call.name.length - NAME_CHARACTERS_MAX)
  const kept = (text: string): string => keptName(text, digest)
  if (span.end - span.start > LONG_BYTES) yield
  const isReply = facts.role === 'assistant'
  return {
    emptyCalls: false,
    ...facts,
    // What belongs to the entry before it opens nothing.
    opensReply: isReply && facts.joinsPrevious !== true,
    joinsNext: isReply && !dialect.rules.entryIsReply,
    hash,
    bytes: entry.end - entry.start,
    elements: entry.elements,
    callIds: calls.length === 0 ? NONE : calls.map(({ id }) => kept(id)),
    callNames: calls.length === 0 ? NONE : calls.map((call) => kept(call.name)),
    answers: answers.length === 0 ? NONE : answers.map(kept),
    name: name === null ? null : kept(name),
    ...(uncountedCharacters === 0 ? {} : { uncountedCharacters }),
    media: media.length === 0 ? NONE : media,
    ...(marks.length === 0 ? {} : { skipped: yield* skippedOf(dialect, value, marks) }),
    ...saidBy(dialect, value, facts, source, entry),
    meaning: digestOfMeaning(meaning, digest),
  }
}

// --- internal ---

/** How much is read between two pauses, in bytes: about a millisecond if nothing of it was seen before. */
const STEP_BYTES = 65_536

/** What an entry takes beside what is written there, however short it is: as long as so many bytes. */
const ENTRY_BYTES = 128

/** From this size on the entries of a body are remembered, and with them what they weigh. */
const REMEMBERED_BODY_BYTES = 4_096

/** Up to this size an entry is hashed in one go, in bytes: in a fraction of a millisecond. */
const HASHED_BYTES_MAX = 262_144

/** Reading a longer entry takes milliseconds at each turn, in bytes. */
const LONG_BYTES = 262_144

/** Keys of an entry itself, whatever its parts have: more are nobody's. */
const KEYS_MAX = 1_000

/** Longer names and ids are nobody's: a beginning and a digest stand for them, in characters. */
const NAME_CHARACTERS_MAX = 1_024

/** Facts of the usual size weigh one; those with thousands of ids or media weigh as many as they replace. */
const CHARACTERS_PER_WEIGHT = 1_024

/** Most entries have neither calls nor media, and hundreds of thousands of them may be remembered. */
const NONE: readonly never[] = []

/** A longer result has something of its own to say, in bytes; reminders beside it count. */
const SHORT_RESULT_BYTES = 8_192

/** Longer ones are not looked into. */
const JUDGED_BYTES_MAX = 262_144

/** What a short result says of itself, and whether anybody but model and tools asks for something to be kept. */
function saidBy(
  { entries }: Dialect,
  value: JsonObject,
  { role, failed }: Pick<MessageFacts, 'role' | 'failed'>,
  source: Source,
  { start, end }: Span,
): Pick<MessageFacts, 'refersBack' | 'failed' | 'keeps'> {
  if (role === 'assistant' || failed === 'stated' || end - start > JUDGED_BYTES_MAX) return {}
  if (role !== 'tool' && !mayHoldKept(source.latin1(start, end))) return {}
  const { text } = entries.parse(value)
  if (role !== 'tool') return keptIn(text).length > 0 ? { keeps: true } : {}
  if (end - start <= SHORT_RESULT_BYTES && refersBack(text)) return { refersBack: true }
  return tellsFailure(text) ? { failed: 'worded' } : {}
}

/** What is read of an entry, where it stands, and the marks in it of what is not read. */
type Reading = { readonly source: Source; readonly span: Span; readonly marks: readonly Mark[] }

type Mark = { readonly skipped: SkippedText; readonly text: string }

/** An entry without the middles of its longest strings; null if it is still too long. */
function* shortReading(source: Source, entry: EntrySpan): Pausable<Reading | null> {
  const skipped = skippedMiddles(source, entry)
  if (skipped === null) return null
  const names: string[] = []
  // What is not read makes a difference all the same.
  for (const { start, end } of skipped) names.push(`: ${yield* source.hashSteps(start, end)}`)
  const short = shortened(source, entry, skipped, (index) => names[index] ?? '')
  const marks = skipped.map((each, index) => ({
    skipped: movedBy(each, -entry.start),
    text: skippedMark(each, index, names[index]),
  }))
  return { source: short, span: { start: 0, end: short.length }, marks }
}

/** What an entry stands in, without the entries there: `{"role":"user","content":[]}`, for example. */
type Holder = { readonly hash: string; readonly value: JsonObject }

/** What most entries stand in says who speaks, and nothing else: a few texts for all conversations. */
const shortHolders = new Map<string, Holder | 'unreadable'>()

/** Up to this size it is looked up by its text, in bytes. */
const SHORT_HOLDER_BYTES = 256

/** Then they are gathered anew: somebody names each of them. */
const SHORT_HOLDERS_MAX = 256

/** A longer one is read once for the entries that are read behind each other, of which there may be many. */
let longHolder: { readonly envelope: Envelope; readonly holder: Holder | 'unreadable' } | null = null

function holderOf(source: Source, { envelope }: EntrySpan, digest: Digest): Holder | 'unreadable' | null {
  if (envelope === undefined) return null
  const { start, open, close, end } = envelope
  if (open - start + end - close > SHORT_HOLDER_BYTES) {
    if (longHolder?.envelope !== envelope)
      longHolder = { envelope, holder: readHolder(source, envelope, digest) }
    return longHolder.holder
  }
  const text = `${source.latin1(start, open)}\n${source.latin1(close, end)}`
  const known = shortHolders.get(text)
  if (known !== undefined) return known
  const holder = readHolder(source, envelope, digest)
  if (shortHolders.size === SHORT_HOLDERS_MAX) shortHolders.clear()
  shortHolders.set(text, holder)
  return holder
}

function readHolder(
  source: Source,
  { start, open, close, end, keys }: Envelope,
  digest: Digest,
): Holder | 'unreadable' {
  if (open - start + end - close > READ_BYTES_MAX) return 'unreadable'
  const value = parseJsonText(source.text(start, open) + source.text(close, end))
  if (!isJsonObject(value) || keys !== Object.keys(value).length) return 'unreadable'
  return { hash: digest(`${source.hash(start, open)} ${source.hash(close, end)}`), value }
}

/** What was parsed of an entry, or of the text that a history is, as an object; null if it is neither. */
function entryOf({ bodies }: Dialect, parsed: unknown): JsonObject | null {
  if (isJsonObject(parsed)) return parsed
  return typeof parsed === 'string' ? (bodies.fromText?.(parsed) ?? null) : null
}

/** No key stands twice, since which one counts is anybody's guess. Of a key that does, parsing keeps one. */
function hasPlainKeys({ keys }: EntrySpan, value: JsonObject): boolean {
  return keys <= KEYS_MAX && keys === Object.keys(value).length
}

function keptName(text: string, digest: Digest): string {
  return text.length <= NAME_CHARACTERS_MAX
    ? text
    : `${text.slice(0, NAME_CHARACTERS_MAX / 2)}…${digest(text)}`
}

/** How much longer a text is than what was read of it, in bytes. */
function unreadBytesIn(text: string, marks: readonly Mark[]): number {
  let bytes = 0
  for (const { position } of marks.length === 0 ? NONE : marksIn(text, textsOf(marks))) {
    const skipped = marks[position]?.skipped
    if (skipped !== undefined) bytes += skipped.end - skipped.start
  }
  return bytes
}

/** What is not read of an entry, and whether it is text that counts. */
function* skippedOf(
  { entries }: Dialect,
  value: JsonObject,
  marks: readonly Mark[],
): Pausable<NonNullable<MessageFacts['skipped']>> {
  const { text, calls, uncut } = entries.parse(value)
  const counted = new Set<number>()
  for (const each of [text, ...calls.map(({ argumentsText }) => argumentsText), uncut]) {
    for (const { position } of marksIn(each, textsOf(marks))) counted.add(position)
    if (each.length >= LONG_BYTES) yield
  }
  return marks.map(({ skipped }, position) => ({ ...skipped, isText: counted.has(position) }))
}

function textsOf(marks: readonly Mark[]): readonly string[] {
  return marks.map(({ text }) => text)
}

function weightOf(facts: MessageFacts | 'stateful' | 'unreadable'): number {
  if (typeof facts === 'string') return 1
  const texts = [...facts.callIds, ...facts.callNames, ...facts.answers, facts.name ?? '']
  // 32 characters for what a string costs beside its characters, 256 for one description of media.
  const characters = texts.reduce((sum, text) => sum + text.length + 32, 256 * facts.media.length)
  return 1 + Math.floor(characters / CHARACTERS_PER_WEIGHT)
}
