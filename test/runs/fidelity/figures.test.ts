import { expect, test } from 'vitest'
import { isSound, isWorkable, sumOf } from './figures.ts'

test('each of the three zeros counts on its own, and a refusal only where it taught nothing', () => {
  expect(isWorkable(sumOf([{ requests: 5, beyond: 1 }]))).toBe(true)
  for (const zero of ['newestAbsent', 'samePrompt', 'taskGone'])
    expect(isWorkable(sumOf([{ requests: 5 }, { [zero]: 1 }]))).toBe(false)
  expect(isSound(sumOf([{ refused: 1 }]))).toBe(false)
  expect(isSound(sumOf([{ refused: 1 }]), true)).toBe(true)
  expect(isSound(sumOf([{ refused: 1, errors: 1 }]), true)).toBe(false)
})
