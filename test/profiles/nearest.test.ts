import { expect, test } from 'vitest'
import { nearest } from '../../src/profiles/near-miss.ts'

test.each([
  ['sumary', 'summary'],
  ['maxTokens', 'max_tokens'],
  ['max-tokens', 'max_tokens'],
  ['tirgger', 'trigger'],
  ['MODELS', 'models'],
  ['tokens', 'max_tokens'],
  ['mdoels', 'models'],
])('%s was meant to be %s', (word, meant) => {
  expect(nearest(word, ['target', 'models', 'trigger', 'summary', 'max_tokens'])).toBe(meant)
})

test('nothing is suggested where nothing is near', () => {
  expect(nearest('temperature', ['target', 'models', 'window'])).toBeNull()
  expect(nearest('x'.repeat(10_000), ['x'.repeat(9999)])).toBeNull()
})
