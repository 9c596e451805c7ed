import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Pausable } from '../../src/json/source.ts'
import { pauseIfDue, runInSlices, workFor } from '../../src/scheduling/drive.ts'
import { times } from '../support/times.ts'

/** What each step takes, by a clock that only steps move. */
const STEP_MS = 1

/** More than one slice has room for. */
const STEPS_IN_A_SLICE_MAX = 6

let nowMs = 0

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})

afterEach(() => {
  vi.restoreAllMocks()
})

function* work(name: string, count: number, done: string[]): Pausable<string> {
  for (let step = 0; step < count; step += 1) {
    nowMs += STEP_MS
    done.push(name)
    yield
  }
  return name
}

/** What was done in each turn of the event loop until these have ended. */
async function turnsOf(done: string[], running: readonly Promise<unknown>[]): Promise<string[][]> {
  const ended = new AbortController()
  const all = Promise.all(running).finally(() => ended.abort())
  const turns: string[][] = []
  for (let seen = done.length; !ended.signal.aborted; seen = done.length) {
    await nextTurn()
    turns.push(done.slice(seen))
  }
  await all
  return turns
}

test('work is run to its end, and its result is given', async () => {
  expect(await runInSlices(work('a', 0, []))).toBe('a')
  expect(await runInSlices(work('a', 100, []))).toBe('a')
})

test('long work lets the event loop look for other work again and again', async () => {
  const done: string[] = []
  const turns = await turnsOf(done, [runInSlices(work('a', 100, done))])
  expect(done).toHaveLength(100)
  for (const turn of turns) expect(turn.length).toBeLessThanOrEqual(STEPS_IN_A_SLICE_MAX)
})

test('several long works share what one may take, and come forward alike', async () => {
  const done: string[] = []
  const names = ['a', 'b', 'c']
  const turns = await turnsOf(
    done,
    names.map((name) => runInSlices(work(name, 100, done))),
  )
  // At first each takes one step, before it is known that others came before it.
  for (const turn of turns) expect(turn.length).toBeLessThanOrEqual(STEPS_IN_A_SLICE_MAX + names.length)
  const half = done.slice(0, 150)
  for (const name of names) expect(half.filter((each) => each === name).length).toBeGreaterThan(30)
})

// A client with a hundred conversations had a hundred times the time of one with one.
test('clients share alike, however much work each of them has', async () => {
  const done: string[] = []
  const many = times(20, () => workFor('many', () => runInSlices(work('many', 100, done))))
  const one = workFor('one', () => runInSlices(work('one', 100, done)))
  await one
  const others = done.filter((name) => name === 'many').length
  expect(others).toBeLessThan(200)
  await Promise.all(many)
})

// Each kind of work had a slice of its own: one that had not used it up was followed by the next without a pause.
test('one kind of work after the other takes no more at once than one alone', async () => {
  const done: string[] = []
  async function oneAfterTheOther(): Promise<void> {
    for (let count = 0; count < 40; count += 1) {
      await runInSlices(work('a', 3, done))
      await pauseIfDue()
    }
  }
  const turns = await turnsOf(done, [oneAfterTheOther()])
  for (const turn of turns) expect(turn.length).toBeLessThanOrEqual(STEPS_IN_A_SLICE_MAX + 3)
})

test('work that fails leaves the others their turns', async () => {
  const done: string[] = []
  function* failing(): Pausable<never> {
    yield* work('a', 10, done)
    throw new Error('broken')
  }
  const failed = runInSlices(failing())
  const other = runInSlices(work('b', 50, done))
  await expect(failed).rejects.toThrow('broken')
  expect(await other).toBe('b')
})
