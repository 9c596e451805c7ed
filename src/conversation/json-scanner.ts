import {
  backslash,
  braceClose,
  braceOpen,
  bracketClose,
  bracketOpen,
  colon,
  comma,
  digitNine,
  digitZero,
  letterU,
  minus,
  point,
  quote,
} from './json-characters.ts'
import type { Span } from './source.ts'

/** Why a text was not scanned to its end. */
export type ScanFault = 'no-json' | 'too-deep' | 'too-many-elements'

/** What a scanner meets on the two uppermost levels of a text: where values begin and end, and the keys of the outermost object. */
export type ScanVisitor = {
  /** A key of the outermost object, with its quotes. */
  readonly key: (key: Span) => void
  /** A value begins inside so many containers, 0 to 2. Another index than `start` is where the scanner goes on, inside an array. */
  readonly begin: (depth: number, start: number) => number
  /** It has ended; the scanner stops where that is `false`. */
  readonly end: (depth: number, end: number) => boolean
  /** A string of 4,096 bytes or more, with its quotes, at any depth. */
  readonly longString: (string: Span) => void
}

export type ScanLimits = {
  /** How many containers may stand in each other. */
  readonly depthMax: number
  /** How many elements of arrays and members of objects there may be in all. */
  readonly elementsMax: number
}

/**
 * Reads JSON by its bytes without building any of it: the grammar is that of JSON.parse, so what is scanned to its end
 * can be parsed piece by piece. It stops wherever it is told to and goes on from there, within strings too, and takes the
 * same memory for any text.
 */
export class JsonScanner {
  /** Elements and members met so far. */
  elements = 0
  fault: ScanFault | null = null
  isOver = false
  readonly #bytes: Uint8Array
  readonly #visitor: ScanVisitor
  readonly #limits: ScanLimits
  /** Of each open container: 1 for an object, 0 for an array. */
  #open = new Uint8Array(USUAL_DEPTH)
  #depth = 0
  #index = 0
  #stringStart = 0
  #expected: Expected = VALUE

  constructor(bytes: Uint8Array, visitor: ScanVisitor, limits: ScanLimits) {
    this.#bytes = bytes
    this.#visitor = visitor
    this.#limits = limits
  }

  /** Scans about so many bytes more, until `isOver`: at the end of the text, at a fault, or where the visitor says so. */
  scan(byteCount: number): void {
    const bytes = this.#bytes
    const until = Math.min(bytes.length, this.#index + byteCount)
    while (this.#index < until && !this.isOver) {
      if (this.#expected === STRING_END || this.#expected === KEY_END) this.#continueString(until)
      else if (isWhitespace(bytes[this.#index])) this.#index += 1
      else this.#take(bytes[this.#index] ?? 0)
    }
    if (this.#index < bytes.length || this.isOver) return
    if (this.#expected === NOTHING) this.isOver = true
    else this.#fail('no-json')
  }

  #take(byte: number): void {
    switch (this.#expected) {
      case COMMA:
        if (byte === comma) this.#index += 1
        if (byte === comma) this.#expected = this.#isInObject() ? KEY : VALUE
        else if (byte === (this.#isInObject() ? braceClose : bracketClose)) this.#close()
        else this.#fail('no-json')
        return
      case COLON:
        this.#index += 1
        this.#expected = VALUE
        if (byte !== colon) this.#fail('no-json')
        return
      case KEY:
      case FIRST_KEY:
        if (byte === quote) this.#beginKey()
        else if (byte === braceClose && this.#expected === FIRST_KEY) this.#close()
        else this.#fail('no-json')
        return
      case FIRST_VALUE:
        if (byte === bracketClose) this.#close()
        else this.#beginValue(byte)
        return
      case VALUE:
        this.#beginValue(byte)
        return
      case STRING_END:
      case KEY_END:
      case NOTHING:
        this.#fail('no-json')
    }
  }

  #beginKey(): void {
    if (!this.#countElement()) return
    this.#stringStart = this.#index
    this.#index += 1
    this.#expected = KEY_END
  }

  #beginValue(byte: number): void {
    // A member was counted with its key.
    if (this.#depth > 0 && !this.#isInObject() && !this.#countElement()) return
    const start = this.#index
    const goesOnAt = this.#depth <= VISITED_DEPTH ? this.#visitor.begin(this.#depth, start) : start
    if (byte === quote) {
      this.#stringStart = start
      this.#index += 1
      this.#expected = STRING_END
    } else if (byte === braceOpen || byte === bracketOpen) {
      this.#descend(byte === braceOpen)
      if (goesOnAt === start) return
      this.#index = goesOnAt
      this.#expected = COMMA
    } else {
      const end = endOfScalar(this.#bytes, start)
      if (end === -1) this.#fail('no-json')
      else this.#endValue(end)
    }
  }

  #descend(isObject: boolean): void {
    if (this.#depth === this.#limits.depthMax) {
      this.#fail('too-deep')
      return
    }
    if (this.#depth === this.#open.length) this.#open = twiceAsLong(this.#open)
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
    if (this.#depth <= VISITED_DEPTH && !this.#visitor.end(this.#depth, end)) this.isOver = true
  }

  #continueString(until: number): void {
    const bytes = this.#bytes
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
    if (string.end - string.start >= LONG_STRING_BYTES) this.#visitor.longString(string)
    if (this.#expected === STRING_END) this.#endValue(string.end)
    else {
      this.#index = string.end
      this.#expected = COLON
      if (this.#depth === 1) this.#visitor.key(string)
    }
  }

  #isInObject(): boolean {
    return this.#open[this.#depth - 1] === 1
  }

  #countElement(): boolean {
    this.elements += 1
    if (this.elements <= this.#limits.elementsMax) return true
    this.#fail('too-many-elements')
    return false
  }

  #fail(fault: ScanFault): void {
    this.fault = fault
    this.isOver = true
  }
}

// --- internal ---

/** From this length on a visitor is told of a string, in bytes. */
const LONG_STRING_BYTES = 4_096

/** How deep bodies mostly are. */
const USUAL_DEPTH = 32

function twiceAsLong(open: Uint8Array): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(2 * open.length)
  longer.set(open)
  return longer
}

/** Deeper values are not told of. */
const VISITED_DEPTH = 2

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

/** Of each byte, whether it stands for itself in a string; above ASCII the text is known to be valid UTF-8. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== quote && byte !== backslash ? 1 : 0,
)

/** What may follow a backslash, but for `u`: `"\/bfnrt`. */
const isEscape = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

const literals = ['true', 'false', 'null'].map((word) =>
  Uint8Array.from(word, (character) => character.charCodeAt(0)),
)

function isWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** The index after the escape that begins at `start`; -1 where it is none. */
function endOfEscape(bytes: Uint8Array, start: number): number {
  const kind = bytes[start + 1] ?? 0
  if (kind !== letterU) return isEscape[kind] === 1 ? start + 2 : -1
  for (let index = start + 2; index < start + 6; index += 1) if (!isHexDigit(bytes[index])) return -1
  return start + 6
}

function isHexDigit(byte = 0): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

function isDigit(byte = 0): boolean {
  return byte >= digitZero && byte <= digitNine
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
