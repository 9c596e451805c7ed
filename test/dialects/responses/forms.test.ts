import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/conversation/json-value.ts'
import { finish } from '../../../src/conversation/source.ts'
import { structureOf } from '../../../src/conversation/structure.ts'
import { READ_BYTES_MAX } from '../../../src/conversation/unread.ts'
import { createFactsReader, parseEntry, readEntries } from '../../../src/dialects/entry-facts.ts'
import { responses } from '../../../src/dialects/responses/responses.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { messageTokens } from '../../../src/tokens/message-tokens.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { digest, sourceOf } from '../../support/source.ts'
import { spokenForms } from './forms.ts'

const counter = await loadCounter('o200k_base')

/** What is read of a request with these items as its input, or with this text. */
function read(input: readonly JsonObject[] | string) {
  const source = sourceOf(JSON.stringify({ model: 'gpt-5.1', input }))
  const found = finish(responses.bodies.read(source, bodyLimits, null))
  if (!found.read) throw new Error(found.reason)
  const reader = createFactsReader(digest, { entriesMax: 100 })
  const messages = finish(readEntries(responses, found.body.entrySpans, source, 'scope', reader))
  if (messages === null || messages === 'stateful') throw new Error('the items cannot be read')
  return messages.map((message) => {
    const parsed = () => parseEntry(responses, source, message)
    const tokens = () => finish(messageTokens(parsed(), message.facts, counter, 'gpt-5.1'))
    return { message, tokens }
  })
}

const words = 'the quick brown fox jumps over the lazy dog '.repeat(100)
const wordsTokens = counter.count(words)
const tooLong = words.repeat(Math.ceil((1.1 * READ_BYTES_MAX) / words.length))

/** One pixel, in more than a megabyte that counts for nothing. */
const picture = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ${'A'.repeat(1.1 * READ_BYTES_MAX)}`
const image = { type: 'image', url: `data:image/png;base64,${picture}` }

describe('each form of an item is read, counted and told from others by what it says', () => {
  test.each(spokenForms.map((form) => [form.name, form] as const))('%s', (_, { item }) => {
    const [one] = read([item(words)])
    expect(one?.tokens()).toBeGreaterThanOrEqual(wordsTokens)
    expect(one?.tokens()).toBeLessThan(wordsTokens * 1.2 + 60)
    const [other] = read([item(`${words} others`)])
    const isThought = item('')['type'] === 'reasoning'
    expect(other?.message.facts.meaning === one?.message.facts.meaning).toBe(isThought)
  })

  test.each(spokenForms.map((form) => [form.name, form] as const))(
    '%s of more than a megabyte',
    (_, { item }) => {
      const [one] = read([item(tooLong)])
      expect(one?.message.facts.unread?.some(({ isText }) => isText)).toBe(true)
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
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: picture },
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
    const [one] = read([item])
    expect(one?.message.facts.media).toMatchObject([{ kind: 'image', widthPixels: 1, heightPixels: 1 }])
    expect(one?.message.facts.unread?.map(({ isText }) => isText)).toEqual([false])
    expect(one?.tokens()).toBeLessThan(2_000)
  })
})

test('an input that is one text of more than a megabyte is read', () => {
  const [one] = read(tooLong)
  expect(one?.message.facts.unread).toMatchObject([{ isText: true }])
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
  const { isFrontier } = finish(structureOf(read(items).map(({ message }) => message)))
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
  const bound = read([asked, called, later]).map(({ message }) => message.facts.bound)
  expect(bound).toEqual(['demands', 'follows', 'follows'])
})
