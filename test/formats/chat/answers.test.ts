import { describe, expect, test } from 'vitest'
import { readAnswer } from '../../../src/formats/chat/answers.ts'

const usageOf = (body: object) => readAnswer(body)?.usage ?? null
const stated = (usage: object) => usageOf({ choices: [], usage })

const details = (cached_tokens: number, more = {}) => ({
  prompt_tokens_details: { cached_tokens, ...more },
})

// Trying both readings took an honest 4,792 tokens, 1,280 of them cached, for 6,072; the next prompt then looked cut.
describe('cached tokens are read by the rule of whose names they have', () => {
  const litellm = { cache_read_input_tokens: 4000, cache_creation_input_tokens: 300 }
  const deepSeek = { prompt_cache_hit_tokens: 4000, prompt_cache_miss_tokens: 1000 }
  const total = { completion_tokens: 8, total_tokens: 4320 }
  test.each([
    ['nothing is cached', { prompt_tokens: 5000 }, 5000, null, null],
    ['OpenAI: among them', { prompt_tokens: 4792, ...details(1280) }, 4792, 1280, null],
    ['DeepSeek: among them', { prompt_tokens: 5000, ...deepSeek }, 5000, 4000, null],
    ['Moonshot: among them', { prompt_tokens: 5000, cached_tokens: 5000 }, 5000, 5000, null],
    [
      'written ones, too',
      { prompt_tokens: 5000, ...details(100, { cache_write_tokens: 200 }) },
      5000,
      100,
      200,
    ],
    [
      'LiteLLM, both names: among them',
      { prompt_tokens: 5000, ...details(4000), ...litellm },
      5000,
      4000,
      300,
    ],
    ['Anthropic’s names alone: beside them', { prompt_tokens: 1200, ...litellm }, 5500, 4000, 300],
    // Anthropic's numbers passed on as they are: 345 tokens read anew, 12,000 from the cache.
    ['more than there are: beside them', { prompt_tokens: 345, ...details(12_000) }, 12_345, 12_000, null],
    ['only written', { prompt_tokens: 1000, cache_creation_input_tokens: 4000 }, 5000, null, 4000],
    [
      'a sum that holds them: beside them',
      { prompt_tokens: 12, ...total, ...details(4300) },
      4312,
      4300,
      null,
    ],
  ])('%s', (_, usage, promptTokens, cachedTokens, cacheWrittenTokens) => {
    expect(stated(usage)).toMatchObject({ promptTokens, cachedTokens, cacheWrittenTokens })
  })
})

test('Ollama says who it is', () => {
  expect(readAnswer({ choices: [], system_fingerprint: 'fp_ollama' })?.isOllama).toBe(true)
  expect(readAnswer({ choices: [], system_fingerprint: 'fp_1234' })?.isOllama).toBe(false)
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
      completionTokens: 35,
      cachedTokens: 236,
      cacheWrittenTokens: null,
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
