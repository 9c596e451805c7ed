import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../../src/overflow/classify.ts'

const answer = (status: number, body: unknown, contentType = 'application/json') => ({
  status,
  contentType,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

const beyond =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9050 tokens."

const completion = (content: string, finishReason: string, prompt: number, output: number) =>
  answer(200, {
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
    usage: { prompt_tokens: prompt, completion_tokens: output },
  })

describe('what is no overflow is never taken for one', () => {
  test.each([401, 402, 403, 429])('status %i vetoes any wording', (status) => {
    const read = classifyAnswer(
      answer(status, { error: { message: beyond, code: 'context_length_exceeded' } }),
    )
    expect(read.class).toBe(status === 402 || status === 429 ? 'rate' : 'denied')
  })

  test('a rate limit that came as 413 (Groq)', () => {
    const error = { message: 'Request too large for model m', type: 'tokens', code: 'rate_limit_exceeded' }
    expect(classifyAnswer(answer(413, { error })).class).toBe('rate')
  })

  test('a status 429 that a gateway wrapped into 400', () => {
    expect(classifyAnswer(answer(400, { error: { message: 'Too many tokens', code: '429' } })).class).toBe(
      'rate',
    )
  })

  test('an outage that speaks of context lengths without figures', () => {
    expect(classifyAnswer(answer(502, 'connect error: maximum context length', 'text/plain')).class).toBe(
      'other',
    )
    expect(
      classifyAnswer(answer(500, { error: { message: 'the prompt exceeds maximum context length' } })).class,
    ).toBe('other')
  })

  test('but a 500 or 503 with figures is one', () => {
    expect(classifyAnswer(answer(500, { error: { message: beyond } })).class).toBe('overflow')
    expect(classifyAnswer(answer(503, { error: { message: beyond, code: '503' } })).class).toBe('overflow')
  })

  test('a cap on characters of one string, or on the number of tools', () => {
    const message =
      "Invalid 'messages[3].content': string too long. Expected at most 1048576, but got 2097152."
    expect(classifyAnswer(answer(400, { error: { message, code: 'string_above_max_length' } })).class).toBe(
      'other',
    )
    const tools = {
      message: "Invalid 'tools': array too long.",
      param: 'tools',
      code: 'array_above_max_length',
    }
    expect(classifyAnswer(answer(400, { error: tools })).class).toBe('other')
  })

  test('a schema error that shows its context', () => {
    const message = "Invalid schema for function 'f': In context=('properties', 'x'), 'type' is missing"
    expect(classifyAnswer(answer(400, { error: { message } })).class).toBe('other')
  })

  test('MiniMax’s 2013 on media', () => {
    const message = 'invalid params, media exceeds size limit (2013)'
    expect(classifyAnswer(answer(400, { error: { message } })).class).toBe('other')
  })

  test('the client’s own words, quoted by a validation error', () => {
    // The story: an agent debugging overflows sends their texts; a server that rejects the request for another
    // reason echoes them in its detail.
    const detail = [
      { loc: ['body', 'messages', 0], msg: 'Field required', type: 'missing', input: { content: beyond } },
    ]
    expect(classifyAnswer(answer(422, { detail })).class).toBe('other')
  })

  test('an assistant who quotes an overflow', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: beyond }, finish_reason: 'stop' }]
    expect(
      classifyAnswer(answer(200, { choices, usage: { prompt_tokens: 60, completion_tokens: 30 } })),
    ).toMatchObject({
      class: 'other',
      window: null,
      promptTokens: { tokens: 60, exact: true },
    })
  })
})

describe('sizes are read with care', () => {
  test('an output limit of the window or more is what was too large, not the prompt', () => {
    const message =
      "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 70000 tokens: 6000 tokens from the input messages and 64000 tokens for the completion."
    expect(classifyAnswer(answer(400, { message }))).toMatchObject({
      class: 'output_too_large',
      remedy: 'clamp',
      window: { tokens: 32768, kind: 'total' },
      promptTokens: { tokens: 6000, exact: true },
    })
  })

  test('unless the prompt is beyond the window, too', () => {
    const message =
      "This model's maximum context length is 8192 tokens. However, you requested 29000 tokens (9000 in the messages, 20000 in the completion)."
    expect(classifyAnswer(answer(400, { message }))).toMatchObject({
      class: 'overflow',
      remedy: 'clamp-or-compact',
    })
  })

  test('one token over, every time: a count that was cut off is a bound, and less output is the remedy', () => {
    const message =
      "This model's maximum context length is 65536 tokens. However, you requested 64000 output tokens and your prompt contains at least 1537 input tokens, for a total of at least 65537 tokens."
    expect(classifyAnswer(answer(400, { error: { message } }))).toMatchObject({
      class: 'overflow',
      remedy: 'clamp',
      promptTokens: { tokens: 1537, exact: false },
    })
  })

  test('llama.cpp states its sizes as fields', () => {
    const error = {
      code: 400,
      message: 'too long',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 9000,
      n_ctx: 8192,
    }
    expect(classifyAnswer(answer(400, { error }))).toMatchObject({
      class: 'overflow',
      window: { tokens: 8192, kind: 'total' },
      promptTokens: { tokens: 9000, exact: true },
    })
  })

  test('a window of a handful of tokens is a joke, and teaches none', () => {
    const message = "This model's maximum context length is 3 tokens."
    expect(classifyAnswer(answer(400, { message }))).toMatchObject({ class: 'overflow', window: null })
  })

  test('functions are part of the prompt', () => {
    const message =
      "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (3000 in the messages, 500 in the functions, and 1500 in the completion)."
    expect(classifyAnswer(answer(400, { message })).promptTokens).toEqual({ tokens: 3500, exact: true })
  })
})

describe('status 413 tells bytes from tokens', () => {
  test.each([
    ['nothing at all (Cerebras)', '', 'overflow', 'compact'],
    [
      'a web server’s page',
      '<html><title>413 Request Entity Too Large</title></html>',
      'payload_too_large',
      'compact-bytes',
    ],
    ['anything else', '{"error":"no"}', 'payload_too_large', 'compact-bytes'],
    [
      'tokens (GitHub Models)',
      '{"error":{"code":"tokens_limit_reached","message":"Request body too large for m model. Max size: 8000 tokens."}}',
      'overflow',
      'compact',
    ],
  ])('%s', (_, body, answerClass, remedy) => {
    expect(classifyAnswer(answer(413, body))).toMatchObject({ class: answerClass, remedy })
  })

  test('the number of messages is no window', () => {
    const error = {
      message: "Invalid 'messages': array too long.",
      param: 'messages',
      code: 'array_above_max_length',
    }
    expect(classifyAnswer(answer(400, { error }))).toMatchObject({
      class: 'payload_too_large',
      remedy: 'compact-count',
      window: null,
    })
  })
})

describe('an overflow inside a good answer is found by its end', () => {
  test('a full window ends the answer: it teaches, and the answer stands', () => {
    const read = classifyAnswer(completion('partial', 'model_context_window_exceeded', 199_900, 100))
    expect(read).toMatchObject({
      class: 'overflow',
      afterOutput: true,
      window: { tokens: 200_000, kind: 'total' },
    })
  })

  test('and before any output it can be recovered', () => {
    const read = classifyAnswer(completion('', 'model_context_window_exceeded', 200_000, 0))
    expect(read).toMatchObject({ class: 'overflow', afterOutput: false, window: null })
  })

  test('an empty answer of a prompt that fills the known window', () => {
    const knowledge = { knownWindowTokens: 8192 }
    expect(classifyAnswer(completion('', 'length', 8190, 0), knowledge).class).toBe('overflow')
    expect(classifyAnswer(completion('', 'length', 4000, 0), knowledge).class).toBe('other')
    expect(classifyAnswer(completion('', 'length', 8190, 2), knowledge).class).toBe('other')
    expect(classifyAnswer(completion('', 'length', 8190, 0)).class).toBe('other')
  })

  test('a prompt that a server took beyond the known window', () => {
    const read = classifyAnswer(completion('fine', 'stop', 9000, 5), { knownWindowTokens: 8192 })
    expect(read).toMatchObject({
      class: 'overflow',
      afterOutput: true,
      promptTokens: { tokens: 9000, exact: true },
    })
    expect(classifyAnswer(completion('fine', 'stop', 9000, 5)).class).toBe('other')
  })

  test('a stream that broke off after output', () => {
    const body =
      'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: {"error":{"message":"Context size has been exceeded."}}\n\n'
    expect(classifyAnswer(answer(200, body, 'text/event-stream'))).toMatchObject({
      class: 'overflow',
      afterOutput: true,
    })
  })

  test('the usage behind a finish reason makes it precise', () => {
    const body =
      'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"model_context_window_exceeded"}]}\n\n' +
      'data: {"choices":[],"usage":{"prompt_tokens":8000,"completion_tokens":192}}\n\ndata: [DONE]\n\n'
    expect(classifyAnswer(answer(200, body, 'text/event-stream')).window).toEqual({
      tokens: 8192,
      kind: 'total',
    })
  })
})

test('what is not JSON and what is empty is success, or at least nothing that we know better', () => {
  expect(classifyAnswer(answer(200, '')).class).toBe('other')
  expect(classifyAnswer(answer(200, 'hello', 'text/plain')).class).toBe('other')
  expect(classifyAnswer(answer(500, '')).class).toBe('other')
  expect(classifyAnswer(answer(400, 'null')).class).toBe('other')
})
