import { expect, test } from 'vitest'
import { createAllowance } from '../../src/scheduling/allowance.ts'

const takenAt = (allowance: ReturnType<typeof createAllowance>, wanted: number): number =>
  Array.from({ length: wanted }, allowance.take).filter((isTaken) => isTaken).length

test('so many are had a second, and what was not taken is saved up for no longer than that', () => {
  let nowMs = 5_000
  const allowance = createAllowance(20, () => nowMs)
  expect(takenAt(allowance, 100)).toBe(20)
  nowMs += 100
  expect(takenAt(allowance, 100)).toBe(2)
  nowMs += 60_000
  expect(takenAt(allowance, 100)).toBe(20)
  nowMs += 25
  expect(takenAt(allowance, 1)).toBe(0)
  nowMs += 25
  expect(takenAt(allowance, 2)).toBe(1)
})

test('of none there is none, and without a bound there are as many as are wanted', () => {
  let nowMs = 0
  const none = createAllowance(0, () => nowMs)
  nowMs += 10_000
  expect(takenAt(none, 100)).toBe(0)
  expect(takenAt(createAllowance(null), 100)).toBe(100)
})
