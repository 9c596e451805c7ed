import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/json/json-value.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { structureOf } from '../../../src/conversation/structure.ts'
import { READ_BYTES_MAX } from '../../../src/json/skipped-text.ts'
import { parseEntry } from '../../../src/formats/entry-facts.ts'
import { responses } from '../../../src/formats/responses/responses.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { messageTokens } from '../../../src/tokens/message-tokens.ts'
import { readBody, repairedBody } from '../../support/read-body.ts'
import { sourceOf } from '../../support/source.ts'
import { spokenForms } from './forms.ts'
import { unnamed } from '../../../src/formats/responses/describe.ts'

const counter = await loadCounter('o200k_base')

/** What is read of a request with these items as its input, or with this text. */
function readInput(input: readonly JsonObject[] | string) {
  const { source, messages } = readBody(responses, JSON.stringify({ model: 'gpt-5.1', input }))
  return messages.map((message) => {
    const parsed = () => parseEntry(responses, source, message)
    const tokens = () => runAtOnce(messageTokens(parsed(), message.facts, counter, 'gpt-5.1'))
    return { message, tokens }
  })
}

const words = 'the quick brown fox jumps over the lazy dog '.repeat(100)
const wordsTokens = counter.count(words)
const tooLong = words.repeat(Math.ceil((1.1 * READ_BYTES_MAX) / words.length))

/** One pixel, in more than a megabyte that counts for nothing. */
const longPicture = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ${'A'.repeat(1.1 * READ_BYTES_MAX)}`
const image = { type: 'image', url: `data:image/png;base64,${longPicture}` }

describe('each form of an item is read, counted and told from others by what it says', () => {
  test.each(spokenForms.map((form) => [form.name, form] as const))('%s', (_, { item }) => {
    const [one] = readInput([item(words)])
    expect(one?.tokens()).toBeGreaterThanOrEqual(wordsTokens)
    expect(one?.tokens()).toBeLessThan(wordsTokens * 1.2 + 60)
    const [other] = readInput([item(`${words} others`)])
    const isThought = item('')['type'] === 'reasoning'
    expect(other?.message.facts.meaning === one?.message.facts.meaning).toBe(isThought)
  })

  test.each(spokenForms.map((form) => [form.name, form] as const))(
    '%s of more than a megabyte',
    (_, { item }) => {
      const [one] = readInput([item(tooLong)])
      expect(one?.message.facts.skipped?.some(({ isText }) => isText)).toBe(true)
    },
  )
})

describe('what is no text is not counted as text', () => {
  test.each<readonly [string, JsonObject]>([
    [
      'a screenshot',
      {
        type: 'computer_call_output',
        call_id: 'a',
        output: { type: 'computer_screenshot', image_url: image.url },
      },
    ],
    [
      'a picture that the server made',
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: longPicture },
    ],
    [
      'a picture that code has drawn',
      {
        type: 'code_interpreter_call',
        id: 'ci_1',
        code: '',
        container_id: 'c',
        status: 'completed',
        outputs: [image],
      },
    ],
    [
      'a picture among the parts of an output',
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [{ type: 'input_image', detail: 'auto', image_url: image.url }],
      },
    ],
  ])('%s', (_, item) => {
    const [one] = readInput([item])
    expect(one?.message.facts.media).toMatchObject([{ kind: 'image', widthPixels: 1, heightPixels: 1 }])
    expect(one?.message.facts.skipped?.map(({ isText }) => isText)).toEqual([false])
    expect(one?.tokens()).toBeLessThan(2_000)
  })
})

test('an input that is one text of more than a megabyte is read', () => {
  const [one] = readInput(tooLong)
  expect(one?.message.facts.skipped).toMatchObject([{ isText: true }])
})

/** A call that a program of the model's makes, and its output. */
const calledByProgram = (id: string) => [
  {
    type: 'function_call',
    call_id: id,
    name: 'look',
    arguments: '{}',
    caller: { type: 'program', caller_id: 'call_p' },
  },
  { type: 'function_call_output', call_id: id, output: 'seen' },
]

test('what a program of the model’s calls, and its end, are one with it, over all requests that it takes', () => {
  const program = { type: 'program', id: 'pg_1', call_id: 'call_p', code: 'look(); look()', fingerprint: 'f' }
  const end = { type: 'program_output', id: 'po_1', call_id: 'call_p', result: 'both', status: 'completed' }
  const said = { type: 'message', role: 'assistant', content: 'Both.' }
  const go = { role: 'user', content: 'Go.' }
  const items = [go, program, ...calledByProgram('a'), ...calledByProgram('b'), end, said, go]
  const { isFrontier } = runAtOnce(structureOf(readInput(items).map(({ message }) => message)))
  expect(items.flatMap((_, index) => (isFrontier(index) ? [index] : []))).toEqual([0, 1, 7, 8])
})

test('a request for approval keeps the name by which its answer finds it, and no other item of the model’s does', () => {
  const asked = {
    type: 'mcp_approval_request',
    id: 'mcpr_1',
    name: 'drop',
    server_label: 'db',
    arguments: '{}',
  }
  const called = { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'look', arguments: '{}' }
  const later = { type: 'telepathy', id: 'tp_1' }
  const bound = readInput([asked, called, later]).map(({ message }) => message.facts.bound)
  expect(bound).toEqual(['demands', 'follows', 'follows'])
})

const { entries } = responses
const long = 'long '.repeat(80)
const itemOf = (role: string, part: object) => ({ type: 'message', role, content: [part] })

// A recorded agent's long reply was shortened to fit and written as `input_text`. The server refused the whole
// request: "Invalid value: 'input_text'. Supported values are: 'output_text', 'refusal'."
test.each<[string, string, object, object]>([
  [
    'a reply',
    'assistant',
    { type: 'output_text', text: 'long', annotations: [{ type: 'url_citation' }] },
    { type: 'output_text', text: 'short', annotations: [] },
  ],
  [
    'a refusal',
    'assistant',
    { type: 'refusal', refusal: 'long' },
    { type: 'output_text', text: 'short', annotations: [] },
  ],
  ['a user’s words', 'user', { type: 'input_text', text: 'long' }, { type: 'input_text', text: 'short' }],
])('%s that was shortened is spelt as its role’s parts are', (_, role, part, shortened) => {
  expect(withText(itemOf(role, part), 'short')).toEqual(itemOf(role, shortened))
})

test('an output that was shortened is an input, as it was', () => {
  expect(withText(outputOf('long'), 'short')).toEqual(outputOf('short'))
})

// A large answer of an MCP server's could not be shortened: all that it stood in was folded, the newest round included.
test.each<[string, JsonObject, JsonObject]>([
  [
    'an MCP call',
    { type: 'mcp_call', id: 'mcp_1', name: 'find', arguments: '{"q":1}', output: long },
    { type: 'mcp_call', id: 'mcp_1', name: 'find', arguments: '{"q":1}', output: 'short' },
  ],
  [
    'a run of code',
    { type: 'code_interpreter_call', id: 'ci_1', code: long, outputs: [{ type: 'logs', logs: long }] },
    { type: 'code_interpreter_call', id: 'ci_1', code: long, outputs: [{ type: 'logs', logs: 'short' }] },
  ],
  [
    'a search of files',
    { type: 'file_search_call', id: 'fs_1', queries: ['a'], results: [{ file_id: 'f', text: long }] },
    { type: 'file_search_call', id: 'fs_1', queries: ['a'], results: [{ file_id: 'f', text: 'short' }] },
  ],
])(
  'what the server’s own work came out as is shortened, and nothing else of it: %s',
  (_, done, shortened) => {
    expect(withText(done, 'short')).toEqual(shortened)
  },
)

const outputOf = (text: string) => ({
  type: 'function_call_output',
  call_id: 'a',
  output: [{ type: 'input_text', text }],
})

/** An item with this text in its only slot. */
function withText(value: JsonObject, text: string): unknown {
  const json = JSON.stringify(value)
  const source = sourceOf(json)
  const span = { start: 0, end: json.length, elements: 0, keys: 0 }
  const [slot] = runAtOnce(entries.slots(source, span, entries.parse(value)))
  if (slot === undefined) throw new Error('nothing in the item may be shortened')
  return JSON.parse(
    runAtOnce(entries.edited(source, span, new Map([[slot, text]]), Number.POSITIVE_INFINITY)),
  )
}

const user = { type: 'message', role: 'user', content: 'Look.' }
const mark = expect.objectContaining({ type: 'input_text' })

// A client may lose the call of a screenshot. The picture became a text of its base64, which no window holds.
test('a screenshot whose call is gone stays a picture', () => {
  const picture = { type: 'computer_screenshot', image_url: 'data:image/png;base64,AAAA' }
  expect(repaired([user, { type: 'computer_call_output', call_id: 'a', output: picture }])).toEqual([
    user,
    { type: 'message', role: 'user', content: [mark, { ...picture, type: 'input_image' }] },
  ])
})

test.each<[string, object, readonly object[]]>([
  ['a text', { type: 'function_call_output', output: 'seen' }, [{ type: 'input_text', text: 'seen' }]],
  [
    'parts',
    { type: 'function_call_output', output: [{ type: 'input_image', file_id: 'f' }] },
    [{ type: 'input_image', file_id: 'f' }],
  ],
  [
    'what a shell printed',
    {
      type: 'shell_call_output',
      output: [{ stdout: 'a', stderr: 'b', outcome: { type: 'exit', exit_code: 0 } }],
    },
    [{ type: 'input_text', text: 'a\nb' }],
  ],
])('an output whose call is gone is told as the user’s: %s', (_, output, said) => {
  expect(repaired([user, { ...output, call_id: 'a' }])[1]).toEqual({
    type: 'message',
    role: 'user',
    content: [mark, ...said],
  })
})

/** The items of an input as they are sent, repaired. */
const repaired = (input: readonly object[]): readonly unknown[] =>
  JSON.parse(repairedBody(responses, JSON.stringify({ model: 'm', input })) ?? '{"input":[]}').input

describe('an item without the id by which the server demands the reasoning before it', () => {
  test('keeps all its other bytes', () => {
    const call = '{ "id":"fc_1", "type":"function_call","n":1.0e2 ,"call_id":"c" }'
    expect(unnamed(call)).toBe('{ "type":"function_call","n":1.0e2 ,"call_id":"c" }')
    expect(unnamed('{"role":"assistant","content":"a","id":"msg_1"}')).toBe(
      '{"role":"assistant","content":"a"}',
    )
  })

  // Without one, OpenAI's servers refused a search of theirs: Missing required parameter: 'input[42].id'.
  test('has another one where its type needs one', () => {
    const search = '{"id":"ws_1", "type":"web_search_call","status":"completed"}'
    expect(unnamed(search)).toBe('{"id":"ws_1x", "type":"web_search_call","status":"completed"}')
  })

  test('which begins as the type demands, and is no longer than servers take', () => {
    const id = `mcp_${'0123456789'.repeat(6)}`
    expect(unnamed(`{"type":"mcp_call","id":"${id}"}`)).toBe(`{"type":"mcp_call","id":"${id.slice(0, 63)}x"}`)
  })

  test('is as it came if it has none', () => {
    const done = '{"type":"web_search_call","action":{"id":"of something else"}}'
    expect(unnamed(done)).toBe(done)
  })
})
