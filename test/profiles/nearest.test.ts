import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance, nearest } from '../../src/profiles/near-miss.ts'
import { forAll } from '../support/property-runs.ts'

test.each([
  ['sumary', 'summary'],
  ['maxTokens', 'max_tokens'],
  ['max-tokens', 'max_tokens'],
  ['tirgger', 'trigger'],
  ['MODELS', 'models'],
  ['tokens', 'max_tokens'],
])('%s was meant to be %s', (word, meant) => {
  expect(nearest(word, ['target', 'models', 'trigger', 'summary', 'max_tokens'])).toBe(meant)
})

test('nothing is suggested where nothing is near', () => {
  expect(nearest('temperature', ['target', 'models', 'window'])).toBeNull()
  expect(nearest('x'.repeat(10_000), ['x'.repeat(9999)])).toBeNull()
})

test('a swap of neighbours is one slip', () => {
  expect(editDistance('ab', 'ba')).toBe(1)
})

test('the distance is symmetric, and nothing only between equals', () => {
  const word = fc.string({ maxLength: 12 })
  forAll(100, word, word, (a, b) => {
    expect(editDistance(a, b)).toBe(editDistance(b, a))
    expect(editDistance(a, b) === 0).toBe(a === b)
  })
})
