import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTurns } from '../../../src/models/discovery/turns.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Takes so many turns; tells which have begun. */
function takeTurns(count: number) {
  const turns = createTurns({ atOnce: 3, patienceMs: 250 })
  const ends: (() => void)[] = []
  for (let index = 0; index < count; index += 1) void turns.take().then((end) => ends.push(end))
  return ends
}

// A server of one thread answered twelve questions before the first chat, which took 2.6 s.
test('a few begin at once, and the next when one of them has ended', async () => {
  const ends = takeTurns(5)
  await vi.advanceTimersByTimeAsync(0)
  expect(ends).toHaveLength(3)
  ends[0]?.()
  await vi.advanceTimersByTimeAsync(0)
  expect(ends).toHaveLength(4)
})

test('those that never end do not keep the others back for long', async () => {
  const ends = takeTurns(5)
  await vi.advanceTimersByTimeAsync(249)
  expect(ends).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(1)
  expect(ends).toHaveLength(4)
  await vi.advanceTimersByTimeAsync(250)
  expect(ends).toHaveLength(5)
})

test('when all have begun no timer is left behind', async () => {
  const ends = takeTurns(4)
  await vi.advanceTimersByTimeAsync(250)
  expect(ends).toHaveLength(4)
  expect(vi.getTimerCount()).toBe(0)
})
