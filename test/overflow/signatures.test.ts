import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../support/chat-completions.ts'
import { overflowCodes } from '../../src/overflow/classify-error.ts'
import { overflowSignatures, refusals, vetoes } from '../../src/overflow/classify-error.ts'
import type { Classification } from '../../src/overflow/classification.ts'
import type { WholeAnswer } from '../../src/overflow/classify.ts'
import { recordsIn } from './records.ts'

/**
 * How a server words an overflow, and what that states: window, prompt, output, total; `>` before a lower bound, `input`
 * behind a window of the prompt alone. Those in the file are read by the general form, so that no signature is needed.
 */
type Wording = { readonly provider: string; readonly states: string; readonly text: string }

/** What each signature's sample states. */
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
  ...recordsIn('wordings.jsonl', (line): Wording => JSON.parse(line)),
]

function statesOf({ window, promptTokens, completionTokens, totalTokens }: Classification): string {
  const prompt = promptTokens === null ? '-' : `${promptTokens.exact ? '' : '>'}${promptTokens.tokens}`
  const stated = [window?.tokens ?? '-', prompt, completionTokens ?? '-', totalTokens ?? '-']
  return [...stated, ...(window?.kind === 'input' ? ['input'] : [])].join(' ')
}

const answer = (message: string) => ({ status: 400, contentType: '', body: JSON.stringify({ message }) })

const json = (body: unknown, status = 400): WholeAnswer => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
})

const stream = (body: string): WholeAnswer => ({ status: 200, contentType: 'text/event-stream', body })

/** The ways in which servers and gateways wrap one and the same sentence. */
const shapes: Readonly<Record<string, (text: string) => WholeAnswer>> = {
  'an error object': (text) => json({ error: { message: text, type: 'invalid_request_error', code: null } }),
  'Anthropic’s envelope': (text) =>
    json({ type: 'error', error: { type: 'invalid_request_error', message: text }, request_id: 'req_011CS' }),
  'a flat object': (text) => json({ object: 'error', message: text, type: 'BadRequestError', code: 400 }),
  'an error string': (text) => json({ error: text }),
  'an array': (text) => json([{ error: { code: 400, message: text, status: 'INVALID_ARGUMENT' } }]),
  'a list of errors': (text) => json({ errors: [{ message: text, code: 7000 }], success: false, result: {} }),
  'status 422 and a detail': (text) => json({ detail: JSON.stringify({ error: { message: text } }) }, 422),
  'a message that is JSON': (text) =>
    json({ error_code: 'BAD_REQUEST', message: JSON.stringify({ message: text }) }),
  'a body behind who was asked for which model': (text) =>
    json({
      error: {
        message: `Error from provider(p,some/m-1: 400): ${JSON.stringify({ error: { message: text } })}`,
      },
    }),
  'raw metadata': (text) =>
    json({
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: JSON.stringify({ error: { message: text } }), provider_name: 'P' },
      },
    }),
  'a python bytes literal': (text) => {
    const inner = JSON.stringify({ error: { code: 400, message: text } }, null, 1)
    const literal = inner.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')
    return json({ error: { message: `wrapped.BadRequestError: PException - b'${literal}\\n'`, code: '400' } })
  },
  'plain text': (text) => ({ status: 400, contentType: 'text/plain', body: `Request rejected: ${text}` }),
  'plain JSON with status 200': (text) => json({ error: { message: text, code: 400 } }, 200),
  'an event with an error': (text) =>
    stream(`: PROCESSING\n\ndata: ${JSON.stringify({ choices: [], error: { message: text } })}\n\n`),
  'an error event': (text) => stream(`event: error\r\ndata: ${JSON.stringify({ message: text })}\r\n\r\n`),
  'an error event of Anthropic’s': (text) =>
    stream(
      `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: text } })}\n\n`,
    ),
  'an error field': (text) => stream(`error: ${JSON.stringify({ code: 400, message: text })}\n\n`),
  'an error message within an event': (text) =>
    stream(
      `data:${JSON.stringify({ error_type: 'x', error_message: JSON.stringify({ error: { message: text } }) })}`,
    ),
}

/** Each of these sentences in each shape, where what is read of it is not what it means. */
const misread = <Sentence extends { readonly provider: string }>(
  sentences: readonly Sentence[],
  textOf: (sentence: Sentence) => string,
  read: (classification: Classification) => string,
  meant: (sentence: Sentence) => string,
): readonly string[] =>
  sentences.flatMap((sentence) =>
    Object.entries(shapes).flatMap(([shape, wrap]) => {
      const found = read(classifyAnswer(wrap(textOf(sentence))))
      const wanted = meant(sentence)
      return found === wanted ? [] : [`${sentence.provider} inside ${shape}: ${found}, not ${wanted}`]
    }),
  )

test('every overflow is recognised and read, whatever it is wrapped in', () => {
  const failures = misread(
    known,
    ({ text }) => text,
    (read) => `${read.class} ${statesOf(read)}${read.afterOutput ? ' after output' : ''}`,
    ({ provider, states }) => {
      const isOutput = provider === 'vLLM 0.32, more output than the window'
      return `${isOutput ? 'output_too_large' : 'overflow'} ${states}`
    },
  )
  expect(failures).toEqual([])
})

test('what only looks like one is none, whatever it is wrapped in', () => {
  const failures = misread(
    [...vetoes, ...refusals],
    ({ sample }) => sample,
    (read) => `${read.class} ${read.remedy} ${read.window?.tokens ?? '-'}`,
    ({ class: answerClass, remedy }) => `${answerClass} ${remedy} -`,
  )
  expect(failures).toEqual([])
})

test('every figure above belongs to a signature', () => {
  const providers = new Set(overflowSignatures.map(({ provider }) => provider))
  expect(providers.size).toBe(overflowSignatures.length)
  expect(Object.keys(statedBySample).filter((provider) => !providers.has(provider))).toEqual([])
})

test('numbers with separators and other apostrophes read the same', () => {
  const changed = known.filter(({ text }) => {
    const grouped = text
      .replaceAll("'", '\u2019')
      .replaceAll(/\d{4,}(?![\d.])/g, (digits) => Number(digits).toLocaleString('en-US'))
    return JSON.stringify(classifyAnswer(answer(grouped))) !== JSON.stringify(classifyAnswer(answer(text)))
  })
  expect(changed).toEqual([])
})

test('a code of an overflow decides whatever status and text say', () => {
  const failures = [...overflowCodes].flatMap((code) => {
    const body = JSON.stringify({ error: { message: 'refused', code } })
    const wrong = [400, 404, 413, 500, 503].filter(
      (status) => classifyAnswer({ status, contentType: 'application/json', body }).class !== 'overflow',
    )
    return wrong.map((status) => `${code} with ${status}`)
  })
  expect(failures).toEqual([])
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
