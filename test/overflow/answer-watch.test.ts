import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AnswerWatch, WatchDecision } from '../../src/overflow/answer-watch.ts'
import { watchJson, watchStream, createTailObserver } from '../support/chat-completions.ts'
import { forAll } from '../support/property-runs.ts'

const unknown = { knownWindowTokens: null }
const overflowText = 'prompt is too long: 9000 tokens > 8192 maximum'

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const delta = (fields: object, more: object = {}) =>
  event({ choices: [{ index: 0, delta: fields, ...more }] })
const role = delta({ role: 'assistant', content: '' })
const done = 'data: [DONE]\n\n'

const body = (value: unknown) => `\n\n${JSON.stringify(value)}`

const cutOff = (content: string) =>
  body({ choices: [{ message: { content }, finish_reason: 'model_context_window_exceeded' }] })

function decideOn(watch: AnswerWatch, text: string): WatchDecision {
  const decision = watch.feed(text)
  return decision.state === 'undecided' ? watch.end() : decision
}

describe('a held stream is good from its first output on', () => {
  test.each([
    ['content', { content: 'Hi' }],
    ['reasoning', { reasoning: 'Hm' }],
    ['reasoning_content', { reasoning_content: 'Hm' }],
    ['reasoning_details', { reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }],
    ['tool_calls', { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }],
    ['function_call', { function_call: { name: 'f' } }],
    ['refusal', { refusal: 'No' }],
    ['audio', { audio: { id: 'a' } }],
  ])('%s', (_, fields) => {
    const watch = watchStream(unknown)
    expect(watch.feed(role)).toEqual({ state: 'undecided' })
    expect(watch.feed(delta(fields))).toEqual({ state: 'good' })
    expect(watch.feed(event({ error: { message: overflowText } }))).toEqual({ state: 'good' })
  })

  test('data that is no JSON is not held back for us', () => {
    expect(watchStream(unknown).feed('data: hello\n\n').state).toBe('good')
  })

  test('and from a quarter of a million characters on, whatever they are', () => {
    const watch = watchStream(unknown)
    const states = Array.from({ length: 30 }, () => watch.feed(`: ${'.'.repeat(10_000)}\n\n`).state)
    expect(states[0]).toBe('undecided')
    expect(states.at(-1)).toBe('good')
  })
})

describe('what shows nothing decides nothing', () => {
  test.each([
    ['comments', ': OPENROUTER PROCESSING\n\n: keep-alive\r\n\r\n'],
    ['a role', role],
    ['empty fields', delta({ content: '', reasoning: null, tool_calls: [] })],
    ['Azure’s prompt filter', event({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] })],
    ['usage alone', event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 0 } })],
    ['a ping', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['an error field that is null', event({ error: null, choices: [{ delta: { role: 'assistant' } }] })],
    ['half an event', 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n'],
    ['nothing', ''],
  ])('%s', (_, text) => {
    expect(watchStream(unknown).feed(text)).toEqual({ state: 'undecided' })
  })
})

describe('an overflow before any output is seen', () => {
  const ended = { delta: { content: '' }, finish_reason: 'error' }
  test.each([
    ['an error in an event', event({ error: { message: overflowText } })],
    ['beside an empty choice', event({ error: { message: overflowText }, choices: [ended] })],
    ['within a choice', event({ choices: [{ delta: {}, error: { message: overflowText } }] })],
    // What is wrong stands beside the error's name, in a choice's end or in a field that only errors have.
    ['a message beside the error', event({ error: 'Bad Request', message: overflowText })],
    ['a detail beside an end by error', event({ choices: [ended], detail: overflowText })],
    [
      'a code beside the error',
      event({ error: 'too long', code: 'context_length_exceeded', message: overflowText }),
    ],
    ['an error event', `event: error\ndata: {"message":"${overflowText}"}\n\n`],
    ['an error event in plain words', `event:error\ndata:${overflowText}\n\n`],
    ['a line whose field is error', `error: {"code":400,"message":"${overflowText}"}\n\n`],
    [
      'an error_message',
      event({ error_type: 'x', error_message: `{"error":{"message":"${overflowText}"}}` }),
    ],
    ['data in several lines', `data: {"error":\ndata: {"message":"${overflowText}"}}\n\n`],
    ['no blank line at the end', `data: {"error":{"message":"${overflowText}"}}`],
    ['bare JSON in place of a stream', `{\n "error": {\n  "message": "${overflowText}"\n }\n}`],
  ])('%s', (_, text) => {
    expect(decideOn(watchStream(unknown), `: wait\n\n${text}`)).toMatchObject({
      state: 'overflow',
      classification: { class: 'overflow', window: { tokens: 8192, kind: 'total' }, afterOutput: false },
    })
  })

  test('an empty end of a prompt that fills the window, whose usage comes in an event of its own', () => {
    const text = role + delta({}, { finish_reason: 'length' })
    const usage = event({ choices: [], usage: { prompt_tokens: 8190, completion_tokens: 0 } })
    expect(decideOn(watchStream({ knownWindowTokens: 8192 }), text + usage + done).state).toBe('overflow')
    expect(decideOn(watchStream({ knownWindowTokens: 100_000 }), text + usage + done).state).toBe('good')
    expect(decideOn(watchStream(unknown), text + usage + done).state).toBe('good')
    expect(decideOn(watchStream({ knownWindowTokens: 8192 }), text + done).state).toBe('good')
  })

  test('an empty end of a prompt beyond the window (LM Studio)', () => {
    const usage = { prompt_tokens: 36_000, completion_tokens: 0 }
    const text = role + delta({}, { finish_reason: 'stop' }) + event({ choices: [], usage }) + done
    expect(decideOn(watchStream({ knownWindowTokens: 32_768 }), text).state).toBe('overflow')
  })
})

describe('another refusal before any output is told apart', () => {
  test.each([
    ['rate', { error: { code: 429, message: 'Rate limit exceeded' } }],
    ['order', { error: { message: 'System message must be at the beginning.' } }],
    ['other', { error: { message: 'The model crashed' } }],
    ['other', { choices: [{ delta: {}, finish_reason: 'error' }] }],
  ])('%s', (answerClass, chunk) => {
    expect(watchStream(unknown).feed(role + event(chunk))).toMatchObject({
      state: 'refused',
      classification: { class: answerClass },
    })
  })
})

test('an end without output that says why is passed on', () => {
  for (const reason of ['content_filter', 'tool_calls', 'length']) {
    expect(decideOn(watchStream(unknown), role + delta({}, { finish_reason: reason }) + done).state).toBe(
      'good',
    )
  }
  const counted = event({ choices: [], usage: { prompt_tokens: 90, completion_tokens: 0 } })
  expect(decideOn(watchStream(unknown), delta({}, { finish_reason: 'stop' }) + counted).state).toBe('good')
})

describe('a stream that said nothing is empty, once no more can come', () => {
  const stop = delta({}, { finish_reason: 'stop' })
  const uncounted = event({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } })
  test.each([
    ['no byte', ''],
    ['comments', ': wait\n\n: wait\r\n'],
    ['a role', role],
    ['its last word', done],
    ['an ordinary end', role + stop + done],
    ['an end and a usage of nothing', stop + uncounted + done],
  ])('%s', (_, text) => {
    const watch = watchStream(unknown)
    expect(watch.feed(text).state).toBe('undecided')
    expect(watch.end().state).toBe('empty')
  })

  test('text that is no event is not nothing', () => {
    expect(decideOn(watchStream(unknown), 'It went wrong').state).toBe('good')
  })

  test('a plain answer never is', () => {
    const message = { role: 'assistant', content: '' }
    for (const text of ['', body({ choices: [{ message, finish_reason: 'stop' }] })])
      expect(decideOn(watchJson(unknown), text).state).toBe('good')
  })
})

test('the decision does not depend on where the stream was cut or how its lines end', () => {
  const streams = [
    role + delta({ content: 'Hi' }) + done,
    `: wait\n\n${role}event: error\ndata: {"message":"${overflowText}"}\n\n`,
    `\uFEFFdata: {"error":\ndata: {"message":"${overflowText}"}}`,
    `error: {"message":"${overflowText}"}\n\n`,
  ]
  const cut = fc.record({
    text: fc.constantFrom(...streams),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
  })
  forAll(100, cut, ({ text, lineEnd, sizes }) => {
    const ended = text.replaceAll('\n', lineEnd)
    const watch = watchStream(unknown)
    for (let start = 0, turn = 0; start < ended.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1
      watch.feed(ended.slice(start, start + size))
      start += size
    }
    expect(watch.end()).toEqual(decideOn(watchStream(unknown), text))
  })
})

describe('a plain answer is judged when it is complete', () => {
  test('an error with status 200', () => {
    const text = body({ error: { message: overflowText, code: 400 } })
    const watch = watchJson(unknown)
    expect(watch.feed(text.slice(0, 20))).toEqual({ state: 'undecided' })
    expect(watch.feed(text.slice(20))).toEqual({ state: 'undecided' })
    expect(watch.end()).toMatchObject({ state: 'overflow', classification: { window: { tokens: 8192 } } })
  })

  const choices = [{ message: { role: 'assistant', content: overflowText }, finish_reason: 'stop' }]
  test.each([
    ['another error', body({ error: { message: 'no' } }), 'refused'],
    ['an error of MiniMax', body({ base_resp: { status_code: 1008, status_msg: 'no' } }), 'refused'],
    ['an answer', body({ choices, error: null }), 'good'],
    ['an answer of MiniMax', body({ choices, base_resp: { status_code: 0 } }), 'good'],
    ['an answer that the window cut off', cutOff('partial'), 'good'],
    ['an empty one', cutOff(''), 'overflow'],
  ])('%s', (_, text, state) => {
    expect(decideOn(watchJson(unknown), text).state).toBe(state)
  })

  test('what is no JSON is passed on', () => {
    expect(decideOn(watchJson(unknown), 'hello').state).toBe('good')
  })
})

const content = (text: string) =>
  event({ model: 'm-1', choices: [{ index: 0, delta: { content: text }, finish_reason: null }], usage: null })

const usageChunk = (output: number) =>
  event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: output } })

function observe(text: string, shape: 'stream' | 'json' = 'stream') {
  const observer = createTailObserver(shape)
  for (let start = 0; start < text.length; start += 7) observer.feed(text.slice(start, start + 7))
  return observer.end()
}

const streamed = (fields: object) => content('Hi') + event({ choices: [], ...fields }) + done

describe('the usage that an answer ends with is reported', () => {
  const counts = { prompt_tokens: 100, completion_tokens: 5 }
  const detailed = { ...counts, prompt_tokens_details: { cached_tokens: 64 } }
  const plain = {
    model: 'm-1',
    choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
    usage: counts,
  }
  test.each([
    ['cached tokens in details', streamed({ usage: detailed }), 64],
    ['cached tokens of DeepSeek', streamed({ usage: { ...counts, prompt_cache_hit_tokens: 64 } }), 64],
    ['cached tokens of Moonshot', streamed({ usage: { ...counts, cached_tokens: 64 } }), 64],
    ['usage of Groq', streamed({ x_groq: { usage: detailed } }), 64],
    ['usage of a plain answer', JSON.stringify(plain), null],
  ])('%s', (_, text, cachedTokens) => {
    expect(observe(text, text.startsWith('{') ? 'json' : 'stream')).toEqual({
      usage: { promptTokens: 100, completionTokens: 5, cachedTokens, cacheWrittenTokens: null },
      model: 'm-1',
      isOllama: false,
      overflow: null,
      isError: false,
      removedThoughts: null,
      cacheMiss: null,
    })
  })

  test('the last one counts where every chunk carries a growing one', () => {
    expect(observe(usageChunk(1) + usageChunk(2) + usageChunk(3)).usage?.completionTokens).toBe(3)
  })
})

test('an overflow after output teaches, and another error teaches nothing', () => {
  expect(observe(content('Hi') + event({ error: { message: overflowText } }))).toMatchObject({
    isError: true,
    overflow: { class: 'overflow', afterOutput: true, window: { tokens: 8192 } },
  })
  const words = 'Context size has been exceeded.'
  for (const text of [`error: ${words}\n\n`, `event: error\ndata: ${words}`])
    expect(observe(content('Hi') + text).overflow).toMatchObject({ class: 'overflow', afterOutput: true })
  // A window that was full is stated nowhere.
  const full =
    content('Hi') +
    event({ choices: [{ delta: {}, finish_reason: 'model_context_window_exceeded' }] }) +
    event({ choices: [], usage: { prompt_tokens: 8000, completion_tokens: 192 } })
  expect(observe(full)).toMatchObject({ isError: false, overflow: { window: null } })
  const gone = observe(content('Hi') + event({ error: { message: 'gone' } }))
  expect(gone).toMatchObject({ isError: true, overflow: null })
})

test('an assistant who writes about usage, errors and finish reasons changes nothing', () => {
  const text = content(
    '"error": {"message": "maximum context length is 8192 tokens"}, "finish_reason": "length", "usage": {',
  )
  expect(observe(text)).toMatchObject({ usage: null, overflow: null, isError: false })
})

test('what cannot be read is passed over', () => {
  expect(observe('data: {"usage": {\n\ndata: nonsense\n\n')).toMatchObject({ usage: null, isError: false })
  expect(observe('nonsense', 'json')).toMatchObject({ usage: null, isError: false })
})
