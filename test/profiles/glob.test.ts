import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob } from '../../src/profiles/glob.ts'
import { forAll } from '../support/property-runs.ts'

test.each([
  ['qwen*', 'qwen3-coder:30b', true],
  ['*/llama-3.?-8b', 'meta/LLAMA-3.1-8b', true],
  ['*/llama-3.?-8b', 'meta/llama-3.10-8b', false],
  ['gpt.4o', 'gpt-4o', false],
])('%s on %s: %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected)
})

test('agrees with the regular expression that means the same', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 })
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B'), maxLength: 10 })
  forAll(100, letters, text, (pattern, given) => {
    const expression = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i')
    expect(matchesGlob(pattern, given)).toBe(expression.test(given))
  })
})

// A model's name comes from the client, a pattern such as a*a*a*… from nobody in their senses: as a regular
// expression the two together would hold the event loop for longer than anyone waits.
test('a pattern full of stars does not stop the process', () => {
  expect(matchesGlob('a*'.repeat(120), `${'a'.repeat(1000)}b`)).toBe(true)
  expect(matchesGlob(`${'a*'.repeat(120)}c`, `${'a'.repeat(1000)}b`)).toBe(false)
})

test('a text longer than any name matches nothing', () => {
  expect(matchesGlob('*', 'a'.repeat(100_000))).toBe(false)
})
