import { describe, expect, test, vi } from 'vitest'
import { deliver, type Delivery, type DeliverOptions } from '../../src/proxy/deliver.ts'
import { holdBack, type Held, type HoldOptions } from '../../src/proxy/hold.ts'
import { bytes, events, fakeUpstream, type Script } from '../support/fake-upstream.ts'
import { openRaw, readUntil } from './raw-client.ts'
import { startProxy, type TestProxy } from './start-proxy.ts'

type Holder = TestProxy & { readonly held: Held[]; readonly deliveries: Delivery[] }

/** A server that holds the beginning of each answer back and then delivers it. */
async function startHolder(
  upstreamUrl: string,
  hold: Partial<HoldOptions> = {},
  options: DeliverOptions = {},
): Promise<Holder> {
  const held: Held[] = []
  const deliveries: Delivery[] = []
  const proxy = await startProxy(upstreamUrl, {
    handleChat: async (exchange, upstreams) => {
      const answer = await upstreams.send({
        upstream: null,
        method: 'POST',
        target: exchange.target,
        rawHeaders: [],
        withholdCredential: false,
        body: null,
        signal: exchange.signal,
      })
      const beginning = await holdBack(answer.body, {
        enough: (piece) => piece.includes('enough'),
        holdMs: 60_000,
        bytesMax: 1_000_000,
        ...hold,
      })
      held.push(beginning)
      deliveries.push(await deliver(exchange, answer, { held: beginning.pieces, ...options }))
    },
  })
  return { ...proxy, held, deliveries }
}

function ask(holder: Holder): Promise<Response> {
  return fetch(`${holder.origin}/v1/chat/completions`, { method: 'POST', body: '{}' })
}

const story = ['data: a\n\n', 'data: enough\n\n', 'data: b\n\n', 'data: c\n\n']

describe('what is held back reaches the client before the rest, and nothing is lost', () => {
  test.each<[string, Script, Partial<HoldOptions>, Held['reason']]>([
    ['until enough was seen', events(story), {}, 'enough'],
    ['until it has ended', events(story), { enough: () => false }, 'ended'],
    ['until it is too much', events(story), { enough: () => false, bytesMax: 1 }, 'bytes'],
  ])('%s', async (_name, script, hold, reason) => {
    await using upstream = await fakeUpstream(script)
    await using holder = await startHolder(upstream.url, hold)
    expect(await (await ask(holder)).text()).toBe(story.join(''))
    expect(holder.held[0]?.reason).toBe(reason)
    await vi.waitFor(() => expect(holder.deliveries[0]?.outcome).toBe('finished'))
    expect(holder.deliveries[0]?.bytes).toBe(story.join('').length)
  })

  test('until the time is over', async () => {
    await using upstream = await fakeUpstream(events(['data: a\n\n'], 'never'))
    await using holder = await startHolder(upstream.url, { holdMs: 20 })
    const socket = await openRaw(
      holder.port,
      'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n',
    )
    await readUntil(socket, 'data: a')
    expect(holder.held[0]?.reason).toBe('time')
    socket.destroy()
    await vi.waitFor(() => expect(holder.deliveries[0]?.outcome).toBe('client-gone'))
  })

  test('a body that broke while it was held is passed on as broken', async () => {
    await using upstream = await fakeUpstream(events(['data: a\n\n'], 'cut'))
    await using holder = await startHolder(upstream.url)
    await expect(ask(holder).then((answer) => answer.text())).rejects.toThrow('terminated')
    expect(holder.held[0]?.reason).toBe('broken')
    expect(holder.deliveries[0]?.outcome).toBe('broken-off')
    expect(holder.deliveries[0]?.error?.code).toBe('upstream_broken')
  })

  test('a large held beginning waits for a slow reader', async () => {
    const large = Buffer.alloc(20_000_000, 'x')
    await using upstream = await fakeUpstream(bytes(large))
    await using holder = await startHolder(upstream.url, { enough: () => false, bytesMax: 10_000_000 })
    const answer = await (await ask(holder)).arrayBuffer()
    expect(Buffer.from(answer).equals(large)).toBe(true)
  })
})

test('whoever watches sees every byte, and cannot break the stream by failing', async () => {
  await using upstream = await fakeUpstream(events(story))
  let seen = ''
  await using holder = await startHolder(
    upstream.url,
    {},
    {
      tap: (piece) => {
        seen += piece.toString()
        throw new Error('a bug in the watcher')
      },
    },
  )
  expect(await (await ask(holder)).text()).toBe(story.join(''))
  expect(seen).toBe(story.join(''))
})

test('own headers are added and outdated ones dropped', async () => {
  await using upstream = await fakeUpstream(bytes('{}', { 'X-Old': '1', 'x-foldgate-tokens': 'forged' }))
  await using holder = await startHolder(
    upstream.url,
    {},
    {
      headers: { 'x-foldgate-tokens': '10;sent=5', 'x-foldgate-conversation': 'a\r\nx-evil: 1' },
      dropHeaders: ['x-old'],
    },
  )
  const { headers } = await ask(holder)
  expect(headers.get('x-foldgate-tokens')).toBe('10;sent=5')
  expect(headers.get('x-old')).toBeNull()
  expect(headers.get('x-evil')).toBeNull()
})

test('a client that takes nothing for too long is cut off', async () => {
  await using upstream = await fakeUpstream(bytes(Buffer.alloc(64_000_000)))
  await using holder = await startHolder(upstream.url, { bytesMax: 1 }, { stallMs: 50 })
  const socket = await openRaw(
    holder.port,
    'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n',
  )
  socket.pause()
  await vi.waitFor(() => expect(holder.deliveries[0]?.outcome).toBe('client-gone'), { timeout: 10_000 })
  socket.destroy()
})
