import { expect, test } from 'vitest'
import type { Media, MessageFacts, ParsedMessage } from '../../src/conversation/message.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { encodingFor } from '../../src/tokens/tokenizer-families.ts'
import { mediaTokens } from '../../src/tokens/media-tokens.ts'
import { frameTokens, messageTokens, textSteps, uncutTokens } from '../../src/tokens/message-tokens.ts'

const counter = await loadCounter('o200k_base')
const plain: MessageFacts = {
  hash: 'h',
  role: 'user',
  bytes: 40,
  elements: 0,
  callIds: [],
  callNames: [],
  answers: [],
  opensReply: false,
  joinsNext: false,
  emptyCalls: false,
  name: null,
  media: [],
  meaning: 'm',
}
const photo: Media = {
  kind: 'image',
  place: 'inline',
  detail: 'auto',
  widthPixels: 1024,
  heightPixels: 1024,
  dataBytes: 5_000_000,
  digest: 'd',
}

function tokensOf(parsed: Partial<ParsedMessage>, facts: Partial<MessageFacts> = {}): number {
  const message = { text: '', calls: [], uncut: '', besides: '', opaqueCharacters: 0, ...parsed }
  return runAtOnce(messageTokens(message, { ...plain, ...facts }, counter, 'gpt-4o'))
}

test('a message costs its text and four more', () => {
  expect(tokensOf({ text: 'hello world' })).toBe(4 + 2)
  expect(tokensOf({})).toBe(4)
})

test('a name costs one more than itself', () => {
  expect(tokensOf({}, { name: 'alice' })).toBe(4 + 1 + counter.count('alice'))
})

const callsOf = (count: number) => ({
  callIds: Array.from({ length: count }, () => 'call_1'),
  callNames: Array.from({ length: count }, () => 'read_file'),
})

test('a call costs eight beside its name and arguments, several together 20 more', () => {
  const argumentsText = '{"path":"src/main.ts"}'
  const call = { id: 'call_1', name: 'read_file', argumentsText, form: 'function' as const }
  const one = 8 + counter.count('read_file') + counter.count(argumentsText)
  expect(tokensOf({ calls: [call] }, callsOf(1))).toBe(4 + one)
  expect(tokensOf({ calls: [call, call, call] }, callsOf(3))).toBe(4 + 3 * one + 20)
})

// What OpenAI's API counted for a round of calls and their answers, as published projects recorded it from `usage`.
const weather = [
  'get_current_weather',
  '{"location":"Boston"}',
  'It is just 21 degrees and sunny in Boston, MA',
] as const
test.each([
  ['gpt-3.5-turbo', 21, [['get_current_weather', '{"location":"Boston"}', '']]],
  ['gpt-3.5-turbo', 14, [['ggg', '', '']]],
  ['gpt-3.5-turbo', 29, [['get_totally_different_weather_123', '{"location":"Boston"}', '']]],
  ['gpt-3.5-turbo', 121, [weather, weather, weather]],
  ['gpt-3.5-turbo', 154, [weather, weather, weather, weather]],
  ['gpt-3.5-turbo', 187, [weather, weather, weather, weather, weather]],
  ['gpt-4o', 21, [['get_user_country', '{}', 'Mexico']]],
  ['gpt-4.1-mini', 25, [['get_temperature', '{"city":"Tokyo"}', '20.0']]],
  [
    'gpt-4.1',
    89,
    [
      ['list_database_tables', '{}', '["users","orders","products","reviews"]'],
      ['fetch_user_data', '{"user_id": 42}', '{"id":42,"name":"John Doe","email":"john@example.com"}'],
    ],
  ],
] as const)(
  '%s: OpenAI counted %d for a round of calls; here it is not far from that',
  async (model, recorded, calls) => {
    const { count, countSteps } = await loadCounter(encodingFor(model))
    const frame = runAtOnce(frameTokens({ name: null, callNames: calls.map(([name]) => name) }, countSteps))
    const tokens = calls.reduce(
      (sum, [, given, answer]) => sum + count(given) + runAtOnce(textSteps(answer, countSteps)),
      frame,
    )
    expect(Math.abs(tokens - recorded)).toBeLessThanOrEqual(4)
  },
)

test('an image costs what its pixels say', () => {
  expect(tokensOf({ text: 'look' }, { media: [photo] })).toBe(4 + 1 + mediaTokens(photo, 'gpt-4o'))
})

test('thoughts and refusals cost their text, and what is encrypted a token for four bytes', () => {
  const uncut = 'The rotation skips the active keys.'
  expect(tokensOf({ text: 'Done.', uncut })).toBe(4 + counter.count('Done.') + counter.count(uncut))
  expect(tokensOf({ opaqueCharacters: 4_001 })).toBe(4 + 751)
  const sealed = { uncut, opaqueCharacters: 30 }
  expect(4 + runAtOnce(uncutTokens(sealed, counter.countSteps))).toBe(tokensOf(sealed))
})

test('the frame is what is left of a message without text, arguments and thoughts', () => {
  const facts = { name: 'bob', callNames: ['search', ''] }
  expect(runAtOnce(frameTokens({ ...plain, ...facts }, counter.countSteps))).toBe(tokensOf({}, facts))
})

test('a text of our own weighs what it weighs as a message', () => {
  expect(runAtOnce(textSteps('A recap.', counter.countSteps))).toBe(tokensOf({ text: 'A recap.' }))
})
