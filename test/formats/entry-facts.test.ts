import { describe, expect, test } from 'vitest'
import { chatCompletions } from '../../src/formats/chat/chat.ts'
import { createFactsReader } from '../../src/formats/entry-facts.ts'
import { readFacts, factsOf, readMessages } from '../support/chat-completions.ts'
import type { EntrySpan } from '../../src/json/body-spans.ts'
import { runAtOnce, type Source } from '../../src/json/source.ts'
import { entriesOf } from '../support/body-limits.ts'
import { digest, sourceOf } from '../support/source.ts'

/** A message that is all of a text, delimited as in a body. */
function entryOf(json: string): EntrySpan {
  const [entry] = entriesOf(sourceOf(`[${json}]`))
  if (entry === undefined) throw new Error('no entry')
  return { ...entry, start: 0, end: Buffer.byteLength(json) }
}

const read = (json: string) => runAtOnce(readFacts(sourceOf(json), entryOf(json)))

function call(id: unknown, name: unknown) {
  return { id, type: 'function', function: { name, arguments: '{}' } }
}

function countedSource(body: string): { source: Source; parsed: () => number } {
  const source = sourceOf(body)
  let parsed = 0
  const text = (start: number, end: number) => {
    parsed += 1
    return source.text(start, end)
  }
  return { source: { ...source, text }, parsed: () => parsed }
}

describe('calls and answers', () => {
  test('ids and names stand in the order of the calls, empty where missing', () => {
    const facts = factsOf({
      role: 'assistant',
      tool_calls: [call('a', 'look'), call(undefined, 'find'), call(5, null), null, 'x', {}],
    })
    expect(facts.callIds).toEqual(['a', '', '', '', '', ''])
    expect(facts.callNames).toEqual(['look', 'find', '', '', '', ''])
  })

  test('a custom tool call has its own name', () => {
    const custom = { id: 'a', type: 'custom', custom: { name: 'shell', input: 'ls' } }
    expect(factsOf({ role: 'assistant', tool_calls: [custom] }).callNames).toEqual(['shell'])
  })

  test('a legacy function call is one call without an id', () => {
    const facts = factsOf({ role: 'assistant', function_call: { name: 'look', arguments: '{}' } })
    expect([facts.callIds, facts.callNames]).toEqual([[''], ['look']])
  })

  test.each([
    [null, false],
    [[], true],
    ['x', false],
    [{}, false],
  ])('tool_calls %j are no calls', (value, isEmpty) => {
    const facts = factsOf({ role: 'assistant', content: 'x', tool_calls: value })
    expect([facts.callIds, facts.emptyCalls]).toEqual([[], isEmpty])
  })
})

describe('content', () => {
  test('facts do not tell where a message stood', () => {
    const json = '{"role":"user","content":"x"}'
    const entry = { ...entryOf(json), start: 3, end: 3 + json.length }
    const facts = runAtOnce(readFacts(sourceOf(`[1,${json}]`), entry))
    expect(facts).toEqual(read(json))
  })

  test('text, refusals and thoughts are no media, all other parts are', () => {
    const parts = [
      'plain',
      { type: 'text', text: 'a' },
      { type: 'refusal', refusal: 'no' },
      { type: 'image_url', image_url: { url: 'https://host/a.png' } },
      { type: 'thinking', thinking: 'hm' },
      null,
      3,
    ]
    expect(factsOf({ role: 'user', content: parts }).media.map(({ kind }) => kind)).toEqual([
      'image',
      'other',
      'other',
    ])
  })

  test('audio that the upstream keeps stands beside the content', () => {
    expect(factsOf({ role: 'assistant', audio: { id: 'audio_1' } }).media).toMatchObject([
      { kind: 'audio', place: 'beside' },
    ])
  })
})

describe('what cannot be read with certainty is not read', () => {
  test.each([
    '"x"',
    '[]',
    '7',
    '{}',
    '{"content":"x"}',
    '{"role":null}',
    '{"role":1}',
    '{"role":"user","role":"user"}',
    '{"role":"user","rol\\u0065":"tool"}',
    '{"role":"user","content":"a","content":"b"}',
  ])('%s', (json) => {
    expect(read(json)).toBeNull()
  })

  test('a part that is nested too deep', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(read(`{"role":"user","content":[${deep}]}`)).toBeNull()
    expect(read(`{"role":"assistant","tool_calls":[{"function":{"arguments":${deep}}}]}`)).toBeNull()
    expect(read(`{"role":"user","content":"x","extra":${deep}}`)?.role).toBe('user')
  })
})

test.each(['<keep>x</keep>', '\\u003ckeep\\u003E x </keep>', '<\\u006beep>x</keep>'])(
  'what is to be kept is found however its marks are spelled: %s',
  (said) => {
    expect(factsOf(`{"role":"user","content":"${said}"}`).keeps).toBe(true)
    expect(factsOf(`{"role":"user","content":"${said.replace(/k|\\u006b/, 'h')}"}`).keeps).toBeUndefined()
  },
)

describe('createFactsReader', () => {
  const long = 'x'.repeat(4_096)
  // Each new chat left its short messages in there: twenty thousand of them were most of what lived, for nothing.
  test.each([
    ['a message of a longer body is not parsed', 'one', `{"role":"user","content":"${long}"}`, false],
    ['one that cannot be read neither', 'one', `{"role":1,"content":"${long}"}`, false],
    ['one of another scope is: it gains nothing', 'another', `{"role":"user","content":"${long}"}`, true],
    ['one of a short body is', 'one', '{"role":"user","content":"x"}', true],
  ])('a second time, %s', (_, scope, body, isParsed) => {
    const reader = createFactsReader(digest, { entriesMax: 10 })
    const entry = entryOf(body)
    const first = runAtOnce(reader(chatCompletions, 'one', sourceOf(body), entry))
    const { source, parsed } = countedSource(body)
    const second = runAtOnce(reader(chatCompletions, scope, source, entry))
    if (scope === 'one') expect(second).toEqual(first)
    expect([parsed() > 0, second === first]).toEqual([isParsed, !isParsed])
  })

  test('a message with very many calls is read though it is too heavy to be kept', () => {
    const calls = Array.from({ length: 1_000 }, (_, index) => ({ id: `call_${index}` }))
    const body = JSON.stringify({ role: 'assistant', tool_calls: calls })
    const reader = createFactsReader(digest, { entriesMax: 2 })
    const entry = entryOf(body)
    const facts = runAtOnce(reader(chatCompletions, 'scope', sourceOf(body), entry))
    expect(facts).toMatchObject({ callIds: calls.map(({ id }) => id) })
  })
})

function readList(messages: readonly unknown[]) {
  const source = sourceOf(JSON.stringify(messages))
  return readMessages(entriesOf(source), source, 'scope', createFactsReader(digest, { entriesMax: 100 }))
}

test('large conversations are read in steps', () => {
  const content = 'x'.repeat(200_000)
  expect(
    [...readList(Array.from({ length: 10 }, () => ({ role: 'user', content })))].length,
  ).toBeGreaterThanOrEqual(10)
})
