import type { EntrySpan, Envelope } from '../../conversation/body-spans.ts'
import { isJsonObject, parseJson, parseJsonText } from '../../conversation/json-value.ts'
import { READ_BYTES_MAX } from '../../conversation/unread.ts'
import type { Source, Span, Steps } from '../../conversation/source.ts'
import { valueIn } from '../content/slot-edits.ts'

/**
 * The entries of a history: the blocks of assistants' messages, and of users' messages that hold results, each in its message;
 * and every other message as a whole. What a user says at a time is one thing, however many blocks it is written in, and the
 * same goes for a system message.
 */
export function* wholeMessages(source: Source, blocks: readonly EntrySpan[]): Steps<readonly EntrySpan[]> {
  const entries: EntrySpan[] = []
  let entriesInStep = 0
  for (let start = 0; start < blocks.length;) {
    const block = blocks[start]
    if (block === undefined) break
    const { envelope } = block
    const own = envelope === undefined ? [block] : blocksOf(envelope, blocks, start)
    if (envelope === undefined || (yield* isOfBlocks(source, envelope, own))) entries.push(...own)
    else entries.push(wholeMessage(envelope, own))
    start += own.length
    entriesInStep += own.length
    if (entriesInStep < ENTRIES_PER_STEP) continue
    entriesInStep = 0
    yield
  }
  return entries
}

// --- internal ---

function blocksOf(envelope: Envelope, blocks: readonly EntrySpan[], start: number): readonly EntrySpan[] {
  let end = start + 1
  while (blocks[end]?.envelope === envelope) end += 1
  return blocks.slice(start, end)
}

/** Entries between two pauses: less than a millisecond. */
const ENTRIES_PER_STEP = 1_024

/** Blocks looked at between two pauses, in bytes: about a millisecond. */
const BYTES_PER_STEP = 262_144

/** How a role and a type are mostly written: where the message or block begins. */
const roleFirst = /^\{\s*"role"\s*:\s*"(\w+)"/
const typeFirst = /^\{\s*"type"\s*:\s*"(\w+)"/

/** Either stands within so many bytes, if it stands first. */
const HEAD_BYTES = 64

function* isOfBlocks(source: Source, envelope: Envelope, blocks: readonly EntrySpan[]): Steps<boolean> {
  const role = roleIn(source, envelope)
  // Of a message that nobody has read it is said later that it cannot be.
  if (role !== 'user') return role === 'assistant' || role === null
  let bytes = 0
  for (const block of blocks) {
    if (typeOf(source, block) === 'tool_result') return true
    bytes += block.end - block.start
    if (bytes < BYTES_PER_STEP) continue
    bytes = 0
    yield
  }
  return false
}

function roleIn(source: Source, { start, open, close, end }: Envelope): unknown {
  const found = roleFirst.exec(source.latin1(start, Math.min(open, start + HEAD_BYTES)))
  // What stands behind the content may say it again: then nobody knows, and the entry is not read.
  if (found !== null) return found[1]
  if (open - start + end - close > READ_BYTES_MAX) return null
  const message = parseJsonText(source.text(start, open) + source.text(close, end))
  return isJsonObject(message) ? message['role'] : null
}

function typeOf(source: Source, block: Span): unknown {
  const found = typeFirst.exec(source.latin1(block.start, Math.min(block.end, block.start + HEAD_BYTES)))
  if (found !== null) return found[1]
  const at = source.latin1(block.start, block.start + 1) === '{' ? valueIn(source, block, 'type') : null
  return at === null ? null : parseJson(source, at)
}

function wholeMessage({ start, end, keys }: Envelope, blocks: readonly EntrySpan[]): EntrySpan {
  const elements = blocks.reduce((sum, block) => sum + block.elements, blocks.length - 1)
  const longStrings = blocks.flatMap((block) => block.longStrings ?? [])
  return { start, end, keys, elements, ...(longStrings.length === 0 ? {} : { longStrings }) }
}
