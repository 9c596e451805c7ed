import { expect, test } from 'vitest'
import { createLasting } from '../../../src/proxy/memory/lasting.ts'

const HOUR_MS = 3_600_000

function lastingAt(clock: { nowMs: number }) {
  return createLasting<string>({
    entriesMax: 10,
    lifetimeMs: () => HOUR_MS,
    isValue: (value) => typeof value === 'string',
    nowMs: () => clock.nowMs,
  })
}

test('what a replica learnt whose clock is a day ahead ends in time all the same', () => {
  const clock = { nowMs: 1_000_000 }
  const values = lastingAt(clock)
  values.restore('name', { value: 'strict', untilMs: clock.nowMs + 24 * HOUR_MS }, 'instead')
  expect(values.get('name')).toBe('strict')
  clock.nowMs += HOUR_MS
  expect(values.get('name')).toBeNull()
})

// The clock was a day ahead until it was corrected, and what had been learnt by then lasted for that day.
test('what was learnt before the clock went back ends in time all the same', () => {
  const clock = { nowMs: 100 * HOUR_MS }
  const values = lastingAt(clock)
  values.set('name', 'strict')
  clock.nowMs -= 24 * HOUR_MS
  expect(values.get('name')).toBe('strict')
  clock.nowMs += HOUR_MS
  expect(values.get('name')).toBeNull()
})

test.each([null, 'strict', {}, { value: 1, untilMs: 2e6 }, { value: 'other', untilMs: Number.NaN }])(
  'a snapshot that is damaged changes nothing beside what is known: %j',
  (snapshot) => {
    const values = lastingAt({ nowMs: 1_000_000 })
    values.set('name', 'strict')
    values.restore('name', snapshot, 'beside')
    expect(values.get('name')).toBe('strict')
  },
)
