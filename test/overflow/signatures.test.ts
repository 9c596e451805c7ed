import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../support/chat-completions.ts'
import { overflowCodes } from '../../src/overflow/error-codes.ts'
import { overflowSignatures, refusals, vetoes } from '../../src/overflow/known-wordings.ts'
import type { Classification } from '../../src/overflow/classification.ts'
import { shapes } from './shapes.ts'
import { wordings, type Wording } from './wordings.ts'

/** What each signature's sample states: window, prompt, output, total; `>` before a prompt marks a lower bound. */
const statedBySample: Readonly<Record<string, string>> = {
  'vLLM 0.32, more output than the window': '4096 - 9000 -',
  'vLLM 0.15 to 0.17, NVIDIA NIM': '16384 >12289 4096 -',
  'vLLM 0.9 to 0.15, output limit named': '8192 5000 4000 -',
  'TGI, Together, prompt and output': '4096 4000 500 -',
  TGI: '3072 5000 - - input',
  'TensorRT-LLM': '8192 9000 - - input',
  'TensorRT-LLM, no room for output': '8192 9000 - -',
  'OpenAI, configured limit': '272000 300000 - - input',
  'Anthropic, prompt and output': '200000 188059 20000 -',
  Gemini: '1048575 1066750 - - input',
  'Bedrock Nova': '300000 - - - input',
  'GitHub Copilot': '128000 391491 - - input',
  'GitHub Models': '8000 - - - input',
  'Cloudflare Workers AI': '24000 - - 35000',
  DashScope: '983616 - - - input',
}

const known: readonly Wording[] = [
  ...overflowSignatures.map(({ provider, sample }) => ({
    provider,
    text: sample,
    states: statedBySample[provider] ?? '',
  })),
  ...wordings,
]

function statesOf({ window, promptTokens, completionTokens, totalTokens }: Classification): string {
  const prompt = promptTokens === null ? '-' : `${promptTokens.exact ? '' : '>'}${promptTokens.tokens}`
  const stated = [window?.tokens ?? '-', prompt, completionTokens ?? '-', totalTokens ?? '-']
  return [...stated, ...(window?.kind === 'input' ? ['input'] : [])].join(' ')
}

const answer = (message: string) => ({ status: 400, contentType: '', body: JSON.stringify({ message }) })

describe.each(Object.entries(shapes))('inside %s', (_, wrap) => {
  test.each(known)('an overflow of $provider is recognised and read', ({ provider, text, states }) => {
    const read = classifyAnswer(wrap(text))

    const isOutput = provider === 'vLLM 0.32, more output than the window'
    expect(read).toMatchObject({ class: isOutput ? 'output_too_large' : 'overflow', afterOutput: false })
    expect(statesOf(read)).toBe(states)
  })

  test.each([...vetoes, ...refusals])(
    '$provider is no overflow',
    ({ sample, class: answerClass, remedy }) => {
      expect(classifyAnswer(wrap(sample))).toMatchObject({ class: answerClass, remedy, window: null })
    },
  )
})

test('every figure above belongs to a signature', () => {
  const providers = new Set(overflowSignatures.map(({ provider }) => provider))
  expect(providers.size).toBe(overflowSignatures.length)
  expect(Object.keys(statedBySample).filter((provider) => !providers.has(provider))).toEqual([])
})

test.each(known)('$provider: numbers with separators and other apostrophes read the same', ({ text }) => {
  const grouped = text
    .replaceAll("'", '\u2019')
    .replaceAll(/\d{4,}(?![\d.])/g, (digits) => Number(digits).toLocaleString('en-US'))
  expect(classifyAnswer(answer(grouped))).toEqual(classifyAnswer(answer(text)))
})

test.each([...overflowCodes])('the code %s decides whatever status and text say', (code) => {
  const body = JSON.stringify({ error: { message: 'refused', code } })
  for (const status of [400, 404, 413, 500, 503]) {
    expect(classifyAnswer({ status, contentType: 'application/json', body }).class).toBe('overflow')
  }
})

test.each([
  ['a long run of digits', '9'.repeat(40_000)],
  ['digits and separators', '1,'.repeat(20_000)],
  [
    'one signature’s beginning, over and over',
    'maximum context length is 1 tokens. However, you requested '.repeat(900),
  ],
  ['the beginnings of many', 'prompt is too long: input length exceeds 超过 max tokens (('.repeat(900)],
  ['the general form’s words', 'prompt limit of the 99 tokens context over the request exceeds '.repeat(700)],
  ['words of echoes', 'received got role: invalid a image https://x "'.repeat(900)],
  ['quotation marks that close nothing', `Error code: 400 - {${"'\\\\".repeat(8000)}}`],
  ['backslashes', '\\'.repeat(40_000)],
  ['brackets', '{'.repeat(40_000)],
  ['deep nesting', `${'[{"error":'.repeat(4000)}"x"${'}]'.repeat(4000)}`],
])('survives %s', (_, text) => {
  for (const wrap of Object.values(shapes)) expect(classifyAnswer(wrap(text)).window).toBeNull()
})

// A reply as large as the window was taken for the window's only mention, and none was left.
describe('an output limit that is exactly the window', () => {
  test.each([
    [
      'OpenAI',
      "This model's maximum context length is 32000 tokens. However, you requested 38985 tokens (2028 in the messages, 4957 in the functions, and 32000 in the completion). Please reduce the length of the messages, functions, or completion.",
      '32000 6985 32000 38985',
    ],
    [
      'OpenRouter',
      "This endpoint's maximum context length is 16384 tokens. However, you requested about 32384 tokens (12000 of text input, 4000 of tool input, 16384 in the output). Please reduce the length of either one.",
      '16384 16000 16384 32384',
    ],
    [
      'vLLM',
      "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (8192 > 8192 - 5000).",
      '8192 5000 8192 -',
    ],
    [
      'Anthropic',
      'input length and `max_tokens` exceed context limit: 7000 + 32000 > 32000, decrease input length or `max_tokens` and try again',
      '32000 7000 32000 -',
    ],
  ])('is read in the words of %s', (_, text, states) => {
    const read = classifyAnswer(answer(text))
    expect(statesOf(read)).toBe(states)
    expect(read).toMatchObject({ class: 'output_too_large', remedy: 'clamp' })
  })

  test('is no overflow where it is a cap of the model', () => {
    for (const text of [
      'max_tokens is too large: 32000. This model supports at most 32000 completion tokens, whereas you provided 32000.',
      'max_tokens: 32000 > 32000, which is the maximum allowed number of output tokens for this model',
    ])
      expect(classifyAnswer(answer(text))).toMatchObject({ class: 'output_too_large', window: null })
  })
})
