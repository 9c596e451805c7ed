import type { Chat, UnreadReason } from '../request.ts'
import { isUtf8 } from 'node:buffer'
import { meaningKeys } from '../../conversation/keys.ts'
import type { Dialect, Repaired } from '../../dialects/contract.ts'
import { readEntries, type FactsReader } from '../../dialects/entry-facts.ts'
import type { BodyLimits, KnownHistory } from '../../conversation/body-spans.ts'
import { finish, type Span, type Steps } from '../../conversation/source.ts'
import { structureOf } from '../../conversation/structure.ts'
import { bodySource, digest } from './body-source.ts'
import { breathe, drive } from '../../scheduling/drive.ts'
import type { HeavyTurn } from '../../scheduling/heavy-work.ts'
import type { LastBodies, SharedBeginning } from './last-bodies.ts'

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
  const arrayStart = lastBodies === null ? null : dialect.bodies.findHistory(source)
  const beginning = arrayStart === null ? null : (lastBodies?.find(held, bytes, arrayStart) ?? null)
  const known = beginning === null ? null : knownIn(beginning)
  const newBytes = bytes.length - (known === null ? 0 : known.end - known.start)
  const awaited = turn?.take(newBytes) ?? null
  if (awaited !== null) await awaited
  // What is done at once waits for nothing.
  const isShort = bytes.length <= SHORT_BYTES_MAX
  if (!(isShort ? isUtf8(bytes) : await drive(isText(bytes, known)))) return 'not-utf8'
  const reading = dialect.bodies.read(source, options.limits, known)
  const read = isShort ? finish(reading) : await drive(reading)
  if (!read.read) return read.reason
  const finding = readEntries(dialect, read.body.entrySpans, source, scope, options.readFacts)
  const added = isShort ? finish(finding) : await drive(finding)
  if (added === null || added === 'stateful') return added ?? 'message-unreadable'
  if (bytes.length >= PAUSED_BYTES_MIN) await breathe()
  const grewFrom = beginning?.growth ?? null
  const messages = beginning === null ? added : [...beginning.messages, ...added]
  const dividing = structureOf(messages, repaired?.standIns, grewFrom)
  const structure = isShort ? finish(dividing) : await drive(dividing)
  const naming = meaningKeys(messages, structure.unkeyedCount, digest, grewFrom)
  const keys = isShort ? finish(naming) : await drive(naming)
  if (arrayStart !== null)
    lastBodies?.remember(held, { bytes, arrayStart, messages, structure, keys }, beginning)
  return {
    bytes,
    source,
    dialect,
    body: read.body,
    messages,
    structure,
    keys,
    grewFrom,
    repairs: repaired?.repairs ?? null,
  }
}

// --- internal ---

/** Up to this size a body is read without a pause, in a fraction of a millisecond. */
const SHORT_BYTES_MAX = 16_384

/** From this size on others are let in between. */
const PAUSED_BYTES_MIN = 524_288

function knownIn({ messages, span }: SharedBeginning): KnownHistory {
  const elements = messages.reduce((sum, { facts }) => sum + facts.elements, messages.length)
  return { ...span, messages: messages.length, elements }
}

/**
 * Whether a body is valid UTF-8, which nobody here rewrites otherwise. What was read before is, and ends with an ASCII
 * byte.
 */
function* isText(bytes: Buffer, known: Span | null): Steps<boolean> {
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
