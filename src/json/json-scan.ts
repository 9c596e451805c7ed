import type { Source, Span } from './source.ts'

/** Where a key (with its quotes) and its value stand. */
export type EntrySpans = { readonly key: Span; readonly value: Span }

/** Finds the end of the value that begins at `start`; -1 where there is none. `key` is the key it belongs to. */
export type EndOfValue = (latin1: string, start: number, key: Span) => number

/** The first index from `start` on that holds no JSON whitespace (RFC 8259, section 2); the length if there is none. */
export function skipWhitespace(latin1: string, start: number): number {
  let index = start
  while (isWhitespace(latin1.charCodeAt(index))) index += 1
  return index
}

/**
 * The entries of the object whose brace stands at `start`, and the index after its closing brace; null where
 * the separators are wrong or the text ends early. It finds where values begin and end, and does not check that they are
 * JSON: parse them for that. It does not recurse, so that values may be nested to any depth.
 */
export function scanObject(
  latin1: string,
  start: number,
  endOfValue: EndOfValue = endOfAnyValue,
): { readonly entries: readonly EntrySpans[]; readonly end: number } | null {
  if (latin1.charCodeAt(start) !== braceOpen) return null
  const entries: EntrySpans[] = []
  let index = skipWhitespace(latin1, start + 1)
  if (latin1.charCodeAt(index) === braceClose) return { entries, end: index + 1 }
  for (;;) {
    if (latin1.charCodeAt(index) !== quote) return null
    const keyEnd = endOfString(latin1, index)
    if (keyEnd === -1) return null
    const key = { start: index, end: keyEnd }
    index = skipWhitespace(latin1, keyEnd)
    if (latin1.charCodeAt(index) !== colon) return null
    index = skipWhitespace(latin1, index + 1)
    const end = endOfValue(latin1, index, key)
    if (end === -1) return null
    entries.push({ key, value: { start: index, end } })
    index = skipWhitespace(latin1, end)
    const separator = latin1.charCodeAt(index)
    if (separator === braceClose) return { entries, end: index + 1 }
    if (separator !== comma) return null
    index = skipWhitespace(latin1, index + 1)
  }
}

/** The elements of the array whose bracket stands at `start`, under the same terms as `scanObject`. */
export function scanArray(
  latin1: string,
  start: number,
): { readonly elements: readonly Span[]; readonly end: number } | null {
  if (latin1.charCodeAt(start) !== bracketOpen) return null
  const elements: Span[] = []
  let index = skipWhitespace(latin1, start + 1)
  if (latin1.charCodeAt(index) === bracketClose) return { elements, end: index + 1 }
  for (;;) {
    const end = endOfAnyValue(latin1, index)
    if (end === -1) return null
    elements.push({ start: index, end })
    index = skipWhitespace(latin1, end)
    const separator = latin1.charCodeAt(index)
    if (separator === bracketClose) return { elements, end: index + 1 }
    if (separator !== comma) return null
    index = skipWhitespace(latin1, index + 1)
  }
}

/** The index after the value that begins at `start`; -1 where none does or the text ends early. */
export function endOfAnyValue(latin1: string, start: number): number {
  const first = latin1.charCodeAt(start)
  if (first === quote) return endOfString(latin1, start)
  if (first === braceOpen || first === bracketOpen) return endOfNested(latin1, start)
  return beginsLiteral(first) ? endOfLiteral(latin1, start) : -1
}

/** The index after the string that begins at `start`; -1 where the text ends early. */
export function endOfString(latin1: string, start: number): number {
  // A quote ends the string unless an odd number of backslashes stands before it. A run of backslashes is counted only from the
  // quote that follows it, so the work stays linear whatever the text.
  let close = latin1.indexOf('"', start + 1)
  while (close !== -1) {
    let before = close - 1
    while (latin1.charCodeAt(before) === backslash) before -= 1
    if ((close - before) % 2 === 1) return close + 1
    close = latin1.indexOf('"', close + 1)
  }
  return -1
}

/** Where the entries of the object at `value` stand in the body; null where it is none. */
export function entriesIn(source: Source, value: Span): readonly EntrySpans[] | null {
  const scanned = scanObject(source.latin1(value.start, value.end), 0)
  if (scanned === null) return null
  return scanned.entries.map((entry) => ({
    key: movedBy(entry.key, value.start),
    value: movedBy(entry.value, value.start),
  }))
}

/** Where the elements of the array at `value` stand in the body; null where it is none. */
export function elementsIn(source: Source, value: Span): readonly Span[] | null {
  const scanned = scanArray(source.latin1(value.start, value.end), 0)
  return scanned?.elements.map((element) => movedBy(element, value.start)) ?? null
}

/** What goes with one of several members or elements, so that what is left is JSON: itself, and one of the commas beside it. */
export function withComma(places: readonly Span[], at: number): Span | null {
  const [before, place, after] = [places[at - 1], places[at], places[at + 1]]
  if (place === undefined) return null
  if (before !== undefined) return { start: before.end, end: place.end }
  return { start: place.start, end: after?.start ?? place.end }
}

/** The same of an object's members. */
export function memberWithComma(members: readonly EntrySpans[], at: number): Span | null {
  return withComma(
    members.map(({ key, value }) => ({ start: key.start, end: value.end })),
    at,
  )
}

/** ASCII codes of the characters that JSON is made of, by their names (RFC 8259). */
export const tab = 0x09
export const lineFeed = 0x0a
export const carriageReturn = 0x0d
export const space = 0x20
export const quote = 0x22
export const comma = 0x2c
export const minus = 0x2d
export const point = 0x2e
export const digitZero = 0x30
export const digitNine = 0x39
export const colon = 0x3a
export const bracketOpen = 0x5b
export const backslash = 0x5c
export const bracketClose = 0x5d
const letterF = 0x66
const letterN = 0x6e
const letterT = 0x74
export const letterU = 0x75
export const braceOpen = 0x7b
export const braceClose = 0x7d

// --- internal ---

function isWhitespace(code: number): boolean {
  return code === space || code === lineFeed || code === carriageReturn || code === tab
}

function beginsLiteral(code: number): boolean {
  return (
    (code >= digitZero && code <= digitNine) ||
    code === minus ||
    code === letterT ||
    code === letterF ||
    code === letterN
  )
}

// Braces and brackets share one counter: where they are mixed up, the text between is no JSON, and parsing
// the piece says so.
function endOfNested(latin1: string, start: number): number {
  const length = latin1.length
  let depth = 0
  let index = start
  while (index < length) {
    const code = latin1.charCodeAt(index)
    if (code === quote) {
      index = endOfString(latin1, index)
      if (index === -1) return -1
      continue
    }
    index += 1
    if (code === braceOpen || code === bracketOpen) depth += 1
    else if (code === braceClose || code === bracketClose) {
      depth -= 1
      if (depth === 0) return index
    }
  }
  return -1
}

function endOfLiteral(latin1: string, start: number): number {
  const length = latin1.length
  let index = start + 1
  while (index < length) {
    const code = latin1.charCodeAt(index)
    if (code === comma || code === braceClose || code === bracketClose || isWhitespace(code)) break
    index += 1
  }
  return index
}

function movedBy({ start, end }: Span, bytes: number): Span {
  return { start: start + bytes, end: end + bytes }
}
