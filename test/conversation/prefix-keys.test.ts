import { describe, expect, test } from 'vitest'
import { meaningKeys } from '../../src/conversation/prefix-keys.ts'
import { runAtOnce, type Digest } from '../../src/json/source.ts'
import { assistant, calling, factsOf, messagesOf, result, system, user } from '../support/chat-completions.ts'
import { digest } from '../support/source.ts'

function call(id: string, name: string, argumentsText: unknown) {
  return { role: 'assistant', tool_calls: [{ id, function: { name, arguments: argumentsText } }] }
}

const twoCalls = (second: string) => ({
  role: 'assistant',
  tool_calls: ['{}', second].flatMap((text, index) => call(`c${index}`, 'look', text).tool_calls),
})

const image = (url: string) => ({ type: 'image_url', image_url: { url } })

describe('messages that mean the same have the same digest', () => {
  test.each<[string, object, object]>([
    [
      'a text and its only part',
      { role: 'user', content: 'a' },
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
    ],
    ['a text and a plain part', { role: 'user', content: 'a' }, { role: 'user', content: ['a'] }],
    [
      'null, empty and missing content',
      { role: 'assistant', content: null },
      { role: 'assistant', content: '' },
    ],
    ['no parts and no content', { role: 'assistant', content: [] }, { role: 'assistant' }],
    ['another call id', call('a', 'look', '{}'), call('b', 'look', '{}')],
    ['another id answered', result('a'), result('b')],
    [
      'a cache mark',
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
    ],
    [
      'reasoning',
      { role: 'assistant', content: 'a' },
      {
        role: 'assistant',
        reasoning_content: 'hm',
        reasoning: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
        thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 's' }],
        content: [{ type: 'thinking', thinking: 'hm' }, 'a'],
      },
    ],
    ['an unknown field', { role: 'user', content: 'a' }, { role: 'user', content: 'a', annotations: [] }],
    ['the legacy role', { role: 'tool', content: 'a' }, { role: 'function', content: 'a' }],
    [
      'an empty list of calls',
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'a', tool_calls: [] },
    ],
  ])('%s', (_, one, other) => {
    expect(factsOf(one).meaning).toBe(factsOf(other).meaning)
  })
})

describe('messages that mean something else have another digest', () => {
  test.each<[string, object, object]>([
    ['the role', { role: 'user', content: 'a' }, { role: 'assistant', content: 'a' }],
    ['an unknown role', { role: 'critic', content: 'a' }, { role: 'author', content: 'a' }],
    ['the name', { role: 'user', name: 'x', content: 'a' }, { role: 'user', content: 'a' }],
    ['the text', { role: 'user', content: 'a' }, { role: 'user', content: 'b' }],
    ['where parts divide', { role: 'user', content: ['a', 'b'] }, { role: 'user', content: ['ab'] }],
    [
      'the order of parts',
      { role: 'user', content: ['a', image('u')] },
      { role: 'user', content: [image('u'), 'a'] },
    ],
    ['an image', { role: 'user', content: [image('u')] }, { role: 'user', content: [image('v')] }],
    ['the called name', call('a', 'look', '{}'), call('a', 'find', '{}')],
    ['the arguments', call('a', 'look', '{"x":1}'), call('a', 'look', '{"x":2}')],
    ['arguments that are no text', call('a', 'look', { x: 1 }), call('a', 'look', { x: 2 })],
    ['the number of calls', calling('a'), calling('a', 'b')],
    ['the arguments of the second call', twoCalls('{"x":1}'), twoCalls('{"x":2}')],
    ['a content of no known kind', { role: 'user', content: { a: 1 } }, { role: 'user', content: { a: 2 } }],
    ['a refusal', { role: 'assistant', refusal: 'no' }, { role: 'assistant', refusal: 'never' }],
    ['lone surrogates', { role: 'user', content: '\ud800' }, { role: 'user', content: '\udfff' }],
    [
      'text that looks like an image',
      { role: 'user', content: [image('u')] },
      { role: 'user', content: digest('u') },
    ],
  ])('%s', (_, one, other) => {
    expect(factsOf(one).meaning).not.toBe(factsOf(other).meaning)
  })
})

const keysOf = (...given: Parameters<typeof meaningKeys>): readonly string[] =>
  runAtOnce(meaningKeys(...given))

describe('meaningKeys', () => {
  const conversation = messagesOf([system, user, assistant, user, user])

  test('has a key for every prefix, the same for the same prefix', () => {
    const keys = keysOf(conversation, 1, digest)
    expect(keys).toHaveLength(6)
    expect(new Set(keys).size).toBe(5)
    expect(keysOf(conversation.slice(0, 3), 1, digest)).toEqual(keys.slice(0, 4))
  })

  test('the leading system block is no part of it', () => {
    const clocked = messagesOf([{ role: 'system', content: 'it is 12:01' }, user, assistant, user, user])
    expect(keysOf(clocked, 1, digest)).toEqual(keysOf(conversation, 1, digest))
    const two = messagesOf([system, { role: 'developer', content: 'be kind' }, user, assistant, user, user])
    expect(keysOf(two, 2, digest).slice(2)).toEqual(keysOf(conversation, 1, digest).slice(1))
  })

  test('what a conversation grew from costs no digests', () => {
    let digests = 0
    const counting: Digest = (text) => {
      digests += 1
      return digest(text)
    }
    const distinct = messagesOf(['a', 'b', 'c', 'd'].map((content) => ({ role: 'user', content })))
    const keys = keysOf(distinct, 0, counting)
    const before = digests
    const grown = meaningKeys(distinct, 0, counting, { keys: keys.slice(0, 4), shared: 3 })
    expect(runAtOnce(grown)).toEqual(keys)
    expect(digests).toBe(before + 1)
  })

  test('a message that stands in several conversations has the key of each', () => {
    const [one, other] = [messagesOf([user, assistant]), messagesOf([assistant, user])]
    const shared = messagesOf([user]).slice(0, 1)
    const first = keysOf([...one, ...shared], 0, digest)
    const second = keysOf([...other, ...shared], 0, digest)
    expect(first.at(-1)).not.toBe(second.at(-1))
    expect(keysOf([...one, ...shared], 0, digest)).toEqual(first)
  })

  test('of a long conversation they are found in steps', () => {
    const long = messagesOf(
      Array.from({ length: 2_000 }, (_, index) => ({ role: 'user', content: `${index}` })),
    )
    expect([...meaningKeys(long, 0, digest)].length).toBeGreaterThanOrEqual(5)
  })
})
