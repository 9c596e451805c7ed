/** A message of HTTP/1.1 that has arrived whole. */
export type HttpMessage = {
  /** Its first line and its headers, without the blank line. */
  readonly head: string
  /** The first bytes of its body, at most `FIRST_BYTES`, without chunk framing. */
  readonly first: Buffer
}

export type HttpEvents = {
  readonly onHead?: (head: string) => void
  /** Is given each piece of the body, without chunk framing. */
  readonly onBody?: (piece: Buffer) => void
  readonly onEnd: (message: HttpMessage) => void
}

/** How much of a body is kept. */
const FIRST_BYTES = 256

/**
 * Reads the messages of one connection. Only as much of HTTP as both ends of this bench write: a length or chunks, no
 * trailers. It exists because a common HTTP client costs more than the relays that it is to measure.
 */
export function createHttpReader({ onHead, onBody, onEnd }: HttpEvents): (piece: Buffer) => void {
  let head = ''
  let first: Buffer = empty
  let pending: Buffer = empty
  /** What comes next; `length` bytes of it. */
  let state: 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' = 'head'
  let length = 0
  let isLast = false

  function body(piece: Buffer): void {
    if (first.length < FIRST_BYTES)
      first = Buffer.concat([first, piece.subarray(0, FIRST_BYTES - first.length)])
    onBody?.(piece)
  }
  function end(): void {
    const message = { head, first }
    state = 'head'
    head = ''
    first = empty
    onEnd(message)
  }

  return function read(piece) {
    let rest = pending.length === 0 ? piece : Buffer.concat([pending, piece])
    pending = empty
    for (;;) {
      if (state === 'head' || state === 'chunk-size') {
        const separator = state === 'head' ? '\r\n\r\n' : '\r\n'
        const at = rest.indexOf(separator)
        if (at === -1) {
          pending = rest
          return
        }
        const text = rest.toString('latin1', 0, at)
        rest = rest.subarray(at + separator.length)
        if (state === 'chunk-size') {
          length = Number.parseInt(text, 16)
          isLast = length === 0
          state = isLast ? 'chunk-end' : 'chunk'
          if (isLast) length = 2
          continue
        }
        head = text
        onHead?.(head)
        const stated = /\r\ncontent-length: *(\d+)/i.exec(head)
        if (/\r\ntransfer-encoding: *chunked/i.test(head)) state = 'chunk-size'
        else if (stated !== null && stated[1] !== '0') {
          length = Number(stated[1])
          state = 'length'
        } else end()
        continue
      }
      if (rest.length === 0) return
      const taken = rest.subarray(0, Math.min(length, rest.length))
      rest = rest.subarray(taken.length)
      length -= taken.length
      if (state !== 'chunk-end') body(taken)
      if (length > 0) return
      if (state === 'length' || isLast) {
        isLast = false
        end()
      } else if (state === 'chunk') {
        state = 'chunk-end'
        length = 2
      } else state = 'chunk-size'
    }
  }
}

const empty = Buffer.alloc(0)
