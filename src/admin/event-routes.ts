import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { FoldgateError } from '../errors.ts'
import { type EventFilter, isAskedFor, type Journal, type Signals } from '../telemetry/journal/journal.ts'
import { eventTypes, type JournalEvent } from '../telemetry/journal/rows.ts'
import { type AdminEnvironment, requireId, wholeIn } from './routes.ts'

/**
 * The journal, read page by page or as it is written, and the signs by which the page knows that it is out of date.
 * `headers`: those that each stream carries.
 */
export function eventRoutes(
  { journal, signals }: { readonly journal: Journal; readonly signals: Signals },
  headers: Readonly<Record<string, string>>,
): Hono<AdminEnvironment> {
  const app = new Hono<AdminEnvironment>()
  const openStream = createEventStreams(headers)

  app.get('/events', async ({ req, env, json }) => {
    const [conversation, type] = [req.query('conversation'), req.query('type')]
    const filter = {
      conversation: conversation === undefined ? null : requireId(conversation, 'conversation'),
      type: type === undefined ? null : requireType(type),
    }
    if ((req.header('accept') ?? '').includes('text/event-stream')) {
      const from = req.header('last-event-id') ?? (await journal.lastId())
      follow(openStream(env.outgoing), from, filter)
      return RESPONSE_ALREADY_SENT
    }
    const limit = wholeIn(req, 'limit', LIMIT_DEFAULT, LIMIT_MAX)
    const events = await journal.events({ ...filter, limit, before: req.query('before') ?? null })
    // The page after this one: `before` it.
    return json({ events, before: events.length < limit ? null : (events.at(-1)?.id ?? null) })
  })

  app.get('/changes', (context) => {
    const stream = openStream(context.env.outgoing)
    const tell = (conversation: string | null): void => stream.send({ data: { conversation } })
    signals.on('change', tell)
    stream.onEnd(() => void signals.off('change', tell))
    return RESPONSE_ALREADY_SENT
  })
  return app

  /** Sends what is written from now on, by this process at once and by others a little later. */
  function follow(stream: EventStream, from: string | null, filter: EventFilter): void {
    let seen = from
    let isReading = false
    async function sendNew(): Promise<void> {
      if (isReading) return
      isReading = true
      try {
        for (let isMore = true; isMore;) {
          const next = await journal.eventsAfter(seen)
          for (const event of next.events) {
            if (isAskedFor(event, filter)) stream.send({ id: event.id, data: event })
          }
          seen = next.upTo
          isMore = next.isMore
          // What was written gets on its way, or it would seem unread.
          await setImmediate()
        }
      } finally {
        isReading = false
      }
    }
    const look = (): void => void sendNew()
    const timer = setInterval(look, POLL_MS)
    signals.on('written', look)
    stream.onEnd(() => {
      clearInterval(timer)
      signals.off('written', look)
    })
    look()
  }
}

/** One client that is told of events as they come (server-sent events, https://html.spec.whatwg.org/#server-sent-events). */
export type EventStream = ReturnType<ReturnType<typeof createEventStreams>>

/**
 * Opens streams with these headers, at most so many at a time. The returned function throws `overloaded`. Not by hono's
 * `streamSSE`: what a client does not read would wait in memory without a bound.
 */
export function createEventStreams(headers: Readonly<Record<string, string>>) {
  let open = 0

  return function openEventStream(outgoing: ServerResponse) {
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
      send: ({ id, data }: { readonly id?: string; readonly data: unknown }) =>
        write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`),
      /** Calls `then` once the client is gone; at once where it is. */
      onEnd,
    }
  }
}

// --- internal ---

/** How often others' events are looked for while somebody listens, in milliseconds. */
const POLL_MS = 1_000
const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000
const STREAMS_MAX = 100

/** Shorter than the idle times of common proxies, in milliseconds. */
const HEARTBEAT_MS = 15_000

/** How long a client waits before it comes back, in milliseconds. */
const RETRY_MS = 2_000

const UNREAD_BYTES_MAX = 1024 * 1024

function requireType(text: string): JournalEvent['type'] {
  const type = eventTypes.find((known) => known === text)
  if (type !== undefined) return type
  const message = `There are no events of this type: ask for one of ${eventTypes.join(', ')}.`
  throw new FoldgateError('invalid_parameter', message, { param: 'type' })
}
