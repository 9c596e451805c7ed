import { createTextPieces } from './text-pieces.ts'

/** One server-sent event, or one line of a stream that is none. */
export type ServerEvent = {
  /** The `event:` field; empty if there was none. */
  readonly name: string
  /** The `data:` lines, joined. */
  readonly data: string
  /** The value of a line whose field is `error:`, as llama.cpp wrote them before October 2025. */
  readonly error: string
}

/** Server-sent events, or a value of JSON on each line. */
export type StreamType = 'text/event-stream' | 'application/x-ndjson'

/**
 * Reads server-sent events with any line ending (WHATWG HTML, 9.2.6), or lines of which each is the data of one. Only new text is
 * searched for line ends. Events of more characters than this are left out.
 */
export function createEventReader({ eventCharactersMax, streamType }: EventReaderOptions) {
  const pieces = createTextPieces()
  let lineCharacters = 0
  let eventCharacters = 0
  let isOverlong = false
  let name = ''
  let data: string[] = []
  let error: string[] = []
  let atStart = true
  let skipLineFeed = false

  /** Takes decoded text, cut anywhere; returns the events that it completes. */
  function feed(text: string): ServerEvent[] {
    const events: ServerEvent[] = []
    if (text === '') return events
    let start = (atStart && text.startsWith('\uFEFF')) || (skipLineFeed && text.startsWith('\n')) ? 1 : 0
    atStart = false
    skipLineFeed = false
    let lineFeedAt = indexOrEnd(text, '\n', start)
    let returnAt = indexOrEnd(text, '\r', start)
    while (Math.min(lineFeedAt, returnAt) < text.length) {
      const lineEnd = Math.min(lineFeedAt, returnAt)
      keepPiece(text.slice(start, lineEnd))
      takeLine(events)
      start = lineEnd + 1
      if (lineEnd === returnAt && start === text.length) skipLineFeed = true
      else if (lineEnd === returnAt && text.startsWith('\n', start)) start++
      if (lineFeedAt < start) lineFeedAt = indexOrEnd(text, '\n', start)
      if (returnAt < start) returnAt = indexOrEnd(text, '\r', start)
    }
    keepPiece(text.slice(start))
    return events
  }

  /** Returns the event that the stream left unfinished. Many servers leave out the last blank line. */
  function end(): ServerEvent[] {
    const events: ServerEvent[] = []
    if (lineCharacters > 0) takeLine(events)
    takeLine(events)
    return events
  }

  function keepPiece(piece: string): void {
    if (piece === '') return
    lineCharacters += piece.length
    if (eventCharacters + lineCharacters > eventCharactersMax) isOverlong = true
    if (isOverlong) pieces.clear()
    else pieces.add(piece)
  }

  function takeLine(events: ServerEvent[]): void {
    if (lineCharacters === 0) {
      dispatch(events)
      return
    }
    const line = pieces.joined()
    pieces.clear()
    eventCharacters += lineCharacters
    lineCharacters = 0
    if (streamType === 'application/x-ndjson') {
      data.push(line)
      dispatch(events)
    } else if (!isOverlong) takeField(line)
  }

  function dispatch(events: ServerEvent[]): void {
    // A blank line too many ends nothing.
    if (eventCharacters === 0) return
    if (!isOverlong && (data.length > 0 || error.length > 0)) {
      events.push({ name, data: data.join('\n'), error: error.join('\n') })
    }
    eventCharacters = 0
    isOverlong = false
    name = ''
    data = []
    error = []
  }

  function takeField(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') name = value
    else if (field === 'error') error.push(value)
  }

  return { feed, end }
}

// --- internal ---

type EventReaderOptions = { readonly eventCharactersMax: number; readonly streamType?: StreamType }

function indexOrEnd(text: string, character: string, start: number): number {
  const index = text.indexOf(character, start)
  return index === -1 ? text.length : index
}
