import { connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openRedisStore } from '../../src/storage/redis-store.ts'
import { StoreError } from '../../src/storage/store-error.ts'
import type { Store } from '../../src/storage/store.ts'
import { sharedJournalContract } from '../contracts/journal-contract.ts'
import { storeContract } from '../contracts/store-contract.ts'
import { redisProgram, redisServer, withoutRedis, type RedisServer } from '../support/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/free-port.ts'
import { putValue } from '../support/put-value.ts'

const MEGABYTE = 1024 * 1024

async function openAt(url: string, limits: { bytesMax?: number; lifetimeMs?: number } = {}): Promise<Store> {
  const store = await openRedisStore({ url, bytesMax: 64 * MEGABYTE, lifetimeMs: 0, ...limits })
  onTestFinished(store.close)
  return store
}

async function refusal(url: string): Promise<string> {
  const beganMs = performance.now()
  const error = await openAt(url).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  expect(performance.now() - beganMs).toBeLessThan(4_000)
  const message = error instanceof StoreError ? `${error.message} ${String(error.cause)}` : ''
  expect(message).not.toContain('PLANTED')
  return message
}

/** Rejects soon, whatever with: nothing waits for a server that is away. */
async function failsFast(work: () => Promise<unknown>, withinMs = 500): Promise<void> {
  const beganMs = performance.now()
  await expect(work()).rejects.toThrow(/offline|closed|no answer|disconnect|queue|ECONN/i)
  expect(performance.now() - beganMs).toBeLessThan(withinMs)
}

// At the same time, since each waits until its time is up.
describe.concurrent('an address where no such server is', () => {
  test.for<[string, ((socket: Socket) => void) | null, string]>([
    ['nobody listens', null, ' cannot be used (ECONNREFUSED): '],
    // Connecting was enough for the client: the first command of the first request found out.
    ['something never answers', () => {}, ' cannot be used (no answer)'],
    ['something hangs up', (socket) => void socket.destroy(), ' cannot be used'],
  ])('is refused in a bounded time, without its password: %s', async ([, listener, said], context) => {
    const server = createServer(listener ?? undefined)
    const port = listener === null ? 9 : await listen(server)
    const user = listener === null ? 'user:PLANTED@' : ''
    context.onTestFinished(() => void server.close())
    expect(await refusal(`redis://${user}127.0.0.1:${port}`)).toContain(`redis://127.0.0.1:${port}${said}`)
  })

  test('that cannot be read is refused without repeating it', async () => {
    for (const address of [':PLANTED@', 'user:PLANTED%zz@host', 'u:PLANTED@host/many', '['])
      expect(await refusal(`redis://${address}`)).toContain('redis://USER:PASSWORD@HOST:PORT/NUMBER')
  })
})

describe.skipIf(redisProgram === undefined)(`a Redis-compatible server${withoutRedis}`, () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await redisServer()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  storeContract(
    'the Redis store',
    async (limits) => {
      await server.ask('FLUSHALL')
      return openRedisStore({ url: server.url, ...limits })
    },
    { lifeMs: 400, pass: async (milliseconds) => setTimeout(milliseconds + 10) },
  )

  test('lets replicas agree on who was first, and on one holder of a lease', async () => {
    await server.ask('FLUSHALL')
    const replicas = await Promise.all([1, 2, 3].map(() => openAt(server.url)))
    const all = <Told>(ask: (store: Store, name: string) => Promise<Told>) =>
      Promise.all(replicas.map((store, index) => ask(store, `replica ${index}`)))
    for (let value = 0; value < 50; value += 1) {
      const told = await all((store, name) => store.putIfAbsent(`key ${value}`, name))
      const won = await all((store, name) => store.lease(`lease ${value}`, name, 60_000))
      expect([new Set(told).size, won.filter(Boolean).length]).toEqual([1, 1])
    }
  })

  sharedJournalContract('replicas', async () => {
    await server.ask('FLUSHALL')
    return { one: await openAt(server.url), other: await openAt(server.url) }
  })

  test('may hold the keys of others: neither purge nor the size bound touches them', async () => {
    await server.ask('FLUSHALL', 'SET theirs 1', 'SET foldgate:theirs 1', 'SET {foldgate} 1')
    const store = await openAt(server.url, { bytesMax: 20_000 })
    for (let value = 0; value < 100; value += 1)
      await putValue(store, `key ${value}`, 'x'.repeat(1_000), 'group')
    await store.lease('lease', 'mine', 60_000)
    await store.appendRows('events', [{ text: 'row' }])
    expect(await store.purge()).toBeGreaterThan(5)
    expect((await server.ask('DBSIZE')).trim()).toBe(':3')
  })

  test('is left without a trace when the last value has outlived its time', async () => {
    await server.ask('FLUSHALL')
    const store = await openAt(server.url, { lifetimeMs: 100 })
    for (let value = 0; value < 20; value += 1)
      await putValue(store, `key ${value}`, 'value', `group ${value % 3}`)
    await store.lease('lease', 'mine', 100)
    for (let row = 0; row < 20; row += 1) await store.appendRows('usage', [{ text: 'row', group: 'group' }])
    await eventually(async () => expect((await server.ask('DBSIZE')).trim()).toBe(':0'))
  })

  test('keeps its count of bytes true, whatever happens to the values', async () => {
    await server.ask('FLUSHALL')
    const store = await openAt(server.url, { bytesMax: 50_000 })
    for (let value = 0; value < 300; value += 1) {
      await putValue(store, `key ${value % 70}`, 'x'.repeat((value * 37) % 2_000), `group ${value % 5}`)
      if (value % 50 === 0) await store.deleteGroup('group 2')
    }
    for (let group = 0; group < 5; group += 1) await store.deleteGroup(`group ${group}`)
    expect((await server.ask('GET {foldgate}:total')).trim()).toBe('$1\r\n0')
    expect((await server.ask('KEYS *')).split('\r\n').filter((line) => line.startsWith('{'))).toEqual([
      '{foldgate}:total',
    ])
  })

  // A server shared with others dropped the idle index overnight (`allkeys-lru`). Without its order every write took away
  // all that was not written by itself; without its facts nothing went any more, and the store outgrew its size.
  test.each(['written', 'facts', 'total'])(
    'may drop a part of the index when it is short of memory (%s): what is written then is kept, within the size',
    async (part) => {
      await server.ask('FLUSHALL')
      const store = await openAt(server.url, { bytesMax: MEGABYTE })
      for (let value = 0; value < 150; value += 1) await putValue(store, `old ${value}`, 'x'.repeat(10_000))
      await server.ask(`DEL {foldgate}:${part}`)
      const kept: number[] = []
      for (let value = 0; value < 250; value += 1) await putValue(store, `new ${value}`, 'x'.repeat(10_000))
      for (let value = 0; value < 250; value += 1) {
        if ((await store.getFirst([`new ${value}`])) !== null) kept.push(value)
      }
      expect(kept.length).toBeGreaterThan(50)
      expect(kept.length).toBeLessThan(110)
      expect(kept.at(-1)).toBe(249)
    },
  )

  // A server shared with others was full, and refused everybody but us: a script may go on writing once it has deleted
  // something, and ours began with that. Foldgate grew beyond what the server was allowed.
  test('that is full is not written to, and what is there stays', async () => {
    await using full = await redisServer('--maxmemory-policy', 'noeviction')
    const store = await openAt(full.url)
    await putValue(store, 'key', 'before')
    await store.appendRows('events', [{ text: 'before' }])
    await full.ask('CONFIG SET maxmemory 1')
    await expect(putValue(store, 'key', 'after')).rejects.toThrow(/^OOM/)
    await expect(store.putIfAbsent('another', 'after')).rejects.toThrow(/^OOM/)
    await expect(store.appendRows('events', [{ text: 'after' }])).rejects.toThrow(/^OOM/)
    await expect(store.lease('lease', 'mine', 1_000)).rejects.toThrow(/^OOM/)
    expect(await store.getFirst(['another', 'key'])).toEqual({ index: 1, value: 'before' })
    const page = { from: 'oldest', beyond: null, limit: 10 } as const
    expect((await store.readRows('events', page)).map(({ text }) => text)).toEqual(['before'])
    await full.ask('CONFIG SET maxmemory 0')
    await putValue(store, 'key', 'after')
    expect(await store.getFirst(['key'])).toEqual({ index: 0, value: 'after' })
  })

  test('that wants a password gets it, and nobody else sees it', async () => {
    await using guarded = await redisServer('--requirepass', 'PLANTED/?#')
    const store = await openAt(`redis://:PLANTED%2F%3F%23@127.0.0.1:${guarded.port}/3`)
    expect(store.name).toBe(`redis://127.0.0.1:${guarded.port}/3`)
    expect(await store.putIfAbsent('key', 'value')).toBe('value')
    expect(await refusal(`redis://:PLANTED-TOO@127.0.0.1:${guarded.port}`)).toMatch(
      /cannot be used \(WRONGPASS\)/,
    )
  })
})

describe.skipIf(redisProgram === undefined)(`a server that goes away${withoutRedis}`, () => {
  test('costs what is asked meanwhile, at once, and serves again when it is back', async () => {
    await using server = await redisServer()
    const store = await openAt(server.url)
    await putValue(store, 'key', 'value')
    await server.kill()
    await eventually(() => failsFast(async () => store.getFirst(['key'])))
    // None of these waits in line, to be written when the server is back.
    for (let value = 0; value < 50; value += 1) await failsFast(() => putValue(store, 'late', 'value'))
    await failsFast(() => store.lease('lease', 'mine', 1_000))
    await server.restart()
    await eventually(async () => expect(await store.getFirst(['key', 'late'])).toBeNull(), { interval: 20 })
    expect(await store.putIfAbsent('key', 'again')).toBe('again')
    expect(await store.lease('lease', 'mine', 1_000)).toBe(true)
  })

  // A stopped server keeps its connections: nothing fails by itself, and every command would wait for ever.
  test('or stands still, is given up after a bounded time, and is found again', async () => {
    await using server = await redisServer()
    const store = await openAt(server.url)
    await putValue(store, 'key', 'value')
    server.freeze()
    await failsFast(async () => store.getFirst(['key']), 2_000)
    const beganMs = performance.now()
    await Promise.allSettled(Array.from({ length: 2_000 }, async () => store.getFirst(['key'])))
    expect(performance.now() - beganMs).toBeLessThan(4_000)
    server.thaw()
    await eventually(async () => expect((await store.getFirst(['key']))?.value).toBe('value'))
  })

  // The connection to the former primary stayed, and every write was refused until the next start.
  test('as a failover does it, leaving a copy behind: its address is asked again for the new one', async () => {
    await using former = await redisServer()
    await using next = await redisServer()
    let port = former.port
    const way = createServer((socket) => {
      const onward = connect(port, '127.0.0.1')
      socket.on('error', () => onward.destroy()).on('close', () => onward.destroy())
      onward.on('error', () => socket.destroy()).on('close', () => socket.destroy())
      socket.pipe(onward).pipe(socket)
    })
    const store = await openAt(`redis://127.0.0.1:${await listen(way)}`)
    onTestFinished(() => void way.close())
    await putValue(store, 'key', 'value')
    port = next.port
    await former.ask(`REPLICAOF 127.0.0.1 ${next.port}`)
    await eventually(() => putValue(store, 'key', 'new'), { interval: 50 })
    expect(await next.ask('EXISTS {foldgate}:value:key')).toContain(':1')
  })

  test('and may be closed while it is away, which ends all that looks for it', async () => {
    await using server = await redisServer()
    const store = await openAt(server.url)
    await server.kill()
    await eventually(() => failsFast(async () => store.getFirst(['key'])))
    await store.close()
    await server.restart()
    await setTimeout(1_500)
    expect(await server.ask('CLIENT LIST')).toMatch(/^\$\d+\r\nid=[^\n]*\n\r\n$/)
    await expect(store.getFirst(['key'])).rejects.toThrow(/closed/)
  })
})
