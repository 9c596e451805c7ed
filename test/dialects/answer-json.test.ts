import { describe, expect, test } from 'vitest'
import { parseAnswerText } from '../../src/dialects/answer-json.ts'

const MEGABYTE = 1_000_000

/** About so many characters of a list with nothing but this in it. */
function listOf(item: string, characters: number): string {
  return `[${`${item},`.repeat(characters / (item.length + 1))}${item}]`
}

// Four megabytes of `{}` in an event of a stream, or in an answer, held everybody up for half a second while they were parsed.
describe('what an upstream writes is not parsed if that takes long', () => {
  test.each([
    ['objects', listOf('{}', 4 * MEGABYTE)],
    ['lists', listOf('[]', 4 * MEGABYTE)],
    ['numbers', listOf('1', 4 * MEGABYTE)],
    ['keys', `{${Array.from({ length: 200_000 }, (_, index) => `"key ${index}":0`).join(',')}}`],
    ['depth', '['.repeat(2 * MEGABYTE) + ']'.repeat(2 * MEGABYTE)],
  ])('very many %s', (_, text) => {
    expect(JSON.parse(text)).toBeDefined()
    expect(parseAnswerText(text)).toBeUndefined()
  })

  test.each([
    ['a text of code', { code: 'if (a) { b["c"] = [1, 2, {}] } // \\"\n'.repeat(100_000) }],
    ['a text of backslashes', { text: '\\'.repeat(2 * MEGABYTE) }],
    ['a picture', { result: 'iVBORw0KGgo='.repeat(500_000) }],
    [
      'the probabilities of a reply',
      { logprobs: Array.from({ length: 10_000 }, () => ({ token: 'a', logprob: -1, bytes: [97] })) },
    ],
  ])('%s is', (_, value) => {
    expect(parseAnswerText(JSON.stringify(value))).toEqual(value)
  })
})
