import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createFailures } from '../../src/telemetry/failures.ts'
import { openRedisStore } from '../../src/storage/redis-store.ts'
import { createStoreGuard } from '../../src/storage/store-guard.ts'
import type { Store } from '../../src/storage/store.ts'
import { NoAnswerError, within } from '../../src/storage/store-error.ts'
import { passingTime } from '../support/eventually.ts'
import { listen } from '../support/free-port.ts'

// While a Redis was away every request failed at it a few times over, and each failure was a line in the log.
test('a store that keeps failing is left alone for a while, and is asked again afterwards', async () => {
  const told: string[] = []
  const pass = passingTime()
  const guarded = createStoreGuard(createFailures((part) => void told.push(part)))
  let asked = 0
  let isAway = true
  const work = async (): Promise<string> => {
    asked += 1
    if (isAway) throw new Error('away')
    return 'there'
  }
  for (let time = 0; time < 50; time += 1) expect(await guarded('instead', work)).toBe('instead')
  expect(asked).toBe(2)
  expect(told).toHaveLength(2)
  isAway = false
  expect(await guarded('instead', work)).toBe('instead')
  pass(251)
  expect(await guarded('instead', work)).toBe('there')
})

test('one failure costs nothing but itself', async () => {
  const guarded = createStoreGuard(createFailures(() => {}))
  for (let time = 0; time < 5; time += 1) {
    expect(await guarded('instead', async () => Promise.reject(new Error('busy')))).toBe('instead')
    expect(await guarded('instead', async () => 'there')).toBe('there')
  }
})

// A backup held the file of an SQLite store for half a minute: its reads went well, each write waited 250 ms in vain,
// and at two requests a second nothing else was served for two thirds of the time.
test('a store whose failures hold everything up is left alone in proportion, even where it answers in between', async () => {
  const pass = passingTime()
  const guarded = createStoreGuard(createFailures(() => {}))
  const read = () => guarded('instead', async () => 'read')
  expect(await read()).toBe('read')
  // As SQLite waits: nothing else is served meanwhile.
  const failed = guarded('instead', async () => {
    pass(120)
    throw new Error('database is locked')
  })
  expect(await failed).toBe('instead')
  pass(2_300)
  expect(await read()).toBe('instead')
  pass(200)
  expect(await read()).toBe('read')
})

/** A Redis that has said that it is there, and nothing since: its host stands still, its connections stay open. */
async function openFrozenRedis(): Promise<Store> {
  const server = createServer((socket) => {
    socket.on('data', (words) => words.includes('PING') && socket.write('+PONG\r\n'))
  })
  const port = await listen(server)
  const store = await openRedisStore({ url: `redis://127.0.0.1:${port}`, bytesMax: 1_000_000, lifetimeMs: 0 })
  onTestFinished(async () => {
    await store.close()
    server.close()
  })
  return store
}

// The connection's own deadline came a moment before the guard's, and what it said was taken for the store's answer: while a
// Redis stood still, one request after the other waited a second for it.
test('a store that says nothing is waited for once, though its connection gives up first', async () => {
  const store = await openFrozenRedis()
  const guarded = createStoreGuard(createFailures(() => {}))
  let asked = 0
  const look = () =>
    guarded<unknown>('instead', () => {
      asked += 1
      return store.getFirst(['key'])
    })
  for (let time = 0; time < 3; time += 1) expect(await look()).toBe('instead')
  expect(asked).toBe(1)
})

test('work that takes too long is given up', async () => {
  await expect(within(10, new Promise(() => {}))).rejects.toThrow(NoAnswerError)
})

// Two processes on one busy Redis both paid for the same summary: each had been held up for longer than the deadline, and
// took the store for absent though its answer lay in the socket.
test('an answer that came in time is taken, however long the event loop was held up', async () => {
  const server = createServer((socket) => socket.end('here'))
  onTestFinished(() => void server.close())
  const socket = connect(await listen(server), '127.0.0.1')
  await once(socket, 'connect')
  const answer = once(socket, 'data').then(([piece]) => String(piece))
  const waited = within(20, answer)
  // The server writes in one turn of the loop, and the answer is received while the next one is held.
  setImmediate(() => {
    const until = performance.now() + 60
    while (performance.now() < until);
  })
  expect(await waited).toBe('here')
})
