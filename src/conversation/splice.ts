import { InvariantError } from '../errors.ts'
import type { Span } from './source.ts'

/** A message of a view: one of the conversation as it came, or one that was made. */
export type ViewItem =
  | { readonly kind: 'kept'; readonly index: number }
  | { readonly kind: 'made'; readonly json: string }

/** A part of a body: original bytes, or new text. */
export type BodyPiece = Span | string

/**
 * The body of `bodyLength` bytes with the view's messages in place of `messages`, the elements of `array`.
 * Everything around the elements, every kept message and what stands between neighbours that are both kept
 * are original bytes; where all is kept, the one piece is the whole body. Throws an InvariantError for an
 * index that no message has.
 */
export function spliceMessages(
  messages: readonly Span[],
  items: readonly ViewItem[],
  array: Span,
  bodyLength: number,
): readonly BodyPiece[] {
  const pieces: BodyPiece[] = []
  append(pieces, { start: 0, end: messages[0]?.start ?? array.end - 1 })
  let previous: ViewItem | null = null
  for (const item of items) {
    const isNeighbour = item.kind === 'kept' && previous?.kind === 'kept' && item.index === previous.index + 1
    const piece = item.kind === 'made' ? item.json : messageAt(messages, item.index)
    if (typeof piece !== 'string' && isNeighbour) append(pieces, extendBack(pieces, piece))
    else {
      if (previous !== null) append(pieces, ',')
      append(pieces, piece)
    }
    previous = item
  }
  append(pieces, { start: messages.at(-1)?.end ?? array.end - 1, end: bodyLength })
  return pieces
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

function messageAt(messages: readonly Span[], index: number): Span {
  const message = messages[index]
  if (message === undefined) throw new InvariantError(`the view keeps message ${index} of ${messages.length}`)
  return message
}
