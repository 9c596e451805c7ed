import type { ServerResponse } from 'node:http'
import { FoldgateError } from '../errors.ts'

/** One client that is told of events as they come (server-sent events, https://html.spec.whatwg.org/#server-sent-events). */
export type EventStream = {
  readonly send: (event: { readonly id?: string; readonly data: unknown }) => void
  /** Calls `then` once the client is gone; at once where it is. */
  readonly onEnd: (then: () => void) => void
}

/** Opens streams with these headers, at most so many at a time. The returned function throws `overloaded`. */
export function createEventStreams(
  headers: Readonly<Record<string, string>>,
): (outgoing: ServerResponse) => EventStream {
  let open = 0

  return function openEventStream(outgoing) {
    if (open >= STREAMS_MAX) {
      throw new FoldgateError(
        'overloaded',
        `${STREAMS_MAX} pages or programs listen to this Foldgate already. Close one of them.`,
      )
    }
    open += 1
    const heartbeat = setInterval(() => write(':\n\n'), HEARTBEAT_MS)
    heartbeat.unref()
    onEnd(() => {
      open -= 1
      clearInterval(heartbeat)
    })
    // Its end is learnt from the `close`; the event only must not stay unheard.
    outgoing.on('error', () => {})
    outgoing.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    })
    write(`retry: ${RETRY_MS}\n\n`)
    // A client that asks for headers only has them, and nothing will come after them.
    if (outgoing.req.method === 'HEAD') outgoing.end()

    function write(text: string): void {
      if (outgoing.destroyed || outgoing.writableEnded) return
      outgoing.write(text)
      // What a client does not read is not kept without a bound.
      if (outgoing.writableLength > UNREAD_BYTES_MAX) outgoing.destroy()
    }

    // One that left before, while something was looked up for it, closes no second time.
    function onEnd(then: () => void): void {
      if (outgoing.destroyed) then()
      else outgoing.once('close', then)
    }

    return {
      send: ({ id, data }) => {
        const line = JSON.stringify(data)
        write(`${id === undefined ? '' : `id: ${id}\n`}data: ${line}\n\n`)
      },
      onEnd,
    }
  }
}

// --- internal ---

const STREAMS_MAX = 100

/** Shorter than the idle times of common proxies, in milliseconds. */
const HEARTBEAT_MS = 15_000

/** How long a client waits before it comes back, in milliseconds. */
const RETRY_MS = 2_000

const UNREAD_BYTES_MAX = 1024 * 1024
