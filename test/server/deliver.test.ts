import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { BodyTransform, ClientAnswer, Delivery } from '../../src/pipeline/client-request.ts'
import { type HeldBeginning, holdBack, type HoldOptions } from '../../src/pipeline/send/judge.ts'
import { bytes, events, type Script } from '../support/fake-upstream.ts'
import { openRaw, parseRaw, rawExchange, readUntil } from '../support/raw-client.ts'
import { proxyBefore, type ProxyStand } from './start-proxy.ts'
import { eventually } from '../support/eventually.ts'

type Holder = ProxyStand & { readonly held: HeldBeginning[]; readonly deliveries: Delivery[] }

/** A server that holds the beginning of each answer back and then delivers it. */
async function holderOf(
  script: Script,
  {
    hold = {},
    stallMs = 60_000,
    ...answered
  }: Partial<ClientAnswer> & { readonly hold?: Partial<HoldOptions>; readonly stallMs?: number } = {},
): Promise<Holder> {
  const held: HeldBeginning[] = []
  const deliveries: Delivery[] = []
  const record = (delivery: Delivery) => void deliveries.push(delivery)
  const proxy = await proxyBefore(script, {
    arrival: { silenceMs: stallMs },
    handleConversation: async (exchange, upstreams) => {
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
      const plain = { headers: {}, transform: null, tap: null }
      return { answer, held: beginning.pieces, ...plain, ...answered, ended: record }
    },
  })
  return { ...proxy, held, deliveries }
}

const chat = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'

const ask = (holder: Holder): Promise<Response> =>
  fetch(`${holder.origin}/v1/chat/completions`, { method: 'POST', body: '{}' })

/** From now on timers are moved by the test alone; ten seconds pass between two looks at what is waited for. */
function stopTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return (check: () => void) =>
    eventually(() => {
      vi.advanceTimersByTime(10_000)
      check()
    })
}

/** Takes out what stands between brackets, wherever it is cut. */
function withoutBrackets(): BodyTransform {
  let rest = ''
  return {
    feed: (piece) => {
      const text = (rest + piece.toString()).replace(/\[[^\]]*\]/g, '')
      const open = text.includes('[') ? text.indexOf('[') : text.length
      rest = text.slice(open)
      return Buffer.from(text.slice(0, open))
    },
    end: () => Buffer.from(rest),
    overdue: () => Buffer.alloc(0),
    broken: () => Buffer.alloc(0),
  }
}

/** Gives each piece only once the next one is there. */
function onePieceLate(): BodyTransform {
  let waiting = Buffer.alloc(0)
  const swap = (next: Buffer): Buffer => {
    const before = waiting
    waiting = Buffer.from(next)
    return before
  }
  const rest = (): Buffer => swap(Buffer.alloc(0))
  return { feed: swap, end: rest, overdue: rest, broken: rest }
}

const story = ['data: a\n\n', 'data: enough\n\n', 'data: b\n\n', 'data: c\n\n']

describe('what is held back reaches the client before the rest, and nothing is lost', () => {
  test.each<[string, Script, Partial<HoldOptions>, HeldBeginning['reason']]>([
    ['until enough was seen', events(story), {}, 'enough'],
    ['until it has ended', events(story), { enough: () => false }, 'ended'],
    ['until it is too much', events(story), { enough: () => false, bytesMax: 1 }, 'bytes'],
  ])('%s', async (_name, script, hold, reason) => {
    await using holder = await holderOf(script, { hold })
    expect(await (await ask(holder)).text()).toBe(story.join(''))
    expect(holder.held[0]?.reason).toBe(reason)
    await eventually(() => expect(holder.deliveries[0]?.outcome).toBe('finished'))
    expect(holder.deliveries[0]?.bytes).toBe(story.join('').length)
  })

  test('until the time is over', async () => {
    const asTimePasses = stopTimers()
    await using holder = await holderOf(events(['data: a\n\n'], 'never'), { hold: { holdMs: 10_000 } })
    const socket = await openRaw(holder.port, chat)
    await asTimePasses(() => expect(holder.held[0]?.reason).toBe('time'))
    await readUntil(socket, 'data: a')
    socket.destroy()
    await eventually(() => expect(holder.deliveries[0]?.outcome).toBe('client-gone'))
  })

  test('a body that broke while it was held is passed on as broken', async () => {
    await using holder = await holderOf(events(['data: a\n\n'], 'cut'))
    await expect(ask(holder).then((answer) => answer.text())).rejects.toThrow('terminated')
    expect(holder.held[0]?.reason).toBe('broken')
    const error = { code: 'upstream_broken' }
    expect(holder.deliveries).toMatchObject([{ outcome: 'broken-off', error }])
  })

  // The connection closed without a word, on which many clients repeat a request that costs money.
  test('one that broke before its first piece still gives its status', async () => {
    await using holder = await holderOf(events([], 'cut'))
    const { statusLine, body } = await rawExchange(holder.port, chat)
    expect([statusLine, body.length]).toEqual(['HTTP/1.1 200 OK', 0])
    expect(holder.held[0]?.reason).toBe('broken')
    expect(holder.deliveries[0]?.outcome).toBe('broken-off')
  })

  test('a large held beginning waits for a slow reader', async () => {
    const large = Buffer.alloc(8_000_000, 'x')
    await using holder = await holderOf(bytes(large), { hold: { enough: () => false, bytesMax: 4_000_000 } })
    const answer = await (await ask(holder)).arrayBuffer()
    expect(Buffer.from(answer).equals(large)).toBe(true)
  })
})

test('whoever watches sees every byte, and cannot break the stream by failing', async () => {
  let seen = ''
  await using holder = await holderOf(events(story), {
    tap: (piece) => {
      seen += piece.toString()
      throw new Error('a bug in the watcher')
    },
  })
  expect(await (await ask(holder)).text()).toBe(story.join(''))
  expect(seen).toBe(story.join(''))
})

describe('a body that is changed on its way', () => {
  const pieces = ['one [held enough ', 'and', ' hidden] two', ' [left open']

  test('held pieces are changed, too; what waits at the end goes on; whoever watches sees what came', async () => {
    let seen = ''
    const tap = (piece: Buffer) => void (seen += piece.toString())
    await using holder = await holderOf(events(pieces), { tap, transform: withoutBrackets() })
    const expected = 'one  two [left open'
    expect(await (await ask(holder)).text()).toBe(expected)
    expect(seen).toBe(pieces.join(''))
    await eventually(() => expect(holder.deliveries[0]).toMatchObject({ outcome: 'finished' }))
    expect(holder.deliveries[0]?.bytes).toBe(expected.length)
  })

  test('its length is not stated', async () => {
    await using changing = await holderOf(bytes('one [enough] two'), { transform: withoutBrackets() })
    const answer = await ask(changing)
    expect(answer.headers.get('content-length')).toBeNull()
    expect(await answer.text()).toBe('one  two')
    await using plain = await holderOf(bytes('one [enough] two'), { transform: null })
    expect((await ask(plain)).headers.get('content-length')).toBe('16')
  })

  test.each([
    ['what was waiting is dropped', ['one enough', ' [held'], withoutBrackets, 'one enough '],
    ['what waits for the next piece goes on', ['one', ' enough'], onePieceLate, 'one enough'],
  ] as const)('one that breaks off stays broken: %s', async (_, sent, transform, left) => {
    await using holder = await holderOf(events(sent, 'cut'), { transform: transform() })
    const socket = await openRaw(holder.port, chat)
    let all = ''
    socket.on('data', (piece) => void (all += piece.toString()))
    await eventually(() => expect([socket.closed, holder.deliveries.length]).toEqual([true, 1]))
    expect(holder.deliveries[0]?.outcome).toBe('broken-off')
    // Nor with the last chunk of a whole answer.
    expect(all.endsWith('0\r\n\r\n')).toBe(false)
    const { body } = parseRaw(Buffer.from(all))
    expect(body.toString().replaceAll(/\w+\r\n([^\r]*)\r\n/g, '$1')).toBe(left)
  })

  test('what waits in it for the next piece goes on without where that does not come', async () => {
    await using holder = await holderOf(events(['one', ' enough'], 'never'), { transform: onePieceLate() })
    const socket = await openRaw(holder.port, chat)
    expect(await readUntil(socket, ' enough')).toContain('one')
    socket.destroy()
  })

  test('if the change fails, the rest goes on as it came', async () => {
    const failing: BodyTransform = {
      feed: (piece) => {
        if (piece.includes('two')) throw new Error('a bug in the change')
        return Buffer.from('changed ')
      },
      end: () => Buffer.from('and never this'),
      overdue: () => Buffer.from('nor this'),
      broken: () => Buffer.from('nor that'),
    }
    const arrived = Promise.withResolvers<void>()
    await using holder = await holderOf(
      async (_request, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
        outgoing.write('one enough ')
        await arrived.promise
        outgoing.end('two')
      },
      { transform: failing },
    )
    let text = ''
    for await (const piece of (await ask(holder)).body ?? []) {
      text += Buffer.from(piece).toString()
      arrived.resolve()
    }
    expect(text).toBe('changed two')
  })
})

test('own headers are added, and forged ones dropped', async () => {
  await using holder = await holderOf(bytes('{}', { 'X-Old': '1', 'x-foldgate-tokens': 'forged' }), {
    headers: { 'x-foldgate-tokens': '10;sent=5', 'x-foldgate-conversation': 'a\r\nx-evil: 1' },
  })
  const { headers } = await ask(holder)
  expect(headers.get('x-foldgate-tokens')).toBe('10;sent=5')
  expect(headers.get('x-old')).toBe('1')
  expect(headers.get('x-evil')).toBeNull()
})

test('a client that takes nothing for too long is cut off', async () => {
  const asTimePasses = stopTimers()
  await using holder = await holderOf(bytes(Buffer.alloc(64_000_000)), {
    hold: { bytesMax: 1 },
    stallMs: 10_000,
  })
  const socket = await openRaw(holder.port, chat)
  socket.pause()
  await eventually(() => expect(holder.held).toHaveLength(1))
  await asTimePasses(() => expect(holder.deliveries[0]?.outcome).toBe('client-gone'))
  socket.destroy()
})

// Answers small enough to be written in one piece were taken for delivered as soon as they were written: a client that asked
// for many of them ahead, and read none, held its places for as long as it liked.
test('a client that reads none of many small answers is cut off as well', async () => {
  const asTimePasses = stopTimers()
  const small = bytes(Buffer.alloc(12_000, 'x'))
  await using holder = await holderOf(small, { hold: { bytesMax: 1 }, stallMs: 10_000 })
  const request = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'
  const client = await openRaw(holder.port)
  client.pause()
  client.write(request.repeat(2_000))
  await eventually(() => expect(holder.deliveries.length).toBeGreaterThan(100))
  await asTimePasses(() => {
    expect(holder.deliveries.some(({ outcome }) => outcome === 'client-gone')).toBe(true)
    expect(holder.lifecycle.running).toBe(0)
  })
  client.destroy()
})
