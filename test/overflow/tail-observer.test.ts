import { describe, expect, test } from 'vitest'
import { createTailObserver } from '../support/chat-completions.ts'

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const content = (text: string) =>
  event({ model: 'm-1', choices: [{ index: 0, delta: { content: text }, finish_reason: null }], usage: null })

const usageChunk = (output: number) =>
  event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: output } })

function observe(text: string, shape: 'stream' | 'json' = 'stream') {
  const observer = createTailObserver(shape)
  for (let start = 0; start < text.length; start += 7) observer.feed(text.slice(start, start + 7))
  return observer.end()
}

describe('the usage that an answer ends with is reported', () => {
  test.each([
    [
      'cached tokens in details',
      { usage: { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 64 } } },
    ],
    [
      'cached tokens of DeepSeek',
      { usage: { prompt_tokens: 100, completion_tokens: 5, prompt_cache_hit_tokens: 64 } },
    ],
    ['cached tokens of Moonshot', { usage: { prompt_tokens: 100, completion_tokens: 5, cached_tokens: 64 } }],
    [
      'usage of Groq',
      {
        x_groq: {
          usage: { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 64 } },
        },
      },
    ],
  ])('%s', (_, fields) => {
    const text = content('Hi') + event({ choices: [], ...fields }) + 'data: [DONE]\n\n'
    expect(observe(text)).toEqual({
      usage: { promptTokens: 100, completionTokens: 5, cachedTokens: 64, cacheWrittenTokens: null },
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

  test('of a plain answer, too', () => {
    const choices = [{ message: { content: 'Hi' }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 100, completion_tokens: 5 }
    expect(observe(JSON.stringify({ model: 'm-1', choices, usage }), 'json')).toEqual({
      usage: { promptTokens: 100, completionTokens: 5, cachedTokens: null, cacheWrittenTokens: null },
      model: 'm-1',
      isOllama: false,
      overflow: null,
      isError: false,
      removedThoughts: null,
      cacheMiss: null,
    })
  })
})

describe('an overflow after output teaches', () => {
  test('an error in the middle of the stream', () => {
    const text =
      content('Hi') + event({ error: { message: 'prompt is too long: 9000 tokens > 8192 maximum' } })
    expect(observe(text)).toMatchObject({
      isError: true,
      overflow: { class: 'overflow', afterOutput: true, window: { tokens: 8192 } },
    })
  })

  test('an error field and an error event', () => {
    for (const text of [
      'error: Context size has been exceeded.\n\n',
      'event: error\ndata: Context size has been exceeded.',
    ]) {
      expect(observe(content('Hi') + text).overflow).toMatchObject({ class: 'overflow', afterOutput: true })
    }
  })

  test('a window that was full, which is stated nowhere', () => {
    const text =
      content('Hi') +
      event({ choices: [{ delta: {}, finish_reason: 'model_context_window_exceeded' }] }) +
      event({ choices: [], usage: { prompt_tokens: 8000, completion_tokens: 192 } })
    expect(observe(text)).toMatchObject({
      isError: false,
      overflow: { window: null },
    })
  })
})

test('another error is an error and teaches nothing', () => {
  expect(observe(content('Hi') + event({ error: { message: 'gone' } }))).toMatchObject({
    isError: true,
    overflow: null,
  })
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
