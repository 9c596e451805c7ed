import { expect, test, describe } from 'vitest'
import { createEventReader } from '../../src/formats/event-reader.ts'
import { parseAnswerText } from '../../src/formats/answer-json.ts'
import { thoughtRefusalIn, thoughtWordings } from '../../src/formats/thought-refusals.ts'

const readAll = (text: string, eventCharactersMax = 1000) => {
  const reader = createEventReader({ eventCharactersMax })
  return [...reader.feed(text), ...reader.end()]
}

test('data lines are joined, one space behind the colon is not theirs, other fields are left out', () => {
  expect(readAll('id: 1\nevent: x\ndata:a\ndata:  b\nretry: 5\ndata\n\n')).toEqual([
    { name: 'x', data: 'a\n b\n', error: '' },
  ])
})

test('an event without data is none, and its name does not leak into the next', () => {
  expect(readAll('event: ping\n\ndata: a\n\n')).toEqual([{ name: '', data: 'a', error: '' }])
})

test('a line feed that follows a carriage return in the next chunk ends no further line', () => {
  const reader = createEventReader({ eventCharactersMax: 100 })
  expect(reader.feed('data: a\r')).toEqual([])
  expect(reader.feed('\ndata: b\r')).toEqual([])
  expect(reader.feed('\n\r')).toEqual([{ name: '', data: 'a\nb', error: '' }])
  expect(reader.feed('\ndata: c')).toEqual([])
  expect(reader.end()).toEqual([{ name: '', data: 'c', error: '' }])
})

test('an overlong event is left out, whether it is one line or many, and the next one is read', () => {
  const long = 'x'.repeat(600)
  for (const overlong of [`data: ${long}${long}`, `data: ${long}\ndata: ${long}\ndata: y`]) {
    expect(readAll(`${overlong}\n\ndata: z\n\n`)).toEqual([{ name: '', data: 'z', error: '' }])
  }
})

test('many short events are never overlong together', () => {
  expect(readAll('data: 123456\n\n'.repeat(50), 20)).toHaveLength(50)
})

const MEGABYTE = 1_000_000

/** About so many characters of a list with nothing but this in it. */
const listOf = (item: string, characters: number): string =>
  `[${`${item},`.repeat(characters / (item.length + 1))}${item}]`

// Four megabytes of `{}` in an event of a stream, or in an answer, held everybody up for half a second while they were parsed.
describe('what an upstream writes is not parsed if that takes long', () => {
  test.each([
    ['objects', listOf('{}', MEGABYTE)],
    ['lists', listOf('[]', MEGABYTE)],
    ['numbers', listOf('1', 4 * MEGABYTE)],
    ['keys', `{${Array.from({ length: 200_000 }, (_, index) => `"key ${index}":0`).join(',')}}`],
    ['depth', '['.repeat(MEGABYTE / 2) + ']'.repeat(MEGABYTE / 2)],
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

test.each(thoughtWordings.map(({ refusal, sample }) => [refusal, sample] as const))(
  'what is refused of thoughts is told: %s, %s',
  (refusal, sample) => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: sample } }
    const gateway = { error: { message: `AnthropicException - ${JSON.stringify(error)}`, code: '400' } }
    for (const body of [error, gateway, [gateway]])
      expect(thoughtRefusalIn(JSON.stringify(body))).toBe(refusal)
  },
)

test.each([
  'messages.1.content.0: Invalid `signature` in `thinking` block',
  'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.',
  'thinking.block_binding: Extra inputs are not permitted',
  'thinking.budget_tokens is required when thinking is enabled',
  'The parameter thinking is required for this model',
  'reasoning effort and verbosity are required',
  'prompt is too long: 219898 tokens > 200000 maximum',
])('another refusal is none: %s', (message) => {
  expect(thoughtRefusalIn(message)).toBeNull()
})
