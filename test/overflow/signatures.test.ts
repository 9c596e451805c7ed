import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../../src/overflow/classify.ts'
import { refusals, vetoes } from '../../src/overflow/look-alikes.ts'
import { overflowCodes } from '../../src/overflow/error-codes.ts'
import { overflowSignatures } from '../../src/overflow/signatures.ts'
import { shapes } from './shapes.ts'

/** What each sample states: window, prompt, output, total; `>` before a prompt marks a lower bound. */
const statedBySample: Readonly<Record<string, string>> = {
  'vLLM 0.18 and later, prompt cut off': '32768 >28673 4096 -',
  'vLLM 0.18 and later': '16384 9000 8000 17000',
  'vLLM 0.18 and later, too many characters to count': '8192 - 16 -',
  'vLLM 0.15 to 0.17, NVIDIA NIM': '16384 >12289 4096 -',
  'vLLM 0.15 to 0.17, too many characters to count': '8192 - 512 -',
  'vLLM 0.9 to 0.15, output limit named': '8192 5000 4000 -',
  'vLLM 0.9 to 0.15': '8192 9001 - -',
  'vLLM, multimodal': '8192 12324 - -',
  'SGLang, Together': '40960 50000 - -',
  'SGLang, prompt and output': '32768 30000 4000 34000',
  'llama.cpp, LocalAI': '8192 13000 - -',
  ds4: '65536 70000 - -',
  'a local server with status 404': '49152 51402 - -',
  'LM Studio': '4096 6269 - -',
  'LM Studio 0.4': '7424 15028 - -',
  'LM Studio, tokens to keep': '4096 13055 - -',
  'TGI, Together, prompt and output': '4096 4000 500 -',
  TGI: '3072 5000 - -',
  'TensorRT-LLM': '8192 9000 - -',
  'TensorRT-LLM, no room for output': '8192 9000 - -',
  'llama-cpp-python, as a library': '512 700 - -',
  'OpenAI, with the split of the request': '4097 1044 3072 4116',
  'OpenAI, Azure': '8192 9050 - -',
  'OpenAI, configured limit': '272000 300000 - -',
  OpenRouter: '16384 16000 4000 20000',
  'OpenRouter, DeepInfra and Poolside': '32767 39818 - -',
  'Anthropic, Bedrock, Databricks': '200000 201130 - -',
  'Anthropic, prompt and output': '200000 199759 8192 -',
  Gemini: '1048575 1066750 - -',
  SiliconFlow: '202752 204703 - -',
  'SiliconFlow, sequence length': '32768 34345 - -',
  'Fireworks, Ollama cloud': '1048576 1270974 - -',
  Cerebras: '8192 8677 - -',
  Mistral: '32768 40046 - -',
  xAI: '131072 149617 - -',
  Cohere: '132000 151296 - -',
  Moonshot: '262144 262879 - -',
  'Bedrock Nova': '300000 - - -',
  'GitHub Copilot': '128000 391491 - -',
  'GitHub Models': '8000 - - -',
  'Cloudflare Workers AI': '24000 - - 35000',
  DashScope: '983616 - - -',
  'gateways in Chinese, with the window': '32768 - - -',
  'anyone, window stated': '8192 - - -',
}
const nothingStated = '- - - -'

const answer = (message: string) => ({ status: 400, contentType: '', body: JSON.stringify({ message }) })

describe.each(Object.entries(shapes))('inside %s', (_, wrap) => {
  test.each(overflowSignatures)(
    'an overflow of $provider is recognised and read',
    ({ provider, sample, kind }) => {
      const read = classifyAnswer(wrap(sample))

      const prompt =
        read.promptTokens === null ? '-' : `${read.promptTokens.exact ? '' : '>'}${read.promptTokens.tokens}`
      const stated = [
        read.window?.tokens ?? '-',
        prompt,
        read.completionTokens ?? '-',
        read.totalTokens ?? '-',
      ]
      expect(read).toMatchObject({ class: 'overflow', afterOutput: false })
      expect(stated.join(' ')).toBe(statedBySample[provider] ?? nothingStated)
      expect(read.window?.kind ?? kind).toBe(kind)
    },
  )

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

test.each(overflowSignatures)(
  '$provider: numbers with separators and other apostrophes read the same',
  ({ sample }) => {
    const grouped = sample
      .replaceAll("'", '\u2019')
      .replaceAll(/\d{4,}(?![\d.])/g, (digits) => Number(digits).toLocaleString('en-US'))
    expect(classifyAnswer(answer(grouped))).toEqual(classifyAnswer(answer(sample)))
  },
)

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
  ['backslashes', '\\'.repeat(40_000)],
  ['brackets', '{'.repeat(40_000)],
  ['deep nesting', `${'[{"error":'.repeat(4000)}"x"${'}]'.repeat(4000)}`],
])('survives %s', (_, text) => {
  for (const wrap of Object.values(shapes)) expect(classifyAnswer(wrap(text)).window).toBeNull()
})
