import type { HostileAnswer } from '../attack.ts'

/** A stream of events of so many bytes. */
export function hostileStream(bytes: number, eventAt: (index: number) => string): HostileAnswer {
  return { type: 'text/event-stream', pieces: eventsOf(bytes, eventAt) }
}

// --- internal ---

/** In pieces of the size in which a socket gives them. */
function* eventsOf(bytes: number, eventAt: (index: number) => string): Generator<Buffer> {
  let piece = ''
  let sent = 0
  for (let index = 0; sent < bytes; index += 1) {
    piece += eventAt(index)
    if (piece.length < PIECE_BYTES) continue
    sent += piece.length
    yield Buffer.from(piece)
    piece = ''
    if (index === 0) return
  }
  yield Buffer.from(piece)
}

const PIECE_BYTES = 65_536
