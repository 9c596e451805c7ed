import { expect, test } from 'vitest'
import type { Media, MessageFacts, ParsedMessage } from '../../src/conversation/message.ts'
import { finish } from '../../src/conversation/source.ts'
import { loadCounter } from '../../src/pressure/encodings.ts'
import { mediaTokens } from '../../src/pressure/media-tokens.ts'
import { frameTokens, messageTokens, textTokens, uncutTokens } from '../../src/pressure/message-tokens.ts'

const counter = await loadCounter('o200k_base')
const plain: MessageFacts = {
  hash: 'h',
  role: 'user',
  bytes: 40,
  callIds: [],
  callNames: [],
  answersId: null,
  name: null,
  content: null,
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
  const message = { text: '', calls: [], uncut: '', opaqueCharacters: 0, ...parsed }
  return finish(messageTokens(message, { ...plain, ...facts }, counter, 'gpt-4o'))
}

test('a message costs its text and four more', () => {
  expect(tokensOf({ text: 'hello world' })).toBe(4 + 2)
  expect(tokensOf({})).toBe(4)
})

test('a name costs one more than itself', () => {
  expect(tokensOf({}, { name: 'alice' })).toBe(4 + 1 + counter.count('alice'))
})

test('every call costs eight beside its name and arguments', () => {
  const argumentsText = '{"path":"src/main.ts"}'
  const call = { id: 'call_1', name: 'read_file', argumentsText, form: 'function' as const }
  expect(
    tokensOf(
      { calls: [call, call] },
      { callIds: ['call_1', 'call_1'], callNames: ['read_file', 'read_file'] },
    ),
  ).toBe(4 + 2 * (8 + counter.count('read_file') + counter.count(argumentsText)))
})

test('an image costs what its pixels say', () => {
  expect(tokensOf({ text: 'look' }, { media: [photo] })).toBe(4 + 1 + mediaTokens(photo, 'gpt-4o'))
})

test('thoughts and refusals cost their text, and what is encrypted a token for four characters', () => {
  const uncut = 'The rotation skips the active keys.'
  expect(tokensOf({ text: 'Done.', uncut })).toBe(4 + counter.count('Done.') + counter.count(uncut))
  expect(tokensOf({ opaqueCharacters: 4_001 })).toBe(4 + 1_001)
  const sealed = { uncut, opaqueCharacters: 30 }
  expect(4 + uncutTokens(sealed, counter.count)).toBe(tokensOf(sealed))
})

test('the frame is what is left of a message without text, arguments and thoughts', () => {
  const facts = { name: 'bob', callNames: ['search', ''] }
  expect(frameTokens({ ...plain, ...facts }, counter.count)).toBe(tokensOf({}, facts))
})

test('a text of our own weighs what it weighs as a message', () => {
  expect(textTokens('A recap.', counter.count)).toBe(tokensOf({ text: 'A recap.' }))
})
