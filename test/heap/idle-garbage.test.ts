import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { collectWhenIdle, type Work } from '../../src/heap/idle-garbage.ts'

let stop = (): void => {}
afterEach(() => stop())

/** Garbage that nobody but a collection takes away. */
function garbage(): WeakRef<object> {
  return new WeakRef({ of: 'a request' })
}

/** Work of which the test says how it goes on. */
function work(): Work & { counts: { running: number; begun: number } } {
  const counts = { running: 0, begun: 0 }
  return { counts, running: () => counts.running, begun: () => counts.begun }
}

/** Whoever looks keeps it for as long as the look takes. */
async function isCollected(left: WeakRef<object>): Promise<boolean> {
  for (let looks = 0; looks < 100 && left.deref() !== undefined; looks += 1) await setTimeout(20)
  return left.deref() === undefined
}

// After its start a process of which 29 MB lived held 66 MB of heap, and 354 MB after a long conversation's turns, for as
// long as nobody asked it for anything.
test('what the start has left behind is collected if nothing is asked for', async () => {
  const left = garbage()
  stop = collectWhenIdle(work(), { startMs: 5, lookMs: 60_000 })
  expect(await isCollected(left)).toBe(true)
})

test('nobody who is served is kept waiting, and it comes after the last', async () => {
  const { counts, ...requests } = work()
  counts.running = 1
  counts.begun = 1
  const left = garbage()
  const busy = setInterval(() => {
    counts.begun += 1
  }, 1)
  stop = collectWhenIdle(requests, { startMs: 5, lookMs: 10 })
  await setTimeout(60)
  expect(left.deref()).toBeDefined()
  // Some come and go at each look, although none runs in that moment.
  counts.running = 0
  await setTimeout(60)
  expect(left.deref()).toBeDefined()
  clearInterval(busy)
  expect(await isCollected(left)).toBe(true)
})
