import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../support/chat-completions.ts'

const answer = (status: number, body: unknown, contentType = 'application/json') => ({
  status,
  contentType,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

const beyond =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9050 tokens."

const says = (message: string, more: object = {}) => ({ error: { message, ...more } })
const tooMany = (param: string) => ({ param, code: 'array_above_max_length' })

const refused = (error: object, status = 400) => classifyAnswer(answer(status, { error })).class

const refuse = (message: string, expectedPromptTokens: number | null) =>
  classifyAnswer(answer(400, { error: { message } }), { knownWindowTokens: null, expectedPromptTokens })

const completion = (content: string, finishReason: string, prompt: number, output: number) =>
  answer(200, {
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
    usage: { prompt_tokens: prompt, completion_tokens: output },
  })

describe('an error that stands in a choice', () => {
  // It was left to answers with status 200, and a gateway's refusal of this shape was passed on unrecovered.
  test.each([200, 400, 500])('is read from an answer with status %i', (status) => {
    const body = { choices: [{ index: 0, error: { code: 400, message: beyond } }] }
    expect(classifyAnswer(answer(status, body))).toMatchObject({
      class: 'overflow',
      window: { tokens: 8192 },
    })
  })
})

describe('what is no overflow is never taken for one', () => {
  const quoted = { role: 'assistant', content: beyond }
  test.each<[string, number, unknown, string]>([
    ...[401, 402, 403, 429].map((status): [string, number, unknown, string] => [
      `status ${status}, whatever the words`,
      status,
      { error: { message: beyond, code: 'context_length_exceeded' } },
      status === 402 || status === 429 ? 'rate' : 'denied',
    ]),
    [
      'a rate limit that came as 413 (Groq)',
      413,
      { error: { message: 'Request too large for model m', type: 'tokens', code: 'rate_limit_exceeded' } },
      'rate',
    ],
    ['a wrapped status 429', 400, { error: { message: 'Too many tokens', code: '429' } }, 'rate'],
    ['an outage in plain text', 502, 'connect error: maximum context length', 'other'],
    ['without figures', 500, { error: { message: 'the prompt exceeds maximum context length' } }, 'other'],
    ['but with figures', 500, { error: { message: beyond } }, 'overflow'],
    ['and with its status as a code', 503, { error: { message: beyond, code: '503' } }, 'overflow'],
    [
      'a cap on the characters of one string',
      400,
      says("Invalid 'messages[3].content': string too long. Expected at most 1048576, but got 2097152.", {
        code: 'string_above_max_length',
      }),
      'other',
    ],
    [
      'a cap on the number of tools',
      400,
      says("Invalid 'tools': array too long.", tooMany('tools')),
      'other',
    ],
    [
      'a schema error that shows its context',
      400,
      says("Invalid schema for function 'f': In context=('properties', 'x'), 'type' is missing"),
      'other',
    ],
    ['MiniMax’s 2013 on media', 400, says('invalid params, media exceeds size limit (2013)'), 'other'],
    // An agent debugging overflows sends their texts; a server that rejects the request for another reason echoes them.
    [
      'the client’s own words, quoted by a validation error',
      422,
      { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', input: { content: beyond } }] },
      'other',
    ],
    ['nothing', 200, '', 'other'],
    ['what is no JSON', 200, 'hello', 'other'],
    ['an outage without a word', 500, '', 'other'],
    ['null', 400, 'null', 'other'],
  ])('%s', (_, status, body, answerClass) => {
    const contentType = typeof body === 'string' ? 'text/plain' : 'application/json'
    expect(classifyAnswer(answer(status, body, contentType)).class).toBe(answerClass)
  })

  test('an assistant who quotes an overflow', () => {
    const choices = [{ index: 0, message: quoted, finish_reason: 'stop' }]
    expect(
      classifyAnswer(answer(200, { choices, usage: { prompt_tokens: 60, completion_tokens: 30 } })),
    ).toMatchObject({ class: 'other', window: null, promptTokens: { tokens: 60, exact: true } })
  })
})

describe('codes, types and statuses come before words', () => {
  test.each([
    { code: 'invalid_image_url' },
    { code: 'model_not_found' },
    { code: 'invalid_function_parameters' },
    { code: 'unsupported_file' },
    { code: 'invalid_json' },
    { code: 'string_above_max_length' },
    { type: 'not_found_error' },
    { type: 'NotFoundError', code: 404 },
    { param: 'messages[3].content' },
    { param: 'tools' },
  ])('%o is about another matter, whatever the words say', (error) => {
    expect(refused({ message: beyond, ...error })).toBe('other')
    expect(refused({ message: beyond, ...error }, 404)).toBe('other')
  })

  test.each([
    { code: null },
    { code: 400 },
    { code: '400' },
    { code: 'bad_request', type: 'BadRequestError' },
    { code: 'invalid_request_error' },
    { code: 'unknown_error' },
    { code: 'Client specified an invalid argument' },
    { type: 'invalid_request_prompt', code: '3051' },
    { param: 'messages' },
    { param: 'input_tokens' },
  ])('%o could mean anything, so that the words decide', (error) => {
    expect(refused({ message: beyond, ...error })).toBe('overflow')
  })

  test('a code counts as the value of a field, not where a text names it', () => {
    expect(refused({ message: 'refused', code: 'context_length_exceeded' })).toBe('overflow')
    expect(refused({ message: 'see the page on context_length_exceeded', code: null })).toBe('other')
  })

  test.each([
    [
      'LiteLLM’s exception before the message',
      'litellm.ContextWindowExceededError: litellm.BadRequestError: no',
    ],
    [
      'what Python prints of bytes',
      `litellm.BadRequestError: XException - b'{"error":{"message":"${beyond}"}}'`,
    ],
    [
      'what Python prints of a dictionary',
      `Error code: 400 - {'error': {'message': "${beyond}", 'type': None, 'code': 'x', 'ok': False}}`,
    ],
    ['what a gateway puts before a body', `Upstream error 400 Bad Request: {"message":"${beyond}"}`],
  ])('%s is recognised in its own place', (_, message) => {
    expect(refused({ message })).toBe('overflow')
    expect(refused({ message: `The client said "${message.replaceAll('"', "'")}" here` })).toBe('other')
  })
})

describe('a server in trouble says nothing of a prompt', () => {
  // The story: with the default of shared slots, llama.cpp's server answers each of several requests that together fill
  // its memory with these words. They were taken for an overflow of each, confirmed each other, and a server that
  // states 8,192 tokens was held to 3,575 for an hour.
  const full = { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } }
  const crowded = { class: 'crowded', remedy: 'none', window: null, promptTokens: null }

  test('a full pool, as a status and inside a 200', () => {
    expect(classifyAnswer(answer(500, full))).toMatchObject(crowded)
    expect(classifyAnswer(answer(200, full))).toMatchObject(crowded)
    const event = `data: ${JSON.stringify(full)}\n\n`
    expect(classifyAnswer(answer(200, event, 'text/event-stream'))).toMatchObject(crowded)
    const begun = `data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n${event}`
    expect(classifyAnswer(answer(200, begun, 'text/event-stream'))).toMatchObject({
      ...crowded,
      afterOutput: true,
    })
    expect(
      classifyAnswer(answer(503, { error: 'litellm.InternalServerError: Context size has been exceeded.' })),
    ).toMatchObject(crowded)
  })

  test.each([
    'the prompt exceeds the context window',
    'request (3000 tokens) exceeds the available context size (8192 tokens), try increasing it',
    "this model's maximum context length is 8192 tokens",
  ])('a 5xx with “%s” is none: the larger number of this request is missing', (message) => {
    for (const status of [500, 502, 503]) {
      expect(classifyAnswer(answer(status, { error: { message } }))).toMatchObject({
        class: 'other',
        window: null,
      })
      expect(classifyAnswer(answer(200, { error: { message, code: status } })).class).toBe('other')
    }
  })
})

describe('the general form heeds the caller’s count', () => {
  test('numbers far from it are of something else, and state nothing', () => {
    const message = 'Request too long: 121692 input tokens over the limit of 46112'
    expect(refuse(message, 110_000)).toMatchObject({
      window: { tokens: 46_112 },
      promptTokens: { tokens: 121_692 },
    })
    expect(refuse(message, 9000)).toMatchObject({ class: 'overflow', window: null, promptTokens: null })
  })

  test('words that leave open whose tokens they count are about the prompt if the number is', () => {
    const message = 'Requested 20000 tokens, maximum is 16384'
    expect(refuse(message, null).class).toBe('other')
    expect(refuse(message, 2000).class).toBe('other')
    expect(refuse(message, 21_000)).toMatchObject({ class: 'overflow', window: { tokens: 16_384 } })
  })
})

test('what nobody understands of a stream counts as output of it', () => {
  const usage = { prompt_tokens: 8192, completion_tokens: 0, total_tokens: 8192 }
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'length' }], usage }
  const read = (before: string) =>
    classifyAnswer(
      { status: 200, contentType: 'text/event-stream', body: `${before}data: ${JSON.stringify(end)}\n\n` },
      { knownWindowTokens: 8192 },
    ).class
  expect(read('')).toBe('overflow')
  expect(read('data: hello\n\n')).toBe('other')
})

describe('sizes are read with care', () => {
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

  test.each(['messages', 'input'])('the number of entries is no window: %s', (param) => {
    const error = says(`Invalid '${param}': array too long.`, tooMany(param))
    expect(classifyAnswer(answer(400, error))).toMatchObject({
      class: 'payload_too_large',
      remedy: 'compact-count',
      window: null,
    })
  })
})

describe('an overflow inside a good answer is found by its end', () => {
  test('a prompt that a server took beyond the known window', () => {
    const read = classifyAnswer(completion('fine', 'stop', 9000, 5), { knownWindowTokens: 8192 })
    expect(read).toMatchObject({
      class: 'overflow',
      afterOutput: true,
      promptTokens: { tokens: 9000, exact: true },
    })
    expect(classifyAnswer(completion('fine', 'stop', 9000, 5)).class).toBe('other')
  })
})

// An error that quotes a client's run of such names held the loop for seconds at 20 kB, and four times as long at 40.
test.each(['n_ctx', 'num_ctx', 'max_model_len', 'max_seq_len', 'exceed'])(
  'a run of "%s" costs what its characters cost',
  (name) => {
    expect(refused({ message: name.repeat(40_000) })).not.toBe('overflow')
  },
)
