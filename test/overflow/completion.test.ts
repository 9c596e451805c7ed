import { describe, expect, test } from 'vitest'
import { readCompletion } from '../../src/overflow/completion.ts'

const usageOf = (body: object) => readCompletion(body)?.usage ?? null
const stated = (usage: object) => usageOf({ choices: [], usage })

// A gateway passed Anthropic's numbers on: 5,000 tokens, beside them 4,000 that were written to the cache. 9,000 had been
// sent, the rest looked like a prompt that had been cut, and the window was lowered for nothing.
describe('cached tokens are among the stated ones, or are not', () => {
  test.each([
    ['nothing is cached', { prompt_tokens: 5000 }, 5000, null],
    ['nothing was found in the cache', { prompt_tokens: 5000, cached_tokens: 0 }, 5000, null],
    ['both are offered', { prompt_tokens: 5000, cache_creation_input_tokens: 4000 }, 5000, 9000],
    [
      'of what was read and what was written',
      { prompt_tokens: 5000, cache_read_input_tokens: 1000, cache_creation_input_tokens: 2000 },
      5000,
      8000,
    ],
    ['in details', { prompt_tokens: 5000, prompt_tokens_details: { cached_tokens: 4864 } }, 5000, 9864],
    [
      'written tokens in details',
      { prompt_tokens: 5000, prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 200 } },
      5000,
      5300,
    ],
    [
      'more cached than stated leaves no doubt',
      { prompt_tokens: 12, cache_read_input_tokens: 4000, cache_creation_input_tokens: 300 },
      4312,
      null,
    ],
    ['all of it cached is no more than stated', { prompt_tokens: 5000, cached_tokens: 5000 }, 5000, 10_000],
  ])('%s', (_, usage, promptTokens, alternativePromptTokens) => {
    expect(stated(usage)).toMatchObject({ promptTokens, alternativePromptTokens })
  })
})

const chunk = (fields: object) => ({
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  object: 'chat.completion.chunk',
  ...fields,
})

// The answer's last chunk as llama.cpp's server of September 2025 and later writes it where no usage was asked for.
describe('llama.cpp states a prompt in its timings', () => {
  const timings = { cache_n: 236, prompt_n: 14, prompt_ms: 30.958, predicted_n: 35, predicted_ms: 661.064 }

  test('what was cached, what was read, and the reply', () => {
    expect(usageOf(chunk({ timings }))).toEqual({
      promptTokens: 250,
      alternativePromptTokens: null,
      completionTokens: 35,
      cachedTokens: 236,
    })
  })

  test('usage goes before timings', () => {
    const usage = { prompt_tokens: 251, completion_tokens: 36 }
    expect(usageOf(chunk({ timings, usage }))?.promptTokens).toBe(251)
    expect(usageOf(chunk({ timings, usage: null }))?.promptTokens).toBe(250)
  })

  test.each([
    ['older ones, which leave out what was cached', { prompt_n: 14, predicted_n: 35 }],
    ['no prompt', { cache_n: 236 }],
    ['negative counts', { cache_n: 0, prompt_n: -1 }],
    ['a list', []],
    ['a text', 'fast'],
  ])('%s: nothing', (_, fields) => {
    expect(usageOf(chunk({ timings: fields }))).toBeNull()
  })
})
