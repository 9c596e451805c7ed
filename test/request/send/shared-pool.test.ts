import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSharedPools } from '../../../src/request/send/shared-pool.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const staying = new AbortController().signal

/** Notes in `turns` who gets a turn, and holds it. */
function waiting(pool: ReturnType<ReturnType<typeof createSharedPools>>, turns: string[], name: string) {
  return pool.turn(staying).then((letNextFollow) => {
    turns.push(name)
    return letNextFollow
  })
}

test('turns come in their order, each after what was under way has ended', async () => {
  const pool = createSharedPools()(null)
  const turns: string[] = []
  const neighbour = pool.enter(100)
  const first = waiting(pool, turns, 'first')
  const second = waiting(pool, turns, 'second')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(turns).toEqual([])
  neighbour.end()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(turns).toEqual(['first'])
  const flight = pool.enter(100)
  ;(await first)()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(turns).toEqual(['first'])
  flight.end()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(turns).toEqual(['first', 'second'])
  ;(await second)()
})

test('nobody is waited for longer than a few seconds, neither an answer nor another’s turn', async () => {
  const pool = createSharedPools()(null)
  const turns: string[] = []
  pool.enter(100)
  void waiting(pool, turns, 'first')
  void waiting(pool, turns, 'second')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(turns).toEqual(['first'])
  await vi.advanceTimersByTimeAsync(15_000)
  expect(turns).toEqual(['first', 'second'])
})

test('a client that leaves gives its turn to the next', async () => {
  const pool = createSharedPools()(null)
  const turns: string[] = []
  const leaving = new AbortController()
  const left = pool.turn(leaving.signal).catch((error: unknown) => error)
  void waiting(pool, turns, 'next')
  leaving.abort(new Error('gone'))
  expect(await left).toEqual(new Error('gone'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(turns).toEqual(['next'])
})

test('what was under way together is remembered by each of them, for every upstream by itself', () => {
  const poolOf = createSharedPools()
  const first = poolOf('a').enter(100)
  const second = poolOf('a').enter(50)
  const elsewhere = poolOf('b').enter(7)
  second.end()
  second.end()
  const third = poolOf('a').enter(20)
  expect([first, second, third, elsewhere].map((flight) => flight.sharedTokens)).toEqual([150, 150, 120, 7])
})
