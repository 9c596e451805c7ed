import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import {
  startResponsesUpstream,
  type Overflow,
  type ResponsesUpstream,
  type ResponsesUpstreamOptions,
} from './responses-upstream.ts'
import type { ResponsesScript, ScriptedEnd } from './script.ts'

// One token a character: every number below can be worked out by hand.
const count = (text: string) => text.length
const greeting: ResponsesScript = { output: [{ type: 'message', text: 'Good day to you.' }] }

const running: ResponsesUpstream[] = []
afterEach(async () => {
  for (const upstream of running.splice(0)) await upstream.close()
})

async function start(options: Partial<ResponsesUpstreamOptions> = {}) {
  const upstream = await startResponsesUpstream({
    windowTokens: 1000,
    outputReserveChecked: true,
    count,
    reply: () => greeting,
    ...options,
  })
  running.push(upstream)
  const { responses } = new OpenAI({ baseURL: upstream.url, apiKey: 'key', maxRetries: 0 })
  return { upstream, responses }
}

async function post(url: string, body: object | string, path = '/responses') {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${url}${path}`, { method: 'POST', body: text })
  return { status: response.status, text: await response.text() }
}

/** The events of a stream, each with its name taken from its `event` line. */
function eventsOf(text: string) {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [name = '', data = ''] = event.split('\n')
      return { name: name.replace('event: ', ''), data: JSON.parse(data.replace('data: ', '')) }
    })
}

describe('answers', () => {
  test('plainly, with usage', async () => {
    const { responses, upstream } = await start()
    const reply = await responses.create({ model: 'm', input: 'hello' })
    expect(reply).toMatchObject({ object: 'response', status: 'completed', output_text: 'Good day to you.' })
    // 3 + 1 + 5 for the message, 3 to open the reply.
    expect(reply.usage).toEqual({
      input_tokens: 12,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 16,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 28,
    })
    expect(upstream.requests).toMatchObject([
      { method: 'POST', path: '/v1/responses', status: 200, promptTokens: 12, rejected: null },
    ])
    expect(JSON.parse(upstream.requests[0]?.body.toString() ?? '')).toEqual({ model: 'm', input: 'hello' })
  })

  test('as a stream, its events in order and numbered without gaps', async () => {
    const { upstream } = await start({
      windowTokens: 10_000,
      reply: () => ({
        output: [
          { type: 'reasoning', summary: 'Greet.' },
          { type: 'message', text: '🦊'.repeat(30), phase: 'commentary' },
          { type: 'function_call', callId: 'call_1', name: 'wave', arguments: '{"hand":"left"}' },
          { type: 'custom_tool_call', callId: 'call_2', name: 'patch', input: '*** Begin' },
        ],
      }),
    })
    const { text } = await post(upstream.url, { model: 'm', input: 'hello', stream: true })
    const events = eventsOf(text)
    expect(events.map(({ name }) => name)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, index) => index))
    expect(events.every(({ name, data }) => data.type === name)).toBe(true)
    expect(
      events.filter(({ name }) => name.endsWith('delta')).every(({ data }) => data.delta.isWellFormed()),
    ).toBe(true)
    // Encrypted content is whole when the item is done, and not before.
    const [added, done] = events
      .filter(({ data }) => data.item?.type === 'reasoning')
      .map(({ data }) => data.item.encrypted_content)
    expect(added.length).toBeLessThan(done.length)
    expect(done).toMatch(/^gAAAAAB/)
  })

  test('as a stream that the SDK puts together to what a plain answer says', async () => {
    const script: ResponsesScript = {
      output: [
        { type: 'reasoning', tokens: 100, summary: 'Look.' },
        { type: 'message', text: 'Looking.' },
        { type: 'function_call', callId: 'call_1', name: 'look', arguments: '{"at":"it"}' },
      ],
    }
    const [one, other] = [await start({ reply: () => script }), await start({ reply: () => script })]
    const plain = await one.responses.create({ model: 'm', input: 'hello' })
    const streamed = await other.responses.stream({ model: 'm', input: 'hello' }).finalResponse()
    expect(streamed.output).toEqual(
      plain.output.map((item) => expect.objectContaining({ id: item.id, type: item.type })),
    )
    expect({ text: streamed.output_text, usage: streamed.usage }).toEqual({
      text: plain.output_text,
      usage: plain.usage,
    })
    expect(plain.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThanOrEqual(100)
  })

  test.each<[ScriptedEnd, object]>([
    [
      { status: 'incomplete', reason: 'max_output_tokens' },
      {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ status: 'incomplete' }],
      },
    ],
    [
      { status: 'failed', code: 'server_error', message: 'Try again.' },
      { status: 'failed', error: { code: 'server_error', message: 'Try again.' }, usage: null },
    ],
  ])('with an end of its own: %o', async (end, expected) => {
    const { upstream } = await start({ reply: () => ({ ...greeting, end }) })
    const plain = await post(upstream.url, { model: 'm', input: 'hello' })
    expect(plain.status).toBe(200)
    expect(JSON.parse(plain.text)).toMatchObject(expected)
    const streamed = await post(upstream.url, { model: 'm', input: 'hello', stream: true })
    const last = eventsOf(streamed.text).at(-1)
    expect(last?.name).toBe(`response.${end.status}`)
    expect(last?.data.response).toMatchObject(expected)
  })

  test('without usage where it states none, and how large a prompt is where it is asked', async () => {
    const { responses } = await start({ statesUsage: false })
    expect((await responses.create({ model: 'm', input: 'hello' })).usage).toBeNull()
    const { input_tokens: tokens } = await responses.inputTokens.count({ model: 'm', input: 'hello' })
    expect(tokens).toBe(12)
  })

  test('nothing but what it serves', async () => {
    const { upstream } = await start()
    expect(await post(upstream.url, {}, '/responses/resp_1/cancel')).toEqual({
      status: 404,
      text: '{"error":{"message":"Invalid URL (POST /v1/responses/resp_1/cancel)","type":"invalid_request_error","param":null,"code":null}}',
    })
    expect((await fetch(`${upstream.url}/responses`)).status).toBe(404)
    expect(upstream.requests.map(({ status }) => status)).toEqual([404, 404])
  })
})

describe('compacts', () => {
  const input: OpenAI.Responses.ResponseInputItem[] = [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'hi' },
    { role: 'user', content: 'on' },
  ]

  test('at its endpoint, to what users have said and one item', async () => {
    const { responses } = await start()
    const compacted = await responses.compact({
      model: 'm',
      input: input,
    })
    expect(compacted).toMatchObject({
      object: 'response.compaction',
      output: [
        input[0],
        input[2],
        { type: 'compaction', encrypted_content: expect.stringMatching(/^gAAAAAB/) },
      ],
      usage: { input_tokens: 3 + 9 + 6 + 6 },
    })
  })

  test('behind a trigger, whatever the script says, and takes its item back', async () => {
    const { upstream } = await start()
    const { text } = await post(upstream.url, {
      model: 'm',
      stream: true,
      input: [...input, { type: 'compaction_trigger' }],
    })
    const events = eventsOf(text)
    expect(events.map(({ name }) => name).slice(2)).toEqual([
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ])
    const item = events.at(-1)?.data.response.output[0]
    expect(item).toMatchObject({ type: 'compaction', id: expect.stringMatching(/^cmp_/) })
    expect(await post(upstream.url, { model: 'm', input: [item, ...input] })).toMatchObject({ status: 200 })
  })
})

describe('counts', () => {
  test('tools, instructions, calls, outputs, images and encrypted content', async () => {
    const { upstream } = await start({ windowTokens: 10_000 })
    const { text } = await post(upstream.url, {
      model: 'm',
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'look', description: 'Looks.', parameters: {} }],
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'hello' },
            { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' },
          ],
        },
        {
          type: 'function_call',
          call_id: 'x',
          name: 'look',
          arguments: '{"a":1}',
          id: 'fc_x',
          status: 'completed',
        },
        { type: 'function_call_output', call_id: 'x', output: 'seen' },
        { type: 'hologram', id: 'h', layers: [{ light: 'red' }] },
      ],
    })
    const tools = Math.ceil((16 + 8 + 4 + 6 + 2) * 1.1)
    const items = 4 + 5 + 765 + (4 + 8 + 4 + 7) + (4 + 4) + (4 + 3)
    expect(JSON.parse(text).usage.input_tokens).toBe(3 + tools + (4 + 9) + items)
  })

  test('what its cache would have served, per credential', async () => {
    const { responses, upstream } = await start({
      windowTokens: 10_000,
      cache: { minimumTokens: 100, stepTokens: 10 },
    })
    const opening = { role: 'user' as const, content: 'x'.repeat(125) }
    const hello = { role: 'user' as const, content: 'hello' }
    const cached = async (input: OpenAI.Responses.EasyInputMessage[], authorization = 'Bearer key') => {
      const reply = await responses.create({ model: 'm', input }, { headers: { authorization } })
      return reply.usage?.input_tokens_details.cached_tokens
    }
    expect(await cached([opening])).toBe(0)
    // The opening is 3 + 1 + 125 = 129 tokens: 100 and two steps of 10.
    expect(await cached([opening, hello])).toBe(120)
    expect(await cached([opening, hello, hello])).toBe(130)
    // 4 for the frame and 110 equal characters: 114.
    expect(await cached([{ role: 'user', content: 'x'.repeat(110) + 'y'.repeat(20) }])).toBe(110)
    expect(await cached([opening, hello], 'Bearer other')).toBe(0)
    expect(upstream.requests.map(({ cachedTokens }) => cachedTokens)).toEqual([0, 120, 130, 110, 0])
  })
})

describe('refuses', () => {
  test('a broken sequence, in the shape that the SDK reads', async () => {
    const { responses, upstream } = await start()
    const input = [{ type: 'function_call_output' as const, call_id: 'a', output: 'x' }]
    await expect(responses.create({ model: 'm', input })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'input',
      message: expect.stringContaining('No tool call found for function call output with call_id a.'),
    })
    expect(upstream.requests).toMatchObject([{ status: 400, rejected: { reason: 'output-orphan' } }])
  })

  test.each([
    ['a body that is no JSON', '{"model":"m","input":[', null],
    ['no model', { input: 'x' }, "Missing required parameter: 'model'."],
    ['no input', { model: 'm' }, "Missing required parameter: 'input'."],
    [
      'an input that is neither',
      { model: 'm', input: 7 },
      "Invalid type for 'input': expected one of an array of objects or a string.",
    ],
    [
      'messages',
      { model: 'm', messages: [] },
      "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'.",
    ],
    [
      'an output limit by its old name',
      { model: 'm', input: 'x', max_tokens: 99 },
      "Unsupported parameter: 'max_tokens'. In the Responses API, this parameter has moved to 'max_output_tokens'.",
    ],
    [
      'too small a limit',
      { model: 'm', input: 'x', max_output_tokens: 8 },
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 8 instead.",
    ],
    [
      'tools of chat completions',
      { model: 'm', input: 'x', tools: [{ type: 'function', function: { name: 'f' } }] },
      "Missing required parameter: 'tools[0].name'.",
    ],
    [
      'a wish for usage',
      { model: 'm', input: 'x', stream: true, stream_options: { include_usage: true } },
      "Unknown parameter: 'stream_options.include_usage'.",
    ],
    [
      'an update where the server cuts by itself',
      { model: 'm', input: [{ type: 'configuration_update' }], truncation: 'auto' },
      "'configuration_update' items cannot be used with automatic compaction or truncation.",
    ],
  ])('%s', async (_, body, message) => {
    const { upstream } = await start()
    const { status, text } = await post(upstream.url, body)
    expect({ status, error: JSON.parse(text).error }).toMatchObject({
      status: 400,
      error: { message: message ?? expect.stringMatching('could not parse'), type: 'invalid_request_error' },
    })
  })

  test('what it refers to and has not stored, and takes what it has', async () => {
    const { upstream, responses } = await start()
    const forgotten = await responses.create({ model: 'm', input: 'hello', store: false })
    const stored = await responses.create({ model: 'm', input: 'hello' })
    const idOf = ({ output }: typeof stored) => output[0]?.id ?? ''
    const further = (fields: object) => post(upstream.url, { model: 'm', input: 'on', ...fields })
    const refers = (id: string) => further({ input: [{ type: 'item_reference', id }] })
    expect(await further({ previous_response_id: forgotten.id })).toMatchObject({
      status: 400,
      text: expect.stringContaining(
        `"message":"Previous response with id '${forgotten.id}' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"`,
      ),
    })
    expect(await refers(idOf(forgotten))).toMatchObject({
      status: 404,
      text: expect.stringContaining(
        `Item with id '${idOf(forgotten)}' not found. Items are not persisted when \`store\` is set to false.`,
      ),
    })
    // hello, the reply and what is new.
    const { status, text } = await further({ previous_response_id: stored.id })
    expect([status, JSON.parse(text).usage.input_tokens]).toEqual([200, 3 + 9 + (4 + 16) + (4 + 2)])
    expect(JSON.parse((await refers(idOf(stored))).text).usage.input_tokens).toBe(3 + (4 + 16))
  })

  test('a prompt with an output limit that do not fit together, where that is checked', async () => {
    const asked = { model: 'm', input: 'hello', max_output_tokens: 16 }
    const checking = await start({ windowTokens: 27 })
    expect(await post(checking.upstream.url, asked)).toMatchObject({ status: 400 })
    const trusting = await start({ windowTokens: 27, outputReserveChecked: false })
    expect(await post(trusting.upstream.url, asked)).toMatchObject({ status: 200 })
  })
})

describe('says that a prompt is over the window', () => {
  const message =
    'Your input exceeds the context window of this model. Please adjust your input and try again.'
  const refused = (code: string) => ({
    status: 400,
    text: JSON.stringify({ error: { message, type: 'invalid_request_error', param: 'input', code } }),
  })
  test('with a 400, streamed or not', async () => {
    expect(await askTooMuch(false)).toEqual(refused('context_length_exceeded'))
    expect(await askTooMuch(true)).toEqual(refused('context_length_exceeded'))
  })

  test('where it is asked to compact, too', async () => {
    const { upstream } = await start({ windowTokens: 11 })
    const body = { model: 'm', input: [{ role: 'user', content: 'hello' }] }
    expect(await post(upstream.url, body, '/responses/compact')).toEqual(refused('context_length_exceeded'))
    const trigger = { type: 'compaction_trigger' }
    const asked = await post(upstream.url, { ...body, input: [...body.input, trigger] })
    expect(asked).toEqual(refused('context_length_exceeded'))
  })

  test.each([
    ['none', []],
    [
      'nested',
      [
        {
          type: 'error',
          sequence_number: 2,
          error: { type: 'invalid_request_error', code: 'context_length_exceeded', message, param: 'input' },
        },
      ],
    ],
    [
      'flat',
      [{ type: 'error', sequence_number: 2, code: 'context_length_exceeded', message, param: 'input' }],
    ],
  ] as const)('with a stream that fails, error event: %s', async (errorEvent, errors) => {
    const { status, text } = await askTooMuch(true, { shape: 'stream', errorEvent })
    const events = eventsOf(text)
    expect(status).toBe(200)
    expect(events.map(({ name }) => name)).toEqual([
      'response.created',
      'response.in_progress',
      ...errors.map(() => 'error'),
      'response.failed',
    ])
    expect(events.slice(2, -1).map(({ data }) => data)).toEqual(errors)
    expect(events.at(-1)?.data).toMatchObject({
      sequence_number: events.length - 1,
      response: {
        status: 'failed',
        error: { code: 'context_length_exceeded', message },
        usage: null,
        output: [],
      },
    })
    expect(await askTooMuch(false, { shape: 'stream', errorEvent })).toEqual(
      refused('context_length_exceeded'),
    )
  })

  test('with the codes of gateways', async () => {
    const renamed = { shape: 'status', code: 'context_too_large' } as const
    expect(await askTooMuch(false, renamed)).toEqual(refused('context_too_large'))
    const routed = { shape: 'stream', code: 'invalid_prompt', errorType: 'context_length_exceeded' } as const
    expect(JSON.parse((await askTooMuch(false, routed)).text)).toMatchObject({
      error: { code: 'invalid_prompt' },
      error_type: 'context_length_exceeded',
    })
    expect(eventsOf((await askTooMuch(true, routed)).text).at(-1)?.data).toMatchObject({
      response: { error: { code: 'invalid_prompt' } },
      error_type: 'context_length_exceeded',
    })
  })
})

// --- internal ---

/** The answer to a prompt of 12 tokens before a window of 11. */
async function askTooMuch(stream: boolean, overflow?: Overflow) {
  const { upstream } = await start({ windowTokens: 11, ...(overflow !== undefined && { overflow }) })
  const answer = await post(upstream.url, { model: 'm', input: 'hello', stream })
  expect(upstream.requests).toMatchObject([
    { promptTokens: 12, rejected: { reason: 'window' }, status: answer.status },
  ])
  return answer
}
