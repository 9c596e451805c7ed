import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { journalEventSchema } from '../../../src/telemetry/journal/rows.ts'
import { closeAll, listen } from '../../support/free-port.ts'
import { type EventClient, listenTo, openRaw, rawExchange, readUntil } from '../../support/raw-client.ts'
import { adminStand } from '../admin-stand.ts'
import type { AdminAnswer } from '../ask-admin.ts'
import { memoryStore } from '../memory.ts'
import type { Store } from '../../../src/storage/store.ts'
import { idOf, journalEvent } from '../../telemetry/rows.ts'
import { createServer, type ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { createEventStreams, type EventStream } from '../../../src/admin/event-routes.ts'

const answerSchema = z.strictObject({
  events: z.array(journalEventSchema.extend({ id: z.string() })),
  before: z.string().nullable(),
})

function pageIn(answer: AdminAnswer) {
  expect(answer.status).toBe(200)
  return answerSchema.parse(JSON.parse(answer.text))
}

const eventOf = (number: number) => {
  const type = number % 3 === 0 ? 'compaction' : 'summary'
  return journalEvent({ model: `${number}`, conversation: idOf(number % 2), type })
}

/** A Foldgate whose journal holds events `0` up to `count`, told by their model. */
async function standOnEvents(count: number, more: Parameters<typeof adminStand>[0] = {}) {
  const store = memoryStore()
  const write = (...numbers: readonly number[]) =>
    store.appendRows(
      'events',
      numbers.map((number) => ({ text: JSON.stringify(eventOf(number)) })),
    )
  await write(...Array.from({ length: count }, (_, index) => index))
  const at = await adminStand({ ...more, store })
  return { ...at, write }
}

const modelsOf = (client: EventClient): readonly (string | null)[] =>
  client.events.map(({ data }) => journalEventSchema.parse(data).model)

describe('as JSON', () => {
  test('the newest first, each once, page after page to the end, whatever the filter', async () => {
    await using at = await standOnEvents(650)
    const numbers = Array.from({ length: 650 }, (_, index) => 649 - index)
    for (const [query, isWanted] of [
      ['', () => true],
      [`&conversation=${idOf(1)}`, (number: number) => number % 2 === 1],
      ['&type=compaction', (number: number) => number % 3 === 0],
      [`&conversation=${idOf(0)}&type=compaction`, (number: number) => number % 6 === 0],
    ] as const) {
      const pages: number[][] = []
      for (let from: string | null = ''; from !== null;) {
        const { events, before } = pageIn(await at.ask(`/events?limit=70${query}${from}`))
        pages.push(events.map(({ model }) => Number(model)))
        from = before === null ? null : `&before=${encodeURIComponent(before)}`
      }
      expect(pages.flat()).toEqual(numbers.filter(isWanted))
      expect(new Set(pages.slice(0, -1).map(({ length }) => length))).toEqual(new Set([70]))
    }
  })

  test('a hundred where nobody says how many; of one conversation, of one type, of both', async () => {
    await using at = await standOnEvents(120)
    const count = async (query: string) => pageIn(await at.ask(`/events?${query}`)).events.length
    expect(await count('')).toBe(100)
    expect(await count('limit=1000')).toBe(120)
    expect(await count(`conversation=${idOf(1)}`)).toBe(60)
    expect(await count('type=compaction')).toBe(40)
    expect(await count(`conversation=${idOf(1)}&type=compaction`)).toBe(20)
    expect(await count(`conversation=${idOf(7)}`)).toBe(0)
    // An id of another store, or of none, is read as none: whoever goes on from it gets the newest.
    for (const before of ['', 'nonsense', '%00', '9'.repeat(15)])
      expect(await count(`limit=1000&before=${before}`)).toBe(120)
  })

  test('a query that makes no sense is a 400 that says what is wanted, and repeats nothing', async () => {
    await using at = await standOnEvents(1)
    const wrong = {
      limit: ['0', '1001', '-1', '1.5', 'many', ''],
      type: ['nothing', '', 'constructor'],
      conversation: ['', 'PLANTED%0Ax'],
    }
    const queries = Object.entries(wrong).flatMap(([param, values]) =>
      values.map((value) => [param, value] as const),
    )
    for (const [param, value] of queries) {
      for (const headers of param === 'limit' ? [{}] : [{}, { accept: 'text/event-stream' }]) {
        const { status, code, text } = await at.ask(`/events?${param}=${value}`, { headers })
        expect([param, value, status, code?.startsWith('invalid_')]).toEqual([param, value, 400, true])
        expect(JSON.parse(text)).toMatchObject({ error: { type: 'foldgate_error', param } })
        expect(text).not.toContain('PLANTED')
      }
    }
  })
})

describe('as server-sent events', () => {
  test('those that come from now on, with the headers of a stream', async () => {
    await using at = await standOnEvents(3)
    const client = await listenTo(`${at.origin}/events`)
    expect([client.status, client.headers]).toMatchObject([
      200,
      { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
    ])
    expect(client.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-accel-buffering': 'no' })
    // By a request of its own, and by another process.
    const conversation = await at.say('hello')
    await at.ask(`/conversations/${conversation}/compact`, { method: 'POST' })
    await expect.poll(() => client.events.length).toBe(1)
    expect(client.events[0]?.data).toMatchObject({ type: 'compact-requested', conversation })
    await at.write(77)
    await expect.poll(() => modelsOf(client)).toEqual([null, '77'])
    client.leave()
  })

  test('resume behind the last that was seen, each once and in order', async () => {
    await using at = await standOnEvents(700)
    const { events } = pageIn(await at.ask('/events?limit=1000'))
    const seen = events.find(({ model }) => model === '300')?.id ?? expect.fail()
    const client = await listenTo(`${at.origin}/events`, { 'last-event-id': seen })
    await expect.poll(() => client.events.length).toBe(399)
    expect(modelsOf(client).map(Number)).toEqual(Array.from({ length: 399 }, (_, index) => 301 + index))
    expect(client.events.at(-1)?.id).toBe(events[0]?.id)
    client.leave()
  })

  test('from another store begin at the beginning: nobody waits in vain; and of one conversation or type alone', async () => {
    await using at = await standOnEvents(12)
    const only = `${at.origin}/events?conversation=${idOf(1)}&type=compaction`
    for (const foreign of ['1700000000000-0', '9'.repeat(15)]) {
      const client = await listenTo(only, { 'last-event-id': foreign })
      await expect.poll(() => modelsOf(client)).toEqual(['3', '9'])
      client.leave()
    }
  })

  test('for headers only there is nothing to listen to', async () => {
    await using at = await standOnEvents(1)
    for (const path of ['/events', '/changes']) {
      const lines = 'Host: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n'
      const answer = await rawExchange(at.port, `HEAD ${path} HTTP/1.1\r\n${lines}`)
      expect(answer.statusLine).toContain('200')
      expect(answer.body).toHaveLength(0)
    }
  })

  test('end with Foldgate', async () => {
    await using at = await adminStand()
    const clients = [await listenTo(`${at.origin}/events`), await listenTo(`${at.origin}/changes`)]
    await at.foldgate.close()
    await expect.poll(() => clients.map((client) => client.hasEnded())).toEqual([true, true])
  })
})

describe('so many may listen', () => {
  test('a hundred, and no more; who leaves makes room', async () => {
    await using at = await adminStand()
    const hundred = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? '/events' : '/changes'))
    const clients = await Promise.all(hundred.map((path) => listenTo(at.origin + path)))
    expect(clients.every(({ status }) => status === 200)).toBe(true)
    for (const path of ['/events', '/changes']) {
      const refused = await at.ask(path, { headers: { accept: 'text/event-stream' } })
      expect([refused.status, refused.code]).toEqual([503, 'overloaded'])
    }
    // Everything else is there all the same.
    expect((await at.ask('/events')).status).toBe(200)
    for (const client of clients) client.leave()
    const again = async () => {
      const client = await listenTo(`${at.origin}/events`)
      client.leave()
      return client.status
    }
    await expect.poll(again).toBe(200)
  })

  // Its place was taken when it was gone already, and was never given back: a page that was reloaded a hundred times while
  // the store was slow closed the streams for everybody.
  test('a client that left before its stream was opened takes no place', async () => {
    const inner = memoryStore()
    const released = Promise.withResolvers<void>()
    let waiting = 0
    let isSlow = true
    const readRows: Store['readRows'] = async (journal, page) => {
      if (isSlow && journal === 'events' && page.limit === 1) {
        waiting += 1
        await released.promise
      }
      return inner.readRows(journal, page)
    }
    await using at = await adminStand({ store: { ...inner, readRows } })
    const request = 'GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n'
    const sockets = await Promise.all(Array.from({ length: 120 }, () => openRaw(at.port, request)))
    await expect.poll(() => waiting).toBe(120)
    const closed = sockets.map((socket) => new Promise((resolve) => void socket.once('close', resolve)))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
    // The other side has noticed once it has answered another one.
    await at.ask('/nothing')
    isSlow = false
    released.resolve()
    const client = await listenTo(`${at.origin}/events`)
    expect(client.status).toBe(200)
    client.leave()
  })
})

test('/changes tells of which conversation something has changed', async () => {
  await using at = await adminStand()
  const client = await listenTo(`${at.origin}/changes`)
  expect([client.status, client.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
  const conversation = await at.say('PLANTED words')
  // When it begins, and when it ends.
  await expect.poll(() => client.events.map(({ data }) => data)).toEqual([{ conversation }, { conversation }])
  await at.ask(`/conversations/${conversation}`, { method: 'DELETE' })
  await expect.poll(() => client.events.at(2)?.data).toEqual({ conversation })
  expect(client.text()).not.toContain('PLANTED')
  client.leave()
})

/** A server of nothing but streams. */
async function streamServer() {
  const open = createEventStreams({ 'x-of-a-test': 'yes' })
  const streams: (EventStream & { readonly outgoing: ServerResponse })[] = []
  const server = createServer((_incoming, outgoing) => {
    streams.push({ ...open(outgoing), outgoing })
  })
  const port = await listen(server)
  onTestFinished(() => closeAll(server))
  return { streams, port, url: `http://127.0.0.1:${port}/` }
}

describe('a stream', () => {
  test('carries its headers, when to come back, and each event on lines of its own', async () => {
    const { streams, url } = await streamServer()
    const client = await listenTo(url)
    expect([client.status, client.headers['x-of-a-test']]).toEqual([200, 'yes'])
    const event = { id: '7', data: { text: 'two\nlines\r\n\n and a data: field' } }
    streams[0]?.send(event)
    streams[0]?.send({ data: null })
    await expect.poll(() => client.events).toEqual([event, { id: null, data: null }])
    expect(client.text()).toMatch(/^retry: \d+\n\n/)
    client.leave()
  })

  test('whose client never reads is cut off, before much is kept for it; others go on', async () => {
    const { streams, port, url } = await streamServer()
    const socket = await openRaw(port, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await readUntil(socket, 'retry:')
    socket.pause()
    const reading = await listenTo(url)
    const [unread, read] = [streams[0] ?? expect.fail(), streams[1] ?? expect.fail()]
    let highest = 0
    const data = 'x'.repeat(100_000)
    for (let sent = 0; sent < 500 && !unread.outgoing.destroyed; sent += 1) {
      unread.send({ data })
      read.send({ data })
      highest = Math.max(highest, unread.outgoing.writableLength)
      while (reading.events.length <= sent) await setImmediate()
    }
    expect(unread.outgoing.destroyed).toBe(true)
    expect(highest).toBeLessThan(1_300_000)
    read.send({ data: 'still there' })
    await expect.poll(() => reading.events.at(-1)?.data).toBe('still there')
    reading.leave()
    socket.destroy()
  })
})
