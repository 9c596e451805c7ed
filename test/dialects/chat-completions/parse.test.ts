import { expect, test } from 'vitest'
import { parseMessage, factsOf } from '../../support/chat-completions.ts'
import { sourceOf } from '../../support/source.ts'

function parse(message: unknown) {
  const json = JSON.stringify(message)
  return parseMessage(sourceOf(json), {
    start: 0,
    end: Buffer.byteLength(json),
    facts: factsOf({ role: 'user' }),
  })
}

test('the text is the content, or its text parts line by line', () => {
  expect(parse({ role: 'user', content: 'ä 😀' }).text).toBe('ä 😀')
  const image = { type: 'image_url', image_url: { url: 'https://host/a.png' } }
  const parts = [{ type: 'text', text: 'a' }, image, 'b', { type: 'refusal', refusal: 'c' }]
  expect(parse({ role: 'user', content: parts }).text).toBe('a\nb\nc')
})

test.each([null, 7, { a: 1 }, [], [null, 3, {}], undefined])('content %j holds no text', (content) => {
  expect(parse({ role: 'user', content }).text).toBe('')
})

test('calls are read with their arguments as text', () => {
  const calls = [
    { id: 'a', function: { name: 'look', arguments: '{"x": 1}' } },
    { id: 'b', function: { name: 'find', arguments: { x: 1 } } },
    { id: 'c', type: 'custom', custom: { name: 'shell', input: 'ls' } },
    { id: 'd', function: null },
  ]
  expect(parse({ role: 'assistant', tool_calls: calls }).calls).toEqual([
    { id: 'a', name: 'look', argumentsText: '{"x": 1}', form: 'function' },
    { id: 'b', name: 'find', argumentsText: '{"x":1}', form: 'function' },
    { id: 'c', name: 'shell', argumentsText: 'ls', form: 'custom' },
    { id: 'd', name: '', argumentsText: '', form: 'function' },
  ])
})

test('a legacy function call is a call without an id', () => {
  expect(parse({ role: 'assistant', function_call: { name: 'look', arguments: '{}' } }).calls).toEqual([
    { id: '', name: 'look', argumentsText: '{}', form: 'legacy' },
  ])
})

test.each(['x', 7, null, []])('%j is no message and has nothing in it', (value) => {
  expect(parse(value)).toEqual({ text: '', calls: [], uncut: '', besides: '', opaqueCharacters: 0 })
})
