import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { FoldgateError } from '../../src/errors.ts'
import { watchArrival, type ArrivalClock } from '../../src/http/arrival-clock.ts'

const KB = 1024

let late: FoldgateError[] = []

beforeEach(() => {
  late = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

function watch(silenceS = 300): ArrivalClock {
  const limits = { silenceMs: silenceS * 1000, bytesPerSecondMin: 8 * KB, graceMs: 20_000 }
  const clock = watchArrival(limits, (error) => late.push(error))
  clock.goOn()
  return clock
}

/** Sends so much each second, for so many seconds. */
function send(clock: ArrivalClock, bytes: number, seconds: number): void {
  for (let second = 0; second < seconds; second += 1) {
    vi.advanceTimersByTime(1_000)
    clock.arrived(bytes)
  }
}

describe('a body that arrives', () => {
  test('at the least rate has all the time it takes', () => {
    const clock = watch()
    send(clock, 8 * KB, 10_000)
    expect(late).toEqual([])
  })

  test('slower than that is late when it is behind by the grace', () => {
    const clock = watch()
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
    send(clock, 1, 25)
    expect(late).toHaveLength(1)
  })

  test('with a break shorter than the grace is not late', () => {
    const clock = watch()
    send(clock, 100 * KB, 5)
    send(clock, 0, 19)
    send(clock, 100 * KB, 5)
    expect(late).toEqual([])
  })

  test('is not late for the time that it was kept waiting', () => {
    const clock = watch(30)
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
  const clock = watchArrival({ silenceMs: 30_000, bytesPerSecondMin: 0 }, (error) => late.push(error))
  clock.goOn()
  send(clock, 1, 1_000)
  expect(late).toEqual([])
  vi.advanceTimersByTime(31_000)
  expect(late[0]?.message).toContain('stopped arriving for 30 s')
})
