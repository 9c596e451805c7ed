import { backslash, letterU } from './json-scan.ts'
import type { EntrySpan } from './body-spans.ts'
import type { Source, Span } from './source.ts'
import { sum, waterLevel } from '../conversation/sizes.ts'

/** Up to this size a message is read whole, in bytes: a quarter of a million tokens, more than most windows have. */
export const READ_BYTES_MAX = 1024 * 1024

/** What is left out of a long message where it is read: bytes within one of its strings. */
export type SkippedText = Span & {
  /** The string, with its quotes. */
  readonly string: Span
}

/**
 * The middles of the longest strings of a message that is longer than `READ_BYTES_MAX`: without them it is about that
 * long. Null where it would still be longer, because it consists of many short ones.
 */
export function skippedMiddles(source: Source, entry: EntrySpan): readonly SkippedText[] | null {
  const strings = entry.longStrings ?? []
  const sizes = strings.map(({ start, end }) => end - start)
  const others = entry.end - entry.start - sum(sizes)
  const level = waterLevel(sizes, READ_BYTES_MAX - others, 0)
  if (level < KEPT_BYTES_MIN) return null
  const long = strings.filter(({ start, end }) => end - start > level)
  return long.flatMap((string) => middleOf(source.bytes, string, level))
}

/** What stands inside a string for bytes of it that are not read; `position` says which of the message's. */
export function skippedMark({ start, end }: Span, position: number, name = ''): string {
  return ` [… ${end - start} bytes not read (${position + 1})${name} …] `
}

/** A mark in a text: which bytes it stands for, and where it begins. */
export type FoundMark = { readonly position: number; readonly index: number }

/** The marks in a text, in one pass over it, `marks` being all that may stand there. Whoever writes like one is not taken for it. */
export function marksIn(text: string, marks: readonly string[]): readonly FoundMark[] {
  const found: FoundMark[] = []
  for (const match of text.matchAll(anyMark)) {
    const position = Number(match[1]) - 1
    const mark = marks[position]
    if (mark !== undefined && text.startsWith(mark, match.index)) found.push({ position, index: match.index })
  }
  return found
}

// --- internal ---

const anyMark = / \[… \d+ bytes not read \((\d{1,6})\)/g

/** Less than this of a string says nothing. */
const KEPT_BYTES_MIN = 2_048

/** The middle of a string, of which about `keptBytes` stay: less where it cannot be told where its characters begin. */
function middleOf(bytes: Uint8Array, string: Span, keptBytes: number): readonly SkippedText[] {
  const half = Math.floor(keptBytes / 2)
  const [first, last] = [string.start + 1, string.end - 1]
  const start = beginOfCharacter(bytes, first + half, last) ?? first
  const end = beginOfCharacter(bytes, last - half, last) ?? last
  return start < end ? [{ start, end, string }] : []
}

/** The first index from `index` on where a character begins, or an escape; null where none is found before `last`. */
function beginOfCharacter(bytes: Uint8Array, index: number, last: number): number | null {
  const until = Math.min(last, index + LOOKED_AT_BYTES)
  for (let at = index; at < until; at += 1) if (isBegin(bytes, at)) return at
  return null
}

/** Whether a character or an escape begins here, as far as the bytes before tell without a doubt. */
function isBegin(bytes: Uint8Array, index: number): boolean {
  const byte = bytes[index] ?? 0
  const isInCharacter = byte >= CONTINUATION && byte < CONTINUATION_END
  if (isInCharacter || isLowSurrogate(bytes, index)) return false
  const backslashAt = lastBackslash(bytes, index)
  if (backslashAt === -1) return true
  let run = 0
  while (run < RUN_BYTES_MAX && bytes[backslashAt - run] === backslash) run += 1
  if (run === RUN_BYTES_MAX) return false
  // Pairs of them stand for themselves.
  if (run % 2 === 0) return true
  return index - backslashAt >= (bytes[backslashAt + 1] === letterU ? UNICODE_ESCAPE_BYTES : 2)
}

/** The last backslash of those bytes before `index` whose escape may reach it; -1 where there is none. */
function lastBackslash(bytes: Uint8Array, index: number): number {
  for (let at = index - 1; at > index - UNICODE_ESCAPE_BYTES; at -= 1) if (bytes[at] === backslash) return at
  return -1
}

/** Whether the second half of a pair is escaped here: the first one stands before it. */
function isLowSurrogate(bytes: Uint8Array, index: number): boolean {
  if (bytes[index] !== backslash || bytes[index + 1] !== letterU) return false
  const [first, second] = [bytes[index + 2] ?? 0, bytes[index + 3] ?? 0]
  return (first | 0x20) === 0x64 && (second | 0x20) >= 0x63 && (second | 0x20) <= 0x66
}

const UNICODE_ESCAPE_BYTES = 6

// Bytes of UTF-8 that go on with a character.
const CONTINUATION = 0x80
const CONTINUATION_END = 0xc0

/** How far a place to cut is looked for, in bytes. */
const LOOKED_AT_BYTES = 64

/** Of more backslashes in a row nobody counts which ones belong together. */
const RUN_BYTES_MAX = 4_096
