import type { StreamType } from '../../formats/event-reader.ts'

/** A piece of a stream of server-sent events, byte for byte. */
export type EventPiece = {
  /**
   * `event`: an event with the blank line at its end, or a comment between two, or blank lines too many; `part`: of an
   * event that is longer than may be held; `line-feed`: the rest of the line end of the piece before.
   */
  readonly kind: 'event' | 'part' | 'line-feed'
  readonly bytes: Buffer
}

/** Cuts a stream of server-sent events: what is taken comes out again, an event no later than it is complete. */
export type EventCutter = {
  /** Takes a part of the stream, cut anywhere; returns what is complete by now. */
  readonly feed: (bytes: Buffer) => readonly EventPiece[]
  /** What the stream left incomplete; empty where that is nothing. Many servers leave out the last blank line. */
  readonly end: () => Buffer
}

/**
 * Of an event that lies in one of the parts a view is given, no copy. In a stream of lines each is an event. Events of more than `eventBytesMax` bytes come in
 * parts. Line ends are those of WHATWG HTML, 9.2.6.
 */
export function createEventCutter({ eventBytesMax, streamType }: EventCutterOptions): EventCutter {
  /** The incomplete event's beginning, from earlier parts. */
  const held = createGrowingBytes()
  /** The incomplete event is too long, and what there was of it has been given. */
  let isTooLong = false
  let isAtEventStart = true
  let isAtLineStart = true
  let isComment = false
  /** The last part ended in a carriage return; a line feed that follows belongs to it. */
  let isAfterReturn = false
  const areLines = streamType === 'application/x-ndjson'

  function feed(bytes: Buffer): readonly EventPiece[] {
    const pieces: EventPiece[] = []
    let eventStart = 0
    let index = 0
    if (isAfterReturn && bytes[0] === lineFeed) {
      index = 1
      if (isAtEventStart) {
        pieces.push({ kind: 'line-feed', bytes: bytes.subarray(0, 1) })
        eventStart = 1
      }
    }
    if (bytes.length > 0) isAfterReturn = false
    while (index < bytes.length) {
      if (isAtEventStart && isAtLineStart && held.length() === 0 && !isTooLong) {
        // Somebody may send megabytes of them.
        const blankEnd = endOfLineEnds(bytes, index, eventBytesMax)
        if (blankEnd > index) {
          pieces.push({ kind: 'event', bytes: bytes.subarray(index, blankEnd) })
          isAfterReturn = blankEnd === bytes.length && bytes[blankEnd - 1] === carriageReturn
          index = blankEnd
          eventStart = blankEnd
          continue
        }
      }
      if (isAtLineStart) isComment = bytes[index] === colon
      const contentEnd = endOfContent(bytes, index)
      if (contentEnd > index) isAtLineStart = false
      if (contentEnd === bytes.length) break
      const isBlank = isAtLineStart
      index = afterLineEnd(bytes, contentEnd)
      isAtLineStart = true
      isAfterReturn = index === bytes.length && bytes[index - 1] === carriageReturn
      isAtEventStart = areLines || isBlank || (isComment && isAtEventStart)
      // A comment before an event is no part of it: whoever keeps a connection alive with them has to be heard.
      if (!isAtEventStart) continue
      const rest = bytes.subarray(eventStart, index)
      isTooLong ||= held.length() + rest.length > eventBytesMax
      pieces.push({ kind: isTooLong ? 'part' : 'event', bytes: withHeld(rest) })
      isTooLong = false
      eventStart = index
    }
    const rest = bytes.subarray(eventStart)
    isTooLong ||= held.length() + rest.length > eventBytesMax
    if (!isTooLong) held.add(rest)
    else if (rest.length > 0) pieces.push({ kind: 'part', bytes: withHeld(rest) })
    return pieces
  }

  function withHeld(rest: Buffer): Buffer {
    if (held.length() === 0) return rest
    held.add(rest)
    return held.take()
  }

  return { feed, end: held.take }
}

type EventCutterOptions = { readonly eventBytesMax: number; readonly streamType?: StreamType }

/** Bytes that come in pieces, however small, and lie in one place: a list of a million pieces takes a hundred times their bytes. */
type GrowingBytes = {
  readonly add: (piece: Buffer) => void
  readonly length: () => number
  /** All of them; it is empty then. */
  readonly take: () => Buffer
}

export function createGrowingBytes(): GrowingBytes {
  let bytes = nothing
  let length = 0
  return {
    add: (piece) => {
      if (piece.length === 0) return
      if (length + piece.length > bytes.length) {
        // Twice as much each time: what is copied stays within twice of what came.
        const larger = Buffer.allocUnsafeSlow(Math.max(BYTES_MIN, 2 * bytes.length, length + piece.length))
        bytes.copy(larger, 0, 0, length)
        bytes = larger
      }
      length += piece.copy(bytes, length)
    },
    length: () => length,
    take: () => {
      const all = bytes.subarray(0, length)
      bytes = nothing
      length = 0
      return all
    },
  }
}

// --- internal ---

const lineFeed = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a

function endOfContent(bytes: Buffer, start: number): number {
  let index = start
  while (index < bytes.length && bytes[index] !== lineFeed && bytes[index] !== carriageReturn) index += 1
  return index
}

/** Where the line ends that begin at `start` are over, or as many of them as `bytesMax` bytes hold. */
function endOfLineEnds(bytes: Buffer, start: number, bytesMax: number): number {
  let index = start
  while (bytes[index] === lineFeed || bytes[index] === carriageReturn) {
    const end = afterLineEnd(bytes, index)
    if (end - start > bytesMax) break
    index = end
  }
  return index
}

function afterLineEnd(bytes: Buffer, contentEnd: number): number {
  const isPair = bytes[contentEnd] === carriageReturn && bytes[contentEnd + 1] === lineFeed
  return contentEnd + (isPair ? 2 : 1)
}

const nothing = Buffer.alloc(0)

/** What an event mostly takes, in bytes. */
const BYTES_MIN = 1_024
