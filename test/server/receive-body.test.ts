import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createFairShare } from '../../src/scheduling/fair-share.ts'
import type { RequestBody } from '../../src/pipeline/client-request.ts'
import { type ReceiveBodyOptions, watchArrival } from '../../src/server/receive-body.ts'
import { silence } from '../support/fake-upstream.ts'
import { openRaw, rawExchange, readUntil } from '../support/raw-client.ts'
import { proxyBefore, type ProxyStand, textAnswer } from './start-proxy.ts'
import { eventually } from '../support/eventually.ts'
import type { FoldgateError } from '../../src/errors.ts'

const mebibyte = 1024 * 1024

type Reader = ProxyStand & { readonly bodies: RequestBody[]; readonly errors: unknown[] }

/** A server that reads chat bodies and answers with what it made of them. */
async function startReader(given: Partial<ReceiveBodyOptions> = {}): Promise<Reader> {
  const bodies: RequestBody[] = []
  const errors: unknown[] = []
  const budget = createFairShare({ max: 64 * mebibyte })
  const proxy = await proxyBefore(silence, {
    bodyLimits: { bodyBytesMax: 8 * mebibyte, budget, ...given },
    handleConversation: async (request) => {
      try {
        bodies.push(await request.body.read())
        return textAnswer('read')
      } catch (error) {
        errors.push(error)
        throw error
      }
    },
  })
  return { ...proxy, bodies, errors }
}

const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n'

const post = (
  reader: Reader,
  body: Buffer | string,
  headers: Record<string, string> = {},
): Promise<Response> => fetch(`${reader.origin}/v1/chat/completions`, { method: 'POST', body, headers })

describe('content codings', () => {
  const text = Buffer.from(JSON.stringify({ messages: ['é😀'.repeat(5_000)] }))
  test.each([
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateRawSync(text)],
    ['GZIP, zstd', zstdCompressSync(gzipSync(text))],
    ['identity', text],
  ])('%s is undone beside the original bytes', async (coding, packed) => {
    await using reader = await startReader()
    await post(reader, packed, { 'content-encoding': coding })
    expect(reader.bodies).toMatchObject([{ raw: packed, decoded: text }])
  })

  const large = Buffer.alloc(32 * mebibyte)
  // 100 kB of zstd can hold gigabytes: a decoder without a bound gives any client the whole memory.
  test.each<[string, string, Buffer]>([
    ['more codings than anyone applies', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(text)))],
    ['a bomb of gzip', 'gzip', gzipSync(large)],
    ['a bomb of br', 'br', brotliCompressSync(large)],
    ['a bomb of zstd', 'zstd', zstdCompressSync(large)],
  ])('%s leaves the original bytes to be relayed', async (_name, coding, packed) => {
    await using reader = await startReader()
    await post(reader, packed, { 'content-encoding': coding })
    expect(reader.bodies).toMatchObject([{ raw: packed, decoded: null }])
  })
})

describe('limits', () => {
  test('a body that states too large a length is refused before it is sent', async () => {
    await using reader = await startReader({ bodyBytesMax: 1_000 })
    const socket = await openRaw(reader.port, `${head}Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n`)
    const answer = await readUntil(socket, 'body_too_large')
    expect(answer).toContain('413')
    expect(answer).not.toContain('100 Continue')
    socket.destroy()
    // And one that grows too large while it is read.
    const piece = `400\r\n${'x'.repeat(0x400)}\r\n`
    const lines = 'Connection: close\r\nTransfer-Encoding: chunked'
    const grown = await rawExchange(reader.port, `${head}${lines}\r\n\r\n${piece}0\r\n\r\n`)
    expect(grown.statusLine).toContain(' 413 ')
  })

  test('bodies in flight are bounded together, and given back', async () => {
    const budget = createFairShare({ max: 1_000 })
    await using reader = await startReader({ budget })
    await post(reader, 'x'.repeat(800))
    expect(budget.taken()).toBe(800)
    const refused = await post(reader, 'x'.repeat(300))
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ error: { code: 'overloaded' } })
    expect(budget.taken()).toBe(800)
    reader.bodies[0]?.release()
    reader.bodies[0]?.release()
    expect(budget.taken()).toBe(0)
    expect((await post(reader, 'x'.repeat(300))).status).toBe(200)
  })

  test('a body that arrives in pieces is never late, and one that stops is a 408', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const budget = createFairShare({ max: 1_000 })
    await using reader = await startReader({ budget })
    const socket = await openRaw(reader.port, `${head}Content-Length: 10\r\n\r\n`)
    for (let written = 1; written <= 5; written += 1) {
      socket.write('x')
      while (budget.taken() < written) await setImmediate()
      // The silence that is allowed is a minute.
      vi.advanceTimersByTime(50_000)
    }
    const answer = readUntil(socket, 'body_timeout')
    vi.advanceTimersByTime(11_000)
    expect(await answer).toContain('408')
    socket.destroy()
  })
})

test('a client that leaves in the middle of its body gives its bytes back', async () => {
  const budget = createFairShare({ max: 1_000 })
  await using reader = await startReader({ budget })
  const socket = await openRaw(reader.port, `${head}Content-Length: 500\r\n\r\nhalf`)
  await eventually(() => expect(budget.taken()).toBe(4))
  socket.destroy()
  await eventually(() =>
    expect(reader.errors).toEqual([expect.objectContaining({ name: 'ClientGoneError' })]),
  )
  expect(budget.taken()).toBe(0)
  expect(reader.failures).toEqual([])
})

test('a large body is what was sent, whether few or many are held beside it', async () => {
  const budget = createFairShare({ max: 64 * mebibyte })
  await using reader = await startReader({ budget })
  const body = Buffer.from('é😀'.repeat(200_000))
  await post(reader, body)
  budget.open({ name: 'another', isAnswered: () => false, giveWay: () => {} }).take(32 * mebibyte)
  await post(reader, body)
  // And one without a body reads as an empty one.
  await post(reader, '')
  expect(reader.bodies.map(({ raw }) => raw.equals(body))).toEqual([true, true, false])
  expect(reader.bodies.at(-1)?.raw).toHaveLength(0)
})

const KB = 1024

let late: FoldgateError[] = []

beforeEach(() => {
  late = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] })
  return () => void vi.useRealTimers()
})

const atLeast = { silenceMs: 300_000, bytesPerSecondMin: 8 * KB, graceMs: 20_000 }

function watch(limits: Parameters<typeof watchArrival>[0] = atLeast): ReturnType<typeof watchArrival> {
  const clock = watchArrival(limits, (error) => late.push(error))
  clock.goOn()
  return clock
}

/** Sends so much each second, for so many seconds. */
function send(clock: ReturnType<typeof watchArrival>, bytes: number, seconds: number): void {
  for (let second = 0; second < seconds; second += 1) {
    vi.advanceTimersByTime(1_000)
    clock.arrived(bytes)
  }
}

describe('a body that arrives', () => {
  test('at the least rate has all the time it takes; slower it is late when it is behind by the grace', () => {
    const clock = watch()
    send(clock, 8 * KB, 10_000)
    send(clock, 4 * KB, 39)
    expect(late).toEqual([])
    send(clock, 4 * KB, 3)
    expect(late).toMatchObject([{ code: 'body_timeout' }])
    expect(late[0]?.message).toContain('8 kB a second (limits.body_kb_per_s)')
  })

  // One that sent most of its body at once could hold it, and all its bytes, with a byte every two seconds for hours.
  test('fast at first has no leave to be slow later', () => {
    const clock = watch()
    send(clock, 60_000 * KB, 1)
    send(clock, 0, 19)
    // A break shorter than the grace.
    expect(late).toEqual([])
    send(clock, 1, 6)
    expect(late).toHaveLength(1)
  })

  test('is not late for the time that it was kept waiting', () => {
    const clock = watch({ ...atLeast, silenceMs: 30_000 })
    send(clock, 1, 10)
    clock.pause()
    vi.advanceTimersByTime(3_600_000)
    clock.goOn()
    send(clock, 1, 9)
    expect(late).toEqual([])
    send(clock, 1, 3)
    expect(late).toHaveLength(1)
  })
})

test('without a least rate only a silence is too long', () => {
  const clock = watch({ silenceMs: 30_000, bytesPerSecondMin: 0 })
  send(clock, 1, 1_000)
  expect(late).toEqual([])
  vi.advanceTimersByTime(31_000)
  expect(late[0]?.message).toContain('stopped arriving for 30 s')
})
