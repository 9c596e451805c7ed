import { findContent } from './message-fields.ts'
import type { Message } from './message.ts'
import type { Source, Span } from './source.ts'
import { unreadMark, type Unread } from './unread.ts'

/** A message as it is read, and the bytes that it stands in. */
export type Readable = { readonly source: Source; readonly message: Message }

/**
 * What all that reads a message reads of it: the message itself, or of a very long one the same with the middles of its
 * longest strings left out and a mark in their place. It is made once for each source.
 */
export function readable(source: Source, message: Message): Readable {
  const { unread } = message.facts
  if (unread === undefined) return { source, message }
  const known = made.get(source) ?? new Map<number, Readable>()
  made.set(source, known)
  const found = known.get(message.start)
  if (found !== undefined) return found
  const short = shortened(
    source,
    message,
    unread.map((each) => movedBy(each, message.start)),
  )
  const span = { start: 0, end: short.length }
  const place = findContent(short, span)
  const { content } = message.facts
  const isThere = content !== null && place !== null && place !== 'none'
  const facts = { ...message.facts, content: isThere ? { ...content, ...place } : content }
  const form = { source: short, message: { ...span, facts } }
  known.set(message.start, form)
  return form
}

/**
 * The JSON of a message that was made of a readable form, with the whole of each string that is in it as it was: an image
 * beside a text that was cut is still whole.
 */
export function restored(source: Source, message: Message, json: string): string {
  let text = json
  for (const each of message.facts.unread ?? []) {
    const { start, end, string } = movedBy(each, message.start)
    const short = source.text(string.start, start) + unreadMark(each) + source.text(end, string.end)
    const at = text.indexOf(short)
    if (at !== -1)
      text = text.slice(0, at) + source.text(string.start, string.end) + text.slice(at + short.length)
  }
  return text
}

/** The bytes of a message without what is not read of it; `nameOf` tells two of the same length apart. */
export function shortened(
  source: Source,
  message: Span,
  unread: readonly Unread[],
  nameOf: (index: number) => string = () => '',
): Source {
  const pieces: (Span | string)[] = []
  let from = message.start
  for (const [index, each] of unread.entries()) {
    pieces.push({ start: from, end: each.start }, unreadMark(each, nameOf(index)))
    from = each.end
  }
  return source.joined([...pieces, { start: from, end: message.end }])
}

/** The same, counted from another place. */
export function movedBy({ start, end, string }: Unread, bytes: number): Unread {
  return {
    start: start + bytes,
    end: end + bytes,
    string: { start: string.start + bytes, end: string.end + bytes },
  }
}

// --- internal ---

/** Readable forms by the place of their messages. */
const made = new WeakMap<Source, Map<number, Readable>>()
