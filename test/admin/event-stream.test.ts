import { createServer, type ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createEventStreams, type EventStream } from '../../src/admin/event-stream.ts'
import { openRaw, readUntil, listenTo } from '../support/raw-client.ts'

type Opened = EventStream & { readonly outgoing: ServerResponse }

/** A server of nothing but streams. */
async function streamServer() {
  const open = createEventStreams({ 'x-of-a-test': 'yes' })
  const streams: Opened[] = []
  const server = createServer((_incoming, outgoing) => {
    streams.push({ ...open(outgoing), outgoing })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : expect.fail()
  return { streams, port, url: `http://127.0.0.1:${port}/` }
}

describe('a stream', () => {
  test('carries its headers, when to come back, and each event on lines of its own', async () => {
    const { streams, url } = await streamServer()
    const client = await listenTo(url)
    expect([client.status, client.headers['x-of-a-test']]).toEqual([200, 'yes'])
    streams[0]?.send({ id: '7', data: { text: 'two\nlines\r\n\n and a data: field' } })
    streams[0]?.send({ data: null })
    await expect
      .poll(() => client.events)
      .toEqual([
        { id: '7', data: { text: 'two\nlines\r\n\n and a data: field' } },
        { id: null, data: null },
      ])
    expect(client.text()).toMatch(/^retry: \d+\n\n/)
    client.leave()
  })

  test('tells that its client is gone, those who ask later too, and sends nothing more', async () => {
    const { streams, url } = await streamServer()
    const client = await listenTo(url)
    const stream = streams[0] ?? expect.fail()
    let told = 0
    stream.onEnd(() => (told += 1))
    client.leave()
    await expect.poll(() => told).toBe(1)
    stream.onEnd(() => (told += 1))
    expect(told).toBe(2)
    stream.send({ data: 'nobody' })
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
