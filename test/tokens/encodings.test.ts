import { expect, test } from 'vitest'
import { loadCounter } from '../../src/tokens/encodings.ts'

// A listing of files took a quarter more of Gemini's window than prose had told, and the prompt was beyond it.
test('what a family cuts apart is counted apart', async () => {
  const [own, digits, apart] = await Promise.all([
    loadCounter('o200k_base'),
    loadCounter('o200k_digits'),
    loadCounter('o200k_apart'),
  ])
  const countsOf = (text: string) => [own, digits, apart].map(({ count }) => count(text))
  expect(countsOf('and then there was light')).toEqual([5, 5, 5])
  expect(countsOf('1234')).toEqual([2, 4, 4])
  expect(countsOf('(self,\n')).toEqual([2, 2, 4])
})

test('a counter is loaded once and counts in its own encoding', async () => {
  const [first, second, other] = await Promise.all([
    loadCounter('o200k_base'),
    loadCounter('o200k_base'),
    loadCounter('cl100k_base'),
  ])
  expect(second).toBe(first)
  expect(first.count('Привет, как дела?')).toBeLessThan(other.count('Привет, как дела?'))
})
