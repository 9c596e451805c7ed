import { expect, test } from 'vitest'
import { createFailureLog, createFailures } from '../../src/activity/failures.ts'
import { arrivalNow } from '../../src/http/bare-report.ts'
import { createLog } from '../../src/log/log.ts'

/** A failure log at a clock that stands, and what it has told. */
function failureLog() {
  const told: string[] = []
  const clock = { nowMs: 1_000_000 }
  const write = (line: string) => void told.push(line)
  const log = createLog({ level: 'info', write, pretty: false, now: () => new Date(clock.nowMs) })
  return { told, clock, tell: createFailureLog(log, () => clock.nowMs) }
}

// A Redis that had become read-only failed the writes of every request, while its reads went well: a line for each.
test('the same failure again and again is one line every ten seconds, which says how often it was', () => {
  const { told, clock, tell } = failureLog()
  const refused = new Error('READONLY You cannot write against a read only replica: PLANTED')
  for (let time = 0; time < 100; time += 1) tell('store', refused)
  expect(told).toHaveLength(1)
  expect(told[0]).toContain('"reason":"READONLY"')
  clock.nowMs += 10_000
  tell('store', refused)
  expect(told).toHaveLength(2)
  expect(told[1]).toContain('"times":100')
  expect(told.join('')).not.toContain('PLANTED')
})

test('another failure is told at once', () => {
  const { told, tell } = failureLog()
  const error = new Error('PLANTED')
  tell('store', error)
  tell('compaction', error)
  tell('store', Object.assign(new Error('PLANTED'), { errstr: 'database or disk is full' }))
  expect(told).toHaveLength(3)
  expect(told[2]).toContain('"reason":"database or disk is full"')
  expect(told.join('')).not.toContain('PLANTED')
})

// The journal is told of failures and asks the clock: where that failed, the request failed with it.
test('a listener that fails harms no request; the failure is counted all the same', async () => {
  const failed: string[] = []
  const failures = createFailures((part) => {
    failed.push(part)
    failing()
  })
  expect(failures.attempt('measure', 'instead', failing)).toBe('instead')
  expect(await failures.around('store', 'instead', async () => failing())).toBe('instead')
  failures.note('summary', new Error('it failed'))
  expect(failed).toEqual(['measure', 'store', 'summary'])
})

function failing(): never {
  throw new Error('it failed')
}

// For a while the clock was read unprotected: one that threw ended the request that asked for the time.
test('a clock that fails costs a report its time, and is counted', () => {
  const failed: string[] = []
  const failures = createFailures((part) => failed.push(part))
  expect(arrivalNow({ failures, nowMs: noTime })).toEqual({ atMs: 0, monotonicMs: expect.any(Number) })
  expect(failed).toEqual(['observation'])
})

function noTime(): number {
  throw new RangeError('no time')
}
