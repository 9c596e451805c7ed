import { expect, test } from 'vitest'
import { createHeldKeyMarks } from '../../src/upstream/held-key-marks.ts'

test('a mark is the same for the same key, another for another one or another installation, and shows none', () => {
  let key: string | null = 'sk-PLANTED'
  const marks = (secret: number) =>
    createHeldKeyMarks({ secret: Buffer.alloc(32, secret), keyOf: (name) => (name === 'open' ? null : key) })
  const [one, other] = [marks(1), marks(2)]
  const first = one('default')
  expect(first).toHaveLength(22)
  expect(first).not.toContain('PLANTED')
  expect([one('default'), one('cheap'), marks(1)('default')]).toEqual([first, first, first])
  expect(other('default')).not.toBe(first)
  expect(one('open')).toBe('')
  key = 'sk-new'
  const second = one('default')
  expect(second).not.toBe(first)
  key = 'sk-PLANTED'
  expect(one('default')).toBe(first)
})
