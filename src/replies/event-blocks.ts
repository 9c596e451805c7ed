/** Cuts a stream of server-sent events into its events, byte for byte: whatever is taken comes out again. */
export type EventBlocks = {
  /** Takes a piece, one character a byte (latin1), cut anywhere; returns the events that it completes, with the blank line at their end. */
  readonly feed: (latin1: string) => readonly string[]
  /** What the stream left unfinished; '' where that is nothing. Many servers leave out the last blank line. */
  readonly end: () => string
}

export function createEventBlocks(): EventBlocks {
  let pending = ''
  return {
    feed: (latin1) => {
      // A blank line may have begun in the piece before.
      const searched = Math.max(0, pending.length - BLANK_LINE_CHARS_MAX)
      pending += latin1
      const blocks: string[] = []
      let start = 0
      blankLine.lastIndex = searched
      for (let match = blankLine.exec(pending); match !== null; match = blankLine.exec(pending)) {
        const end = match.index + match[0].length
        // A line feed that is still to come belongs to the carriage return at the end.
        if (end === pending.length && pending.endsWith('\r')) break
        blocks.push(pending.slice(start, end))
        start = end
      }
      pending = pending.slice(start)
      return blocks
    },
    end: () => {
      const left = pending
      pending = ''
      return left
    },
  }
}

// --- internal ---

/** Line ends are those of WHATWG HTML, 9.2.6. */
const blankLine = /(?:\r\n|\n|\r(?!\n)){2}/g

const BLANK_LINE_CHARS_MAX = 4
