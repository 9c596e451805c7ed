import { InvariantError } from '../errors.ts'
import type { Envelope, PlacedSpan } from './body-spans.ts'
import type { Source, Span } from './source.ts'

/**
 * A message of a view: one of the conversation as it came, or one that was made. A made one that stands for the message at
 * `place` stands in the envelope of that one; without a place it is an element of the history by itself.
 */
export type ViewItem =
  | { readonly kind: 'kept'; readonly index: number }
  | { readonly kind: 'made'; readonly json: string; readonly place?: number }

/** A part of a body: original bytes, or new text. */
export type BodyPiece = Span | string

/**
 * The body of `bodyLength` bytes with the view's messages in place of `messages`, which stand in `array`. Everything around
 * them, every kept message, its envelope and what stands between neighbours that are both kept are original bytes; where
 * all is kept, the one piece is the whole body. Throws an InvariantError for an index that no message has.
 */
export function spliceMessages(
  messages: readonly PlacedSpan[],
  items: readonly ViewItem[],
  array: Span,
  bodyLength: number,
): readonly BodyPiece[] {
  const [first, last] = [messages[0], messages.at(-1)]
  const pieces: BodyPiece[] = []
  append(pieces, { start: 0, end: (first?.envelope ?? first)?.start ?? array.end - 1 })
  let open: Envelope | undefined
  let previous: ViewItem | null = null
  for (const item of items) {
    const isNeighbour = item.kind === 'kept' && previous?.kind === 'kept' && item.index === previous.index + 1
    const place = item.kind === 'kept' ? item.index : item.place
    const message = place === undefined ? undefined : messageAt(messages, place)
    const piece = item.kind === 'made' ? item.json : messageAt(messages, item.index)
    const envelope = message?.envelope
    if (typeof piece !== 'string' && isNeighbour) append(pieces, extendBack(pieces, piece))
    else {
      if (envelope === undefined || envelope !== open) {
        if (open !== undefined) append(pieces, { start: open.close, end: open.end })
        if (previous !== null) append(pieces, ',')
        if (envelope !== undefined) append(pieces, { start: envelope.start, end: envelope.open })
      } else append(pieces, ',')
      append(pieces, piece)
    }
    open = envelope
    previous = item
  }
  if (open !== undefined) append(pieces, { start: open.close, end: open.end })
  append(pieces, { start: (last?.envelope ?? last)?.end ?? array.end - 1, end: bodyLength })
  return pieces
}

/** An item of a view as an element of a history by itself: with nothing beside it in its envelope, if it stands in one. */
export function standaloneJson(source: Source, messages: readonly PlacedSpan[], item: ViewItem): string {
  const place = item.kind === 'kept' ? item.index : item.place
  const message = place === undefined ? undefined : messageAt(messages, place)
  const json = item.kind === 'made' ? item.json : textOf(source, messageAt(messages, item.index))
  const envelope = message?.envelope
  if (envelope === undefined) return json
  return source.text(envelope.start, envelope.open) + json + source.text(envelope.close, envelope.end)
}

// --- internal ---

/** Adds a piece; bytes that follow directly on the last piece's bytes lengthen it. */
function append(pieces: BodyPiece[], piece: BodyPiece): void {
  const last = pieces.at(-1)
  if (
    typeof piece !== 'string' &&
    last !== undefined &&
    typeof last !== 'string' &&
    last.end === piece.start
  ) {
    pieces[pieces.length - 1] = { start: last.start, end: piece.end }
  } else pieces.push(piece)
}

/** The span from the end of the last piece to the end of `piece`: its separator is kept with it. */
function extendBack(pieces: readonly BodyPiece[], piece: Span): Span {
  const last = pieces.at(-1)
  return last === undefined || typeof last === 'string' ? piece : { start: last.end, end: piece.end }
}

function messageAt(messages: readonly PlacedSpan[], index: number): PlacedSpan {
  const message = messages[index]
  if (message === undefined) throw new InvariantError(`the view keeps message ${index} of ${messages.length}`)
  return message
}

function textOf(source: Source, { start, end }: Span): string {
  return source.text(start, end)
}
