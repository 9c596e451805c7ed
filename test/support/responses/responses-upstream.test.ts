import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { itemBreaks } from './item-rules.ts'
import {
  startResponsesUpstream,
  type Overflow,
  type ResponsesUpstream,
  type ResponsesUpstreamOptions,
} from './responses-upstream.ts'
import type { ResponsesScript } from './script.ts'

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
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [name = '', data = ''] = event.split('\n')
      return { name: name.replace('event: ', ''), data: JSON.parse(data.replace('data: ', '')) }
    })

const shape = (words: string) => `item-shape: ${words}`
const supported = (value: string, ...known: string[]) =>
  shape(`Invalid value: '${value}'. Supported values are: ${known.map((one) => `'${one}'`).join(', ')}.`)
const lacksThought = (id: string, type: string) =>
  `reasoning-missing: Item '${id}' of type '${type}' was provided without its required 'reasoning' item: 'rs_1'.`
const thought = (id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: 'gAAA' })
const returned = (callId: string) => ({ type: 'function_call_output', call_id: callId, output: 'found' })
const called = (callId: string, id?: string) => ({
  type: 'function_call',
  call_id: callId,
  name: 'search',
  arguments: '{}',
  ...(id !== undefined && { id }),
})
const said = (id?: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi' }],
  ...(id !== undefined && { id }),
})

const saying = (role: string, type: string) => [{ role, content: [{ type, text: 'Hello' }] }]

describe('the rules of items', () => {
  const user = { role: 'user', content: 'Hello' }
  const update = { type: 'configuration_update', reasoning: { effort: 'low' } }
  const trigger = { type: 'compaction_trigger' }
  const hologram = { type: 'hologram', light: 1 }

  // rs_1 led to msg_1 and fc_1, rs_2 to fc_2, all in replies of their own but for those two.
  const issued = new Map([
    ['rs_1', { reply: 'resp_1', reasoningId: null }],
    ['msg_1', { reply: 'resp_1', reasoningId: 'rs_1' }],
    ['fc_1', { reply: 'resp_1', reasoningId: 'rs_1' }],
    ['rs_2', { reply: 'resp_2', reasoningId: null }],
    ['fc_2', { reply: 'resp_2', reasoningId: 'rs_2' }],
  ])
  const breaksOf = (items: readonly unknown[]) =>
    itemBreaks(items, issued).map(({ rule, message }) => `${rule}: ${message}`)

  const alone =
    "reasoning-alone: Item 'rs_1' of type 'reasoning' was provided without its required following item."
  const [rs1, a, b] = [thought('rs_1'), called('a'), called('b')]
  const [ofA, ofB] = [returned('a'), returned('b')]
  const search = { type: 'web_search_call', id: 'ws_1' }
  const nameless = { type: 'function_call', name: 'search', arguments: '{}' }
  const repeated = "update-repeated: Invalid 'input[1]': a 'configuration_update' may not follow another."
  const early = "trigger-not-last: Invalid 'input[1]': 'compaction_trigger' must be the last item."
  const roles = supported('tool', 'user', 'assistant', 'system', 'developer')
  const parts = supported('text', 'input_text', 'input_image', 'input_file', 'input_audio')

  test.each<[string, unknown[], ...string[]]>([
    [
      'developer messages anywhere',
      [{ role: 'developer', content: 'x' }, user, { role: 'system', content: 'y' }],
    ],
    ['parallel calls answered in any order', [user, a, b, ofB, ofA]],
    ['an id used again in a later round', [user, a, ofA, a, ofA]],
    ['an id used twice in one round', [user, a, a, ofA, ofA]],
    ['a message between a call and its output', [user, a, user, ofA]],
    ['reasoning with all of it', [user, rs1, said('msg_1'), called('a', 'fc_1'), ofA]],
    ['two thoughts before one message', [user, thought('rs_8'), thought('rs_9'), said()]],
    ['items without ids whose reasoning is gone', [user, said(), a, ofA]],
    ['ids that were made elsewhere', [user, said('msg_x'), called('a', 'fc_x'), ofA]],
    ['a search of the server’s', [user, rs1, search, said('msg_1')]],
    ['a tool search of its own', [user, { type: 'tool_search_call' }, { type: 'tool_search_output' }]],
    ['unknown items', [user, hologram, rs1, hologram, user]],
    ['updates that are apart, and a trigger at the end', [update, user, update, trigger]],
    ['a compaction with what follows it', [{ type: 'compaction', encrypted_content: 'x' }, user]],
    ['a thought that a user message follows', [user, rs1, user], alone],
    ['a thought at the end', [user, rs1], alone],
    ['a thought whose own reply is gone', [user, rs1, thought('rs_2'), called('a', 'fc_2'), ofA], alone],
    ['a message without its thought', [user, said('msg_1'), user], lacksThought('msg_1', 'message')],
    [
      'one before another output',
      [rs1, b, ofB, called('a', 'fc_1'), ofA],
      lacksThought('fc_1', 'function_call'),
    ],
    ['an update after an update', [update, update, user], repeated],
    ['a trigger before the end', [user, trigger, user], early],
    ['an item that is no object', ['Hello'], shape("Invalid type for 'input[0]': expected an object.")],
    [
      'a call without an id',
      [nameless, returned('')],
      shape("Missing required parameter: 'input[0].call_id'."),
    ],
    [
      'arguments that are no text',
      [{ ...a, arguments: {} }, ofA],
      shape("Invalid type for 'input[0].arguments': expected a string."),
    ],
    ['a role of chat completions', [{ role: 'tool', content: 'x' }], roles],
    ['a part of chat completions', saying('user', 'text'), parts],
    ['a user’s words', saying('assistant', 'input_text'), supported('input_text', 'output_text', 'refusal')],
    [
      'a call that has the id to answer it by as its own',
      [called('call_1', 'call_1'), returned('call_1')],
      shape("Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'."),
    ],
  ])('of %s', (_, items, ...words) => {
    expect(breaksOf(items)).toEqual(words)
  })

  test.each<[string, object, object]>([
    ['function call', {}, { output: 'x' }],
    ['custom tool call', {}, { output: 'x' }],
    ['local shell call', { id: 'ls' }, { id: 'a', call_id: undefined, output: 'x' }],
    ['shell call', {}, { output: [] }],
    ['apply patch call', {}, { status: 'completed' }],
    ['computer call', { id: 'cu_1' }, { output: { type: 'computer_screenshot' } }],
    ['tool search call', {}, { type: 'tool_search_output', tools: [] }],
    ['program', { id: 'pg_1' }, { id: 'po_1', result: 'x' }],
    [
      'MCP approval request',
      { id: 'a', call_id: undefined },
      { type: 'mcp_approval_response', call_id: undefined, approval_request_id: 'a', approve: true },
    ],
  ])('bind a call of the kind “%s” to its output, in this order', (words, ofCall, ofOutput) => {
    const type = words.toLowerCase().replaceAll(' ', '_')
    const told = { name: 'look', arguments: '{}', input: 'x', action: {}, code: 'x', operation: {} }
    const asked = { type, call_id: 'a', ...told, ...ofCall }
    const answered = { type: `${type}_output`, call_id: 'a', ...ofOutput }
    const unanswered = `call-unanswered: No tool output found for ${words} a.`
    const orphan = `output-orphan: No tool call found for ${words} output with call_id a.`
    expect(breaksOf([user, asked, answered])).toEqual([])
    expect(breaksOf([user, asked])).toEqual([unanswered])
    expect(breaksOf([user, answered, asked])).toEqual([orphan, unanswered])
    expect(breaksOf([user, asked, answered, answered])).toEqual([orphan])
  })
})

test('compacts at its endpoint and behind a trigger, and takes its item back', async () => {
  const { responses, upstream } = await start()
  const input: OpenAI.Responses.ResponseInputItem[] = [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'hi' },
    { role: 'user', content: 'on' },
  ]
  const made = { type: 'compaction', encrypted_content: expect.stringMatching(/^gAAAAAB/) }
  expect(await responses.compact({ model: 'm', input })).toMatchObject({
    object: 'response.compaction',
    output: [input[0], input[2], made],
    usage: { input_tokens: 3 + 9 + 6 + 6 },
  })
  const asked = { model: 'm', stream: true, input: [...input, { type: 'compaction_trigger' }] }
  const [item] = eventsOf((await post(upstream.url, asked)).text).at(-1)?.data.response.output ?? []
  expect(item).toMatchObject(made)
  expect(await post(upstream.url, { model: 'm', input: [item, ...input] })).toMatchObject({ status: 200 })
})

const moved = (old: string, now: string) =>
  `Unsupported parameter: '${old}'. In the Responses API, this parameter has moved to '${now}'.`

describe('refuses', () => {
  test('fields that it does not know, misses or cannot have', async () => {
    const { upstream } = await start()
    for (const [body, message] of [
      ['{"model":"m","input":[', 'could not parse'],
      [{ input: 'x' }, "Missing required parameter: 'model'."],
      [{ model: 'm' }, "Missing required parameter: 'input'."],
      [
        { model: 'm', input: 7 },
        "Invalid type for 'input': expected one of an array of objects or a string.",
      ],
      [{ model: 'm', messages: [] }, moved('messages', 'input')],
      [{ model: 'm', input: 'x', max_tokens: 99 }, moved('max_tokens', 'max_output_tokens')],
      [{ model: 'm', input: 'x', max_output_tokens: 8 }, 'Expected a value >= 16, but got 8 instead.'],
      [
        { model: 'm', input: 'x', tools: [{ type: 'function', function: { name: 'f' } }] },
        "Missing required parameter: 'tools[0].name'.",
      ],
      [
        { model: 'm', input: 'x', stream: true, stream_options: { include_usage: true } },
        "Unknown parameter: 'stream_options.include_usage'.",
      ],
      [
        { model: 'm', input: [{ type: 'configuration_update' }], truncation: 'auto' },
        "'configuration_update' items cannot be used with automatic compaction or truncation.",
      ],
    ] as const) {
      const { status, text } = await post(upstream.url, body)
      expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(message)])
    }
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
      text: expect.stringContaining(`Item with id '${idOf(forgotten)}' not found. Items are not persisted`),
    })
    // hello, the reply and what is new.
    const { text } = await further({ previous_response_id: stored.id })
    expect(JSON.parse(text).usage.input_tokens).toBe(3 + 9 + (4 + 16) + (4 + 2))
    expect(JSON.parse((await refers(idOf(stored))).text).usage.input_tokens).toBe(3 + (4 + 16))
  })

  test('a prompt with an output limit that do not fit together, where that is checked', async () => {
    const asked = { model: 'm', input: 'hello', max_output_tokens: 16 }
    for (const [outputReserveChecked, status] of [
      [true, 400],
      [false, 200],
    ] as const) {
      const { upstream } = await start({ windowTokens: 27, outputReserveChecked })
      expect(await post(upstream.url, asked)).toMatchObject({ status })
    }
  })
})

/** The answer to a prompt of 12 tokens before a window of 11. */
async function askTooMuch(stream: boolean, overflow?: Overflow) {
  const { upstream } = await start({ windowTokens: 11, ...(overflow !== undefined && { overflow }) })
  return post(upstream.url, { model: 'm', input: 'hello', stream })
}

describe('says that a prompt is over the window', () => {
  const message =
    'Your input exceeds the context window of this model. Please adjust your input and try again.'
  const refused = (code = 'context_length_exceeded') => ({
    status: 400,
    text: JSON.stringify({ error: { message, type: 'invalid_request_error', param: 'input', code } }),
  })

  test('with a 400, streamed or not, and where it is asked to compact', async () => {
    expect(await askTooMuch(false)).toEqual(refused())
    expect(await askTooMuch(true)).toEqual(refused())
    const { upstream } = await start({ windowTokens: 11 })
    const input = [{ role: 'user', content: 'hello' }]
    expect(await post(upstream.url, { model: 'm', input }, '/responses/compact')).toEqual(refused())
    const trigger = { model: 'm', input: [...input, { type: 'compaction_trigger' }] }
    expect(await post(upstream.url, trigger)).toEqual(refused())
  })

  const error = { code: 'context_length_exceeded', message, param: 'input' }
  test.each([
    ['none', []],
    ['nested', [{ type: 'error', sequence_number: 2, error: { type: 'invalid_request_error', ...error } }]],
  ] as const)('with a stream that fails, error event: %s', async (errorEvent, errors) => {
    const { status, text } = await askTooMuch(true, { shape: 'stream', errorEvent })
    const events = eventsOf(text)
    expect([status, ...events.slice(2, -1).map(({ data }) => data)]).toEqual([200, ...errors])
    expect(events.at(-1)).toMatchObject({
      name: 'response.failed',
      data: {
        sequence_number: events.length - 1,
        response: { status: 'failed', error: { code: error.code, message }, usage: null, output: [] },
      },
    })
    expect(await askTooMuch(false, { shape: 'stream', errorEvent })).toEqual(refused())
  })

  test('with the codes of gateways', async () => {
    const renamed = { shape: 'status', code: 'context_too_large' } as const
    expect(await askTooMuch(false, renamed)).toEqual(refused('context_too_large'))
  })
})
