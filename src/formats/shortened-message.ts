import type { Message } from '../conversation/message.ts'
import type { Source, Span, Pausable } from '../json/source.ts'
import { marksIn, skippedMark, type SkippedText } from '../json/skipped-text.ts'

/** A message as it is read, and the bytes that it stands in. */
export type Readable = { readonly source: Source; readonly message: Message }

/**
 * What all that reads a message reads of it: the message itself, or of a very long one the same with the middles of its
 * longest strings left out and a mark in their place. It is made once for each source.
 */
export function readable(source: Source, message: Message): Readable {
  const { skipped } = message.facts
  if (skipped === undefined) return { source, message }
  const known = made.get(source) ?? new Map<number, Readable>()
  made.set(source, known)
  const found = known.get(message.start)
  if (found !== undefined) return found
  const short = shortened(
    source,
    message,
    skipped.map((each) => movedBy(each, message.start)),
  )
  const form = { source: short, message: { start: 0, end: short.length, facts: message.facts } }
  known.set(message.start, form)
  return form
}

/** A made message with strings whole, and which of its skipped parts came back. */
export type Restored = { readonly json: string; readonly positions: readonly number[] }

/**
 * The JSON of a message that was made of a readable form, with the whole of each string that is in it as it was: an image
 * beside a text that was cut is still whole. `isKept` says of which strings. In one pass, in steps.
 */
export function* restored(
  source: Source,
  message: Message,
  json: string,
  isKept: (each: NonNullable<Message['facts']['skipped']>[number]) => boolean = () => true,
): Pausable<Restored> {
  const skipped = message.facts.skipped ?? []
  const pieces: string[] = []
  const positions: number[] = []
  // Each is decoded once, however often a text writes its mark.
  const ends = new Map<number, { readonly head: string; readonly tail: string }>()
  let from = 0
  const marks = skipped.map((each, position) => skippedMark(each, position))
  for (const [count, { position, index }] of marksIn(json, marks).entries()) {
    if (count % MARKS_PER_STEP === MARKS_PER_STEP - 1) yield
    const each = skipped[position]
    if (each === undefined || !isKept(each) || positions.includes(position)) continue
    const { start, end, string } = movedBy(each, message.start)
    const { head, tail } = ends.get(position) ?? {
      head: source.text(string.start, start),
      tail: source.text(end, string.end),
    }
    ends.set(position, { head, tail })
    const behind = index + (marks[position]?.length ?? 0)
    // Where either end was cut, all of it was meant to be.
    if (index - head.length < from || !json.startsWith(head, index - head.length)) continue
    if (!json.startsWith(tail, behind)) continue
    pieces.push(json.slice(from, index - head.length), source.text(string.start, string.end))
    from = behind + tail.length
    positions.push(position)
    yield
  }
  if (positions.length === 0) return { json, positions }
  pieces.push(json.slice(from))
  return { json: pieces.join(''), positions }
}

/** The bytes of a message without what is not read of it; `nameOf` tells two of the same length apart. */
export function shortened(
  source: Source,
  message: Span,
  skipped: readonly SkippedText[],
  nameOf: (index: number) => string = () => '',
): Source {
  const pieces: (Span | string)[] = []
  let from = message.start
  for (const [index, each] of skipped.entries()) {
    pieces.push({ start: from, end: each.start }, skippedMark(each, index, nameOf(index)))
    from = each.end
  }
  return source.joined([...pieces, { start: from, end: message.end }])
}

/** The same, counted from another place. */
export function movedBy({ start, end, string }: SkippedText, bytes: number): SkippedText {
  return {
    start: start + bytes,
    end: end + bytes,
    string: { start: string.start + bytes, end: string.end + bytes },
  }
}

// --- internal ---

/** Marks looked at between two pauses. */
const MARKS_PER_STEP = 256

/** Readable forms by the place of their messages. */
const made = new WeakMap<Source, Map<number, Readable>>()
