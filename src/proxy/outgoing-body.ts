import type { BodyPiece } from '../conversation/splice.ts'
import type { Span } from '../conversation/source.ts'

/** The bytes of a body that was put together from original bytes and new text. */
export function bytesOf(original: Buffer, pieces: readonly BodyPiece[]): Buffer {
  return Buffer.concat(
    pieces.map((piece) =>
      typeof piece === 'string' ? Buffer.from(piece, 'utf8') : original.subarray(piece.start, piece.end),
    ),
  )
}

/** The pieces with the original bytes of `span` replaced by a text. The span lies within one run of original bytes. */
export function withReplaced(pieces: readonly BodyPiece[], span: Span, text: string): BodyPiece[] {
  return pieces.flatMap((piece): BodyPiece[] => {
    if (typeof piece === 'string' || span.start < piece.start || span.end > piece.end) return [piece]
    return [{ start: piece.start, end: span.start }, text, { start: span.end, end: piece.end }]
  })
}
