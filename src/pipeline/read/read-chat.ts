import type { Chat, UnreadReason } from '../request.ts'
import { isUtf8 } from 'node:buffer'
import { anyHasBoundThoughts } from '../../compaction/history/history.ts'
import type { Message } from '../../conversation/message.ts'
import { meaningKeys } from '../../conversation/prefix-keys.ts'
import { findHistory, readBody } from '../../formats/body-members.ts'
import type { Dialect, Repaired } from '../../formats/contract.ts'
import { type FactsReader, readEntries } from '../../formats/entry-facts.ts'
import type { BodyLimits } from '../../json/body-spans.ts'
import type { Digest, Source, Span, Pausable } from '../../json/source.ts'
import { structureOf } from '../../conversation/structure.ts'
import { runBySize } from '../../scheduling/drive.ts'
import type { HeavyTurn } from '../../scheduling/heavy-work.ts'
import type { LastBodies, SharedBeginning } from './last-bodies.ts'
import type { Settings } from '../../config/settings.ts'
import { bytesOf } from '../send/outgoing-body.ts'
import { createHash, hash } from 'node:crypto'

export type ReadChatOptions = {
  readonly readFacts: FactsReader
  readonly limits: BodyLimits
  /** Bodies of which another may be the continuation. Without them every body is read as a whole, with the same result. */
  readonly lastBodies?: LastBodies
}

/**
 * Reads the bytes of a body as a conversation; the reason where that cannot be done with certainty. Where much of it is
 * new it takes a turn, which goes on until the caller ends it. `repaired`: what was changed in the bytes on the way.
 */
export async function readBytes(
  dialect: Dialect,
  bytes: Buffer,
  scope: string,
  options: ReadChatOptions,
  repaired: Pick<Repaired, 'standIns' | 'repairs'> | null = null,
  turn: HeavyTurn | null = null,
): Promise<Chat | UnreadReason> {
  const source = bodySource(bytes)
  // What was repaired is made anew each time.
  const lastBodies = repaired === null && options.lastBodies?.takes(bytes.length) ? options.lastBodies : null
  const held = `${scope} ${dialect.name}`
  const arrayStart = lastBodies === null ? null : findHistory(dialect.bodies, source)
  const beginning = arrayStart === null ? null : (lastBodies?.find(held, bytes, arrayStart) ?? null)
  const knownBytes = beginning === null ? 0 : beginning.span.end - beginning.span.start
  await turn?.take(bytes.length - knownBytes)
  const reading = chatIn(dialect, source, bytes, scope, options, repaired, beginning)
  const chat = await runBySize(bytes.length, reading)
  if (arrayStart === null || typeof chat === 'string') return chat
  const { messages, structure, keys } = chat
  lastBodies?.remember(held, { bytes, arrayStart, messages, structure, keys }, beginning)
  return chat
}

/** What a body may hold to be read, by the settings. */
export function readLimits({ depth, elements, keys, messages, parts }: Settings['limits']): BodyLimits {
  return {
    depthMax: depth,
    elementsMax: elements,
    keysMax: keys,
    messagesMax: messages,
    partsMax: parts,
  }
}

/** The same conversation, in which no thoughts are bound to what stood before them: they stay with their replies. */
export function withFreeThoughts(chat: Chat): Chat {
  if (!anyHasBoundThoughts(chat.messages)) return chat
  const messages = chat.messages.map((message): Message => {
    const { bound, ...facts } = message.facts
    return bound === 'whole' ? { ...message, facts } : message
  })
  return { ...chat, messages, signedMessages: chat.messages }
}

/** @internal exported for tests. A body as the pure folders see it. Whoever reads its text has seen to it that it is valid UTF-8. */
export function bodySource(body: Buffer): Source {
  const whole = body.length <= SCANNED_BYTES_MAX ? body.toString('latin1') : null
  return {
    length: body.length,
    bytes: body,
    latin1: (start, end) => whole?.slice(start, end) ?? body.toString('latin1', start, end),
    // A slice would keep the whole text for as long as somebody keeps a word of it.
    text: (start, end) => body.toString('utf8', start, end),
    hash: (start, end) => hash('sha256', body.subarray(start, end), 'base64url'),
    hashSteps: (start, end) => hashSteps(body.subarray(start, end)),
    joined: (pieces) => bodySource(bytesOf(body, pieces)),
  }
}

/** SHA-256 of a text's UTF-8 bytes, as 43 characters of base64url. */
export const digest: Digest = (text) => hash('sha256', text, 'base64url')

// --- internal ---

/** A function of its own: what makes steps is dear to make anew for each body. */
function* chatIn(
  dialect: Dialect,
  source: Source,
  bytes: Buffer,
  scope: string,
  { limits, readFacts }: ReadChatOptions,
  repaired: Pick<Repaired, 'standIns' | 'repairs'> | null,
  beginning: SharedBeginning | null,
): Pausable<Chat | UnreadReason> {
  const known = beginning?.span ?? null
  if (!(yield* isText(bytes, known))) return 'not-utf8'
  const body = yield* readBody(dialect.bodies, source, limits, known)
  if (typeof body === 'string') return body
  const added = yield* readEntries(dialect, body.entrySpans, source, scope, readFacts)
  if (added === null || added === 'stateful') return added ?? 'message-unreadable'
  yield
  const grewFrom = beginning?.growth ?? null
  const messages = beginning === null ? added : [...beginning.messages, ...added]
  const structure = yield* structureOf(messages, repaired?.standIns, grewFrom)
  const keys = yield* meaningKeys(messages, structure.unkeyedCount, digest, grewFrom)
  const repairs = repaired?.repairs ?? null
  return { bytes, source, dialect, body, messages, structure, keys, grewFrom, repairs }
}

/**
 * Whether a body is valid UTF-8, which nobody here rewrites otherwise. What was read before is, and ends with an ASCII
 * byte.
 */
function* isText(bytes: Buffer, known: Span | null): Pausable<boolean> {
  for (let at = 0; at < bytes.length;) {
    const until = known !== null && at < known.start ? known.start : bytes.length
    let end = Math.min(until, at + CHECKED_BYTES)
    // Not within a character; of one that is none the check itself will tell.
    for (let back = 0; back < 3 && end < until && isContinuation(bytes[end]); back += 1) end -= 1
    if (!isUtf8(bytes.subarray(at, end))) return false
    at = end === known?.start ? known.end : end
    if (at < bytes.length) yield
  }
  return true
}

/** Checked between two pauses: about a millisecond. */
const CHECKED_BYTES = 4 * 1_048_576

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80
}

/** Up to this size a body is made a text once, of which all that is scanned is a slice: most of it are a few bytes. */
const SCANNED_BYTES_MAX = 65_536

/** Hashed between two pauses: about a millisecond. */
const HASHED_BYTES = 1_048_576

function* hashSteps(bytes: Buffer): Pausable<string> {
  const hashing = createHash('sha256')
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    hashing.update(bytes.subarray(at, at + HASHED_BYTES))
    yield
  }
  return hashing.digest('base64url')
}
