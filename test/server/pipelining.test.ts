import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { serverAround, type PipeliningLimits, type RequestListener } from '../../src/server/node-server.ts'
import { eventually } from '../support/eventually.ts'
import { closeAll, listen } from '../support/free-port.ts'
import { openRaw, readToEnd } from '../support/raw-client.ts'

const request = (index: number): string => `GET /${index} HTTP/1.1\r\nHost: localhost\r\n\r\n`

const requests = (count: number): string =>
  Array.from({ length: count }, (_, index) => request(index)).join('')

type Server = { readonly port: number; readonly [Symbol.asyncDispose]: () => Promise<void> }

async function serve(listener: RequestListener, limits?: PipeliningLimits): Promise<Server> {
  const server = serverAround(listener, { headersMs: 60_000, headerBytesMax: 16_384 }, limits)
  return { port: await listen(server), [Symbol.asyncDispose]: () => closeAll(server) }
}

/** Opens connections that send so many requests ahead; which of them were closed, in their order. */
function opening({ port }: Server) {
  const closed: string[] = []
  const open = async (name: string, count: number) => {
    const client = await openRaw(port, requests(count))
    return client.once('close', () => closed.push(name)).resume()
  }
  return { open, closed }
}

describe('of the requests that a connection sends ahead', () => {
  test('a few are worked on at a time, and all are answered in their order', async () => {
    let running = 0
    let runningMax = 0
    await using server = await serve((incoming, outgoing) => {
      running += 1
      runningMax = Math.max(runningMax, running)
      outgoing.once('close', () => (running -= 1))
      setImmediate(() => outgoing.end(`answer ${incoming.url} `))
    })
    const client = await openRaw(server.port, requests(3_000))
    const got = readToEnd(client)
    client.write(request(3_000).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    const answers = (await got).match(/answer \/\d+/g)
    expect(answers).toEqual(Array.from({ length: 3_001 }, (_, index) => `answer /${index}`))
    expect(runningMax).toBe(16)
  })

  // Answers that are there at once were all given in one turn of the event loop, which kept everybody else waiting.
  test('a few begin in each turn of the event loop', async () => {
    const turns: number[] = []
    let begun = 0
    await using server = await serve((_, outgoing) => {
      if (begun === 0) {
        setImmediate(() => {
          turns.push(begun)
          begun = 0
        })
      }
      begun += 1
      outgoing.end('x')
    })
    const client = await openRaw(server.port, requests(2_000))
    await eventually(() => expect(turns.reduce((sum, each) => sum + each, 0)).toBe(2_000))
    expect(Math.max(...turns)).toBeLessThanOrEqual(32)
    client.destroy()
  })

  test('those beyond are not read, and a connection with which too many would wait is closed', async () => {
    const limits = { atOnceMax: 2, waitingHereMax: 100, waitingMax: 1_000 }
    await using server = await serve(() => undefined, limits)
    const { open, closed } = opening(server)
    const quiet = await open('quiet', 50)
    await open('loud', 500)
    await eventually(() => expect(closed).toEqual(['loud']))
    quiet.destroy()
  })

  // It was the one whose request came last: a neighbour that sent three ahead was closed for those that sent hundreds.
  test('where too many wait on all connections, the one on which most do is closed', async () => {
    await using server = await serve(() => undefined, { atOnceMax: 2, waitingHereMax: 90, waitingMax: 100 })
    const { open, closed } = opening(server)
    const loud = await open('loud', 80)
    const quiet = await open('quiet', 30)
    await eventually(() => expect(closed).toEqual(['loud']))
    const next = await open('next', 80)
    await eventually(() => expect(closed).toEqual(['loud', 'next']))
    for (const client of [loud, quiet, next]) client.destroy()
  })

  test('all are over when it closes, those behind the one under way included', async () => {
    const open = new Set<ServerResponse>()
    let begun = 0
    await using server = await serve((_, outgoing) => {
      begun += 1
      open.add(outgoing)
      outgoing.once('close', () => open.delete(outgoing))
    })
    const client = await openRaw(server.port, requests(40))
    await eventually(() => expect(begun).toBe(16))
    client.destroy()
    // A connection that is not read on is seen to be closed when something is written to it.
    const writing = setInterval(() => [...open][0]?.write('begun'), 20)
    await eventually(() => expect(open.size).toBe(0))
    clearInterval(writing)
    expect(begun).toBe(16)
  })
})
