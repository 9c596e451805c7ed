import {
  backslash,
  braceClose,
  braceOpen,
  bracketClose,
  bracketOpen,
  carriageReturn,
  colon,
  comma,
  digitNine,
  digitZero,
  letterU,
  lineFeed,
  minus,
  point,
  quote,
  space,
  tab,
} from './json-scan.ts'
import { readKey } from './json-value.ts'
import type {
  BodyFault,
  BodyLimits,
  BodyMember,
  BodyScan,
  EntrySpan,
  HistoryKeys,
  KnownHistory,
  ValueSpan,
} from './body-spans.ts'
import type { Source, Span, Pausable } from './source.ts'

/**
 * Delimits the members of a body and the entries of its history, and makes sure that all of it is JSON within the limits. What
 * is `known` is passed over. In steps; nothing is built but the spans.
 */
export function* scanBody(
  source: Source,
  names: HistoryKeys,
  known: KnownHistory | null,
  limits: BodyLimits,
): Pausable<BodyScan | BodyFault> {
  const scanner = new BodyScanner(source, names, known, limits)
  for (;;) {
    scanner.scan(STEP_BYTES)
    if (scanner.isOver) break
    yield
  }
  const { fault, isObject, entries, history } = scanner
  return fault ?? (isObject ? { entries, history } : 'no-json')
}

/** Whether a member may be parsed in one go: a large one would keep others waiting, and take many times its bytes. */
export function isParsedAtOnce({ start, end, elements }: ValueSpan): boolean {
  return end - start <= PARSED_BYTES_MAX && elements <= PARSED_ELEMENTS_MAX
}

// --- internal ---

/** More than any list of tools that was seen, in bytes. */
const PARSED_BYTES_MAX = 1024 * 1024

const PARSED_ELEMENTS_MAX = 20_000

/** How much is scanned between two pauses, in bytes: a fraction of a millisecond. */
const STEP_BYTES = 262_144

/** A key may have so many bytes for each of its characters: an escape. */
const ESCAPE_BYTES = 6

/**
 * Reads JSON by its bytes without building any of it: the grammar is that of JSON.parse, so what is scanned to its end
 * can be parsed piece by piece. It stops wherever it is told to and goes on from there, within strings too.
 *
 * @internal exported for tests
 */
export class BodyScanner {
  isOver = false
  fault: BodyFault | null = null
  isObject = false
  readonly entries: BodyMember[] = []
  history: EntrySpan[] | null = null
  /** Elements and members met so far. */
  elements: number
  readonly #source: Source
  readonly #names: HistoryKeys
  readonly #known: KnownHistory | null
  readonly #limits: BodyLimits
  /** Of each open container: 1 for an object, 0 for an array. */
  #open = new Uint8Array(USUAL_DEPTH)
  #depth = 0
  #index = 0
  #stringStart = 0
  #expected: Expected = VALUE
  /** The latest key of the body, and of the element of its history. */
  #key: Span = NOWHERE
  #entryKey: Span = NOWHERE
  /** Of the member of the body that is being scanned, and of the entry of its history. */
  #member = { start: 0, elementsBefore: 0, isHistory: false }
  #entry = { start: 0, elementsBefore: 0, keys: 0 }
  #longStrings: Span[] = []
  /** Of the element that is being scanned: whether its content is, and the entries in it. */
  #isInContent = false
  #held: EntrySpan[] = []
  #heldEntry = { start: 0, elementsBefore: 0, keys: 0 }

  constructor(source: Source, names: HistoryKeys, known: KnownHistory | null, limits: BodyLimits) {
    this.#source = source
    this.#names = names
    this.#known = known
    this.#limits = limits
    this.elements = known?.elements ?? 0
  }

  /** Scans about so many bytes more, until `isOver`: at the end of the text or at a fault. */
  scan(byteCount: number): void {
    const { bytes } = this.#source
    const until = Math.min(bytes.length, this.#index + byteCount)
    while (this.#index < until && !this.isOver) {
      const byte = bytes[this.#index] ?? 0
      if (this.#expected === STRING_END || this.#expected === KEY_END) this.#continueString(until)
      else if (byte === space || byte === lineFeed || byte === carriageReturn || byte === tab)
        this.#index += 1
      else this.#take(byte)
    }
    if (this.#index < bytes.length || this.isOver) return
    if (this.#expected === NOTHING) this.isOver = true
    else this.#fail('no-json')
  }

  #take(byte: number): void {
    const isInObject = this.#open[this.#depth - 1] === 1
    switch (this.#expected) {
      case COMMA:
        if (byte === comma) {
          this.#index += 1
          this.#expected = isInObject ? KEY : VALUE
        } else if (byte === (isInObject ? braceClose : bracketClose)) this.#close()
        else this.#fail('no-json')
        return
      case COLON:
        this.#index += 1
        this.#expected = VALUE
        if (byte !== colon) this.#fail('no-json')
        return
      case KEY:
      case FIRST_KEY:
        if (byte === quote) this.#beginString(KEY_END)
        else if (byte === braceClose && this.#expected === FIRST_KEY) this.#close()
        else this.#fail('no-json')
        return
      case FIRST_VALUE:
      case VALUE:
        if (byte === bracketClose && this.#expected === FIRST_VALUE) this.#close()
        else this.#beginValue(byte, isInObject)
        return
      case STRING_END:
      case KEY_END:
      case NOTHING:
        this.#fail('no-json')
    }
  }

  #beginString(expected: typeof KEY_END | typeof STRING_END): void {
    // A member is counted with its key.
    if (expected === KEY_END) this.elements += 1
    if (this.elements > this.#limits.elementsMax) this.#fail('too-many-elements')
    this.#stringStart = this.#index
    this.#index += 1
    this.#expected = expected
  }

  #beginValue(byte: number, isInObject: boolean): void {
    const start = this.#index
    if (this.#depth > 0 && !isInObject) {
      this.elements += 1
      if (this.elements > this.#limits.elementsMax) {
        this.#fail('too-many-elements')
        return
      }
    }
    let goesOnAt = start
    if (this.#depth === 0) this.isObject = byte === braceOpen
    else if (this.#depth === 1 && this.isObject) goesOnAt = this.#beginMember(start, byte)
    else if (this.#depth === 2 && this.#member.isHistory)
      this.#entry = { start, elementsBefore: this.elements, keys: 0 }
    else if (this.#depth === ENTRY_DEPTH) this.#isInContent = this.#isContent(byte)
    else if (this.#depth === CONTENT_DEPTH && this.#isInContent) this.#beginHeld(start)
    if (byte === quote) this.#beginString(STRING_END)
    else if (byte === braceOpen || byte === bracketOpen) {
      this.#descend(byte === braceOpen)
      if (goesOnAt === start) return
      this.#index = goesOnAt
      this.#expected = COMMA
    } else {
      const end = endOfScalar(this.#source.bytes, start)
      if (end === -1) this.#fail('no-json')
      else this.#endValue(end)
    }
  }

  /** Where to go on: behind what is known of the history. */
  #beginMember(start: number, byte: number): number {
    const isHistory = byte === bracketOpen && this.#isKey(this.#key, this.#names.history)
    this.#member = { start, elementsBefore: this.elements, isHistory }
    if (!isHistory) return start
    this.history = []
    return start === this.#known?.start ? this.#known.end : start
  }

  #isKey(key: Span, name: string): boolean {
    return key.end - key.start <= ESCAPE_BYTES * name.length + 2 && readKey(this.#source, key) === name
  }

  #isContent(byte: number): boolean {
    const { content } = this.#names
    const isArray = this.#member.isHistory && byte === bracketOpen && this.#open[ENTRY_DEPTH - 1] === 1
    return content !== null && isArray && this.#held.length === 0 && this.#isKey(this.#entryKey, content)
  }

  /** What of the element stands before its first entry counts as that one's. */
  #beginHeld(start: number): void {
    const elementsBefore = this.#held.length === 0 ? this.#entry.elementsBefore : this.elements
    this.#heldEntry = { start, elementsBefore, keys: 0 }
  }

  #endHeld(end: number): void {
    const { start, elementsBefore, keys } = this.#heldEntry
    this.#held.push(this.#entryOf({ start, end, elements: this.elements - elementsBefore, keys }))
  }

  #entryOf(entry: EntrySpan): EntrySpan {
    if (this.#longStrings.length === 0) return entry
    const longStrings = this.#longStrings
    this.#longStrings = []
    return { ...entry, longStrings }
  }

  #descend(isObject: boolean): void {
    if (this.#depth === this.#limits.depthMax) {
      this.#fail('too-deep')
      return
    }
    if (this.#depth === this.#open.length) {
      const longer = new Uint8Array(2 * this.#open.length)
      longer.set(this.#open)
      this.#open = longer
    }
    this.#open[this.#depth] = isObject ? 1 : 0
    this.#depth += 1
    this.#index += 1
    this.#expected = isObject ? FIRST_KEY : FIRST_VALUE
  }

  #close(): void {
    this.#depth -= 1
    this.#endValue(this.#index + 1)
  }

  #endValue(end: number): void {
    this.#index = end
    this.#expected = this.#depth === 0 ? NOTHING : COMMA
    if (this.#depth === 1 && this.isObject) {
      const { start, elementsBefore } = this.#member
      this.#member.isHistory = false
      this.entries.push({ key: this.#key, value: { start, end, elements: this.elements - elementsBefore } })
      if (this.entries.length > this.#limits.keysMax) this.#fail('too-many-keys')
    } else if (this.#depth === 2 && this.#member.isHistory) this.#endElement(end)
    else if (this.#depth === CONTENT_DEPTH && this.#isInContent) this.#endHeld(end)
    else if (this.#depth === ENTRY_DEPTH) this.#isInContent = false
  }

  #endElement(end: number): void {
    const { start, elementsBefore, keys } = this.#entry
    const [first, last] = [this.#held[0], this.#held.at(-1)]
    if (first === undefined || last === undefined)
      this.#addEntry(this.#entryOf({ start, end, elements: this.elements - elementsBefore, keys }))
    else {
      const envelope = { start, end, open: first.start, close: last.end, keys }
      // What stands behind the last entry counts as that one's.
      const counted = this.#held.reduce((sum, { elements }) => sum + elements, this.#held.length - 1)
      const behind = this.elements - elementsBefore - counted
      for (const entry of this.#held) {
        const elements = entry.elements + (entry === last ? behind : 0)
        this.#addEntry({ ...entry, elements, envelope })
      }
      this.#held = []
      this.#longStrings = []
    }
  }

  #addEntry(entry: EntrySpan): void {
    this.history?.push(entry)
    const messages = (this.#known?.messages ?? 0) + (this.history?.length ?? 0)
    if (messages > this.#limits.messagesMax) this.#fail('too-many-messages')
    else if (entry.elements > this.#limits.partsMax) this.#fail('too-many-parts')
  }

  #continueString(until: number): void {
    const { bytes } = this.#source
    let index = this.#index
    for (;;) {
      while (index < until && isPlain[bytes[index] ?? 0] === 1) index += 1
      this.#index = index
      if (index >= until) return
      const byte = bytes[index]
      if (byte === quote) break
      const end = byte === backslash ? endOfEscape(bytes, index) : -1
      if (end === -1) {
        this.#fail('no-json')
        return
      }
      index = end
    }
    const string = { start: this.#stringStart, end: index + 1 }
    if (this.#member.isHistory && string.end - string.start >= LONG_STRING_BYTES)
      this.#longStrings.push(string)
    if (this.#expected === STRING_END) this.#endValue(string.end)
    else {
      this.#index = string.end
      this.#expected = COLON
      if (this.#depth === 1) this.#key = string
      else if (this.#depth === ENTRY_DEPTH) {
        this.#entry.keys += 1
        this.#entryKey = string
      } else if (this.#depth === HELD_DEPTH && this.#isInContent) this.#heldEntry.keys += 1
    }
  }

  #fail(fault: BodyFault): void {
    this.fault = fault
    this.isOver = true
  }
}

const NOWHERE: Span = { start: 0, end: 0 }

/** From this length on the strings of an entry are told of, in bytes. */
const LONG_STRING_BYTES = 4_096

/** So many containers are open within an element of the history, within its content, and within an entry there. */
const ENTRY_DEPTH = 3
const CONTENT_DEPTH = 4
const HELD_DEPTH = 5

/** How deep bodies mostly are. */
const USUAL_DEPTH = 32

// What may come next.
const VALUE = 0
const FIRST_VALUE = 1
const KEY = 2
const FIRST_KEY = 3
const COLON = 4
const COMMA = 5
const STRING_END = 6
const KEY_END = 7
const NOTHING = 8

type Expected =
  | typeof VALUE
  | typeof FIRST_VALUE
  | typeof KEY
  | typeof FIRST_KEY
  | typeof COLON
  | typeof COMMA
  | typeof STRING_END
  | typeof KEY_END
  | typeof NOTHING

// What JSON's strings, numbers and literals look like, byte by byte (RFC 8259).

/** Of each byte, whether it stands for itself in a string; above ASCII the text is known to be valid UTF-8. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== quote && byte !== backslash ? 1 : 0,
)

/** The index after the escape that begins at `start`; -1 where it is none. */
function endOfEscape(bytes: Uint8Array, start: number): number {
  const kind = bytes[start + 1] ?? 0
  if (kind !== letterU) return isEscape[kind] === 1 ? start + 2 : -1
  for (let index = start + 2; index < start + 6; index += 1) if (!isHexDigit(bytes[index])) return -1
  return start + 6
}

/** The index after the number or literal that begins at `start`; -1 where none does. */
function endOfScalar(bytes: Uint8Array, start: number): number {
  const first = bytes[start]
  if (first === minus || isDigit(first)) return endOfNumber(bytes, start)
  for (const literal of literals) {
    if (literal.every((byte, offset) => bytes[start + offset] === byte)) return start + literal.length
  }
  return -1
}

/** What may follow a backslash, but for `u`: `"\/bfnrt`. */
const isEscape = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

const literals = ['true', 'false', 'null'].map((word) =>
  Uint8Array.from(word, (character) => character.charCodeAt(0)),
)

function isHexDigit(byte = 0): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

function isDigit(byte = 0): boolean {
  return byte >= digitZero && byte <= digitNine
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  let index = bytes[start] === minus ? start + 1 : start
  // A zero leads nothing.
  index = bytes[index] === digitZero ? index + 1 : endOfDigits(bytes, index)
  if (index !== -1 && bytes[index] === point) index = endOfDigits(bytes, index + 1)
  if (index === -1 || (bytes[index] !== 0x65 && bytes[index] !== 0x45)) return index
  const sign = bytes[index + 1]
  return endOfDigits(bytes, sign === 0x2b || sign === minus ? index + 2 : index + 1)
}

/** The index after at least one digit and at most `NUMBER_DIGITS_MAX`; -1 where there are fewer or more. */
function endOfDigits(bytes: Uint8Array, start: number): number {
  let index = start
  while (isDigit(bytes[index]) && index - start <= NUMBER_DIGITS_MAX) index += 1
  return index === start || index - start > NUMBER_DIGITS_MAX ? -1 : index
}

/** A number is scanned in one go; one of more digits is nobody's. */
const NUMBER_DIGITS_MAX = 65_536
