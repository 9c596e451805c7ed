import { describe, expect, test } from 'vitest'
import { parseMessage as describeMessage } from '../../../src/formats/chat/chat.ts'
import { factsOf, parseMessage } from '../../support/chat-completions.ts'
import { sourceOf } from '../../support/source.ts'

/** What counts of an assistant message with these fields and is never rewritten. */
function uncutOf(fields: object) {
  const parsed = describeMessage({ role: 'assistant', content: 'said', ...fields })
  return { uncut: parsed.uncut, opaqueCharacters: parsed.opaqueCharacters }
}

const textOf = (fields: object): string => uncutOf(fields).uncut

// Hundred thousand tokens of thoughts went upstream uncounted: only contents and calls were.
describe('thoughts that are sent back count', () => {
  test.each([
    ['DeepSeek', { reasoning_content: 'hm' }],
    ['vLLM', { reasoning: 'hm' }],
    ['Ollama', { thinking: 'hm' }],
    ['OpenRouter', { reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0, format: 'x' }] }],
    ['a summary', { reasoning_details: [{ type: 'reasoning.summary', summary: 'hm', id: 'r' }] }],
    ['LiteLLM', { thinking_blocks: [{ type: 'thinking', thinking: 'hm' }] }],
    ['Anthropic’s part', { content: [{ type: 'thinking', thinking: 'hm' }, 'said'] }],
    ['Mistral’s part', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }],
    [
      'the Responses API',
      { content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }] },
    ],
  ])('as %s writes them', (_, fields) => {
    expect(uncutOf(fields)).toEqual({ uncut: 'hm', opaqueCharacters: 0 })
  })

  test('with a block of an unknown shape as it stands', () => {
    const block = { type: 'reasoning.dream', dream: 'hm' }
    expect(textOf({ reasoning_details: [block] })).toBe(JSON.stringify(block))
  })

  test('once, though they stand in two fields, and in the pieces in which they were streamed', () => {
    const details = ['The bug ', 'is here.'].map((text) => ({ type: 'reasoning.text', text }))
    expect(textOf({ reasoning: 'The bug is here.', reasoning_details: details })).toBe('The bug is here.')
    expect(textOf({ reasoning: 'one', reasoning_content: 'other' })).toBe('other\none')
  })

  test('and nothing is thought where the fields hold nothing', () => {
    const fields = { reasoning_content: '', reasoning: null, reasoning_details: [], thinking_blocks: 7 }
    expect(uncutOf(fields)).toEqual({ uncut: '', opaqueCharacters: 0 })
  })
})

describe('what only its provider can read is measured, not read', () => {
  test.each([
    ['encrypted thoughts', { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x'.repeat(40) }] }],
    ['a redacted block', { thinking_blocks: [{ type: 'redacted_thinking', data: 'x'.repeat(40) }] }],
    ['a redacted part', { content: [{ type: 'redacted_thinking', data: 'x'.repeat(40) }] }],
    [
      'an encrypted item',
      { content: [{ type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(40) }] },
    ],
  ])('%s', (_, fields) => {
    expect(uncutOf(fields)).toEqual({ uncut: '', opaqueCharacters: 40 })
  })

  test('a signature stands beside a text', () => {
    const block = { type: 'thinking', thinking: 'hm', signature: 'c2lnbmVk' }
    expect(uncutOf({ thinking_blocks: [block] })).toEqual({ uncut: 'hm', opaqueCharacters: 8 })
    const same = { thinking_blocks: [block], content: [block, 'said'] }
    expect(uncutOf(same)).toEqual({ uncut: 'hm', opaqueCharacters: 8 })
  })
})

describe('what else is never rewritten', () => {
  test('a refusal beside the content', () => {
    expect(textOf({ content: null, refusal: 'I cannot.' })).toBe('I cannot.')
    expect(textOf({ content: [{ type: 'refusal', refusal: 'I cannot.' }] })).toBe('')
  })

  test.each([
    [{ answer: [1, 2] }, '{"answer":[1,2]}'],
    [17, '17'],
    [true, 'true'],
    [null, ''],
    ['said', ''],
    [['said'], ''],
  ])('content %j', (content, uncut) => {
    expect(textOf({ content })).toBe(uncut)
  })

  test('what is nested however deep is survived', () => {
    const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000))
    expect(uncutOf({ reasoning_details: deep, content: { deep } }).uncut).toBe('')
    const nested: unknown = JSON.parse('{"summary":'.repeat(12) + '"hm"' + '}'.repeat(12))
    expect(textOf({ reasoning: nested })).toContain('hm')
  })
})

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
