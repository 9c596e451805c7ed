import { scanArray, scanObject, type EntrySpans } from './json-scan.ts'
import type { Source, Span } from './source.ts'

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

// --- internal ---

function movedBy({ start, end }: Span, bytes: number): Span {
  return { start: start + bytes, end: end + bytes }
}
