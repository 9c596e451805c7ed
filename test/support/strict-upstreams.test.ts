import { describe, expect, onTestFinished, test } from 'vitest'
import { blockBreaks } from './messages/block-rules.ts'
import { startMessagesUpstream, type MessagesUpstreamOptions } from './messages/messages-upstream.ts'
import type { WireBlock } from './messages/wire-block.ts'
import { itemBreaks } from './responses/item-rules.ts'
import { startResponsesUpstream, type ResponsesUpstreamOptions } from './responses/responses-upstream.ts'
import type { WireItem } from './responses/wire-item.ts'
import { chatBreaks } from './ollama/chat-rules.ts'
import { startOllamaUpstream } from './ollama/ollama-upstream.ts'
import { openPrefixCache, type PromptPart } from './strict-upstream/prefix-cache.ts'
import { cutRawRequest } from './strict-upstream/raw-request.ts'
import { startStrictUpstream, type StrictUpstreamOptions } from './strict-upstream/strict-upstream.ts'
import { isObject, parseObject, textOf } from './strict-upstream/wire-message.ts'

// What judges what Foldgate sends has to be able to refuse it; whether it refuses too much, every test that it judges shows.
// That it sees each rule of chat completions broken stands in `stand-ins.test.ts`.

// A token a character: every number below can be worked out by hand.
const usual = { windowTokens: 1000, outputReserveChecked: false, count: (text: string) => text.length }

type Ask = (body: object, headers?: Readonly<Record<string, string>>) => ReturnType<typeof post>

async function post(url: string, body: object, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await answer.text()
  const json = parseObject(text) ?? {}
  return {
    status: answer.status,
    text,
    error: isObject(json['error']) ? json['error']['message'] : null,
    /** The blocks or items of the reply, and what became of those that the client sent back. */
    said: listOf(json['content'] ?? json['output']),
    told: listOf(json['input_transformations']),
    usage: isObject(json['usage']) ? json['usage'] : {},
  }
}

const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : [])

/** What asks an upstream at this path, until the test is over. */
function asking({ url, close }: { url: string; close: () => Promise<void> }, path: string, fields: object) {
  onTestFinished(close)
  const ask: Ask = (body, headers = {}) =>
    post(`${url}${path}`, { model: 'm', ...fields, ...body }, { authorization: 'Bearer key', ...headers })
  return ask
}

const sayingSo = () => ({ content: 'So.' })

async function askChat(options: Partial<StrictUpstreamOptions> = {}) {
  return asking(
    await startStrictUpstream({ ...usual, template: 'lenient', reply: sayingSo, ...options }),
    '/chat/completions',
    {},
  )
}

async function askMessages(options: Partial<MessagesUpstreamOptions> = {}) {
  let made = 0
  const reply = (): { content: [{ type: 'thinking'; tokens: number }, ReturnType<typeof call>] } => ({
    content: [{ type: 'thinking', tokens: 100 }, call(`toolu_${(made += 1)}`)],
  })
  const upstream = await startMessagesUpstream({ ...usual, reply, ...options })
  const ask = asking(upstream, '/messages', { max_tokens: 100 })
  const asked: Ask = (body, headers) => ask(body, { 'anthropic-version': '2023-06-01', ...headers })
  return asked
}

async function askResponses(options: Partial<ResponsesUpstreamOptions> = {}) {
  const output = [
    { type: 'reasoning', tokens: 100 },
    { type: 'message', text: 'So.' },
  ] as const
  const upstream = await startResponsesUpstream({ ...usual, reply: () => ({ output }), ...options })
  return asking(upstream, '/responses', { store: false })
}

const hello = { role: 'user', content: 'hello' }
const more = { role: 'user', content: 'Go on.' }
const user = (...content: object[]) => ({ role: 'user', content })
const model = (...content: object[]) => ({ role: 'assistant', content })
const says = (text: string, around: object = {}) => ({ type: 'text', text, ...around })
const call = (id: string) => ({ type: 'tool_use' as const, id, name: 'look', input: {} })
const result = (id: unknown) => ({ type: 'tool_result', tool_use_id: id, content: 'Seen.' })
const thought = { type: 'thinking', thinking: '', signature: 'Eq' }
const compaction = { type: 'compaction', content: 'What was said.' }

test.each<[string, ...object[]]>([
  ['shape', { role: 'tool', content: 'Seen.' }, hello],
  ['shape', user(says(' \n'))],
  ['first-not-user', model(says('So.')), hello],
  ['prefill', hello, model(says('So.'))],
  ['call-unanswered', hello, model(call('a')), hello],
  ['call-unanswered', hello, model(call('a')), user(says('So.'), result('a'))],
  ['result-orphan', user(result('a'))],
  ['result-twice', hello, model(call('a')), user(result('a'), result('a'))],
  ['call-twice', hello, model(call('a')), user(result('a')), model(call('a')), user(result('a'))],
  ['server-pair', hello, model({ type: 'server_tool_use', id: 's' }, says('So.')), hello],
  ['thinking-last', hello, model(thought), hello],
  ['compaction-place', hello, model(says('So.'), compaction), hello],
])('Messages: %s', (rule, ...messages) => {
  expect(blockBreaks(messages, { allowsPrefill: false }).map((broken) => broken.rule)).toContain(rule)
})

const reasoning = (id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: 'gAAA' })
const called = { type: 'function_call', call_id: 'a', name: 'search', arguments: '{}' }
const returned = { type: 'function_call_output', call_id: 'a', output: 'found' }
const update = { type: 'configuration_update', reasoning: { effort: 'low' } }
const told = (id: string) => ({ type: 'message', role: 'assistant', id, content: 'So.' })

test.each<[string, ...unknown[]]>([
  ['item-shape', { role: 'tool', content: 'x' }],
  ['item-shape', { role: 'user', content: [says('a part of chat completions')] }],
  ['call-unanswered', called],
  ['output-orphan', returned, called],
  ['reasoning-alone', reasoning('rs_1'), hello],
  ['reasoning-missing', hello, told('msg_1')],
  ['update-repeated', update, update],
  ['trigger-not-last', hello, { type: 'compaction_trigger' }, hello],
])('Responses: %s', (rule, ...items) => {
  const issued = new Map([['msg_1', { reply: 'resp_1', reasoningId: 'rs_1' }]])
  expect(itemBreaks(items, issued).map((broken) => broken.rule)).toContain(rule)
})

const ollamaCall = (given: unknown = {}) => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ function: { name: 'look', arguments: given } }],
})
const ollamaResult = { role: 'tool', tool_name: 'look', content: 'Seen.' }

test.each<[string, ...object[]]>([
  ['message-shape', { role: 'developer', content: 'Be brief.' }],
  ['message-shape', user(says('a part of chat completions'))],
  ['message-shape', { ...hello, images: ['data:image/png;base64,iVBORw0KGgo='] }],
  ['message-shape', hello, ollamaCall('{}'), ollamaResult],
  ['calls-unanswered', hello, ollamaCall(), hello],
  ['calls-unanswered', hello, ollamaCall(), hello, ollamaResult],
  ['result-orphan', hello, ollamaResult],
  ['result-orphan', hello, ollamaCall(), ollamaResult, ollamaResult],
  ['result-unknown-call', hello, ollamaCall(), { ...ollamaResult, tool_name: 'find' }],
])('Ollama: %s', (rule, ...messages) => {
  expect(chatBreaks(messages).map((broken) => broken.rule)).toContain(rule)
  expect(chatBreaks([hello, ollamaCall(), ollamaResult, { role: 'assistant', content: 'So.' }])).toEqual([])
})

test('Ollama drops the oldest messages whether or not that parts a pair, and refuses only who asks for it', async () => {
  const system = { role: 'system', content: 'x'.repeat(100) }
  const messages = [system, { ...hello, content: 'y'.repeat(500) }, ollamaCall(), ollamaResult]
  const body = { messages, stream: false, options: { num_ctx: 300 } }
  for (const temperament of ['errors', 'drops'] as const) {
    const upstream = await startOllamaUpstream({ ...usual, temperament, reply: sayingSo })
    const ask = asking({ ...upstream, url: new URL(upstream.url).origin }, '/api/chat', {})
    const cut = parseObject((await ask(body)).text) ?? {}
    const [seen] = upstream.requests
    expect(seen).toMatchObject({ status: 200, windowTokens: 300, dropped: [1], rejected: null })
    expect(cut['prompt_eval_count']).toBe((seen?.promptTokens ?? 0) - 504)
    const refused = await ask({ ...body, truncate: false })
    const words = '{"error":"the input length exceeds the context length"}'
    expect([refused.status, refused.text === words]).toEqual(
      temperament === 'errors' ? [400, true] : [200, false],
    )
    const running = await fetch(`${new URL(upstream.url).origin}/api/ps`)
    expect(await running.json()).toMatchObject({ models: [{ name: 'm', context_length: 300 }] })
  }
})

describe('what each refuses, in its own words', () => {
  const bad = { tools: [{ type: 'function', function: { name: 'f' } }] }
  test.each<[string, () => Promise<Ask>, object, string]>([
    ['chat completions', askChat, {}, "Missing required parameter: 'messages'."],
    ['chat completions', askChat, { messages: [{ ...hello, role: 'tool' }] }, "messages with role 'tool'"],
    ['Messages', askMessages, { messages: [hello], x: 1 }, 'x: Extra inputs are not permitted'],
    ['Messages', askMessages, { messages: [model(says('So.')), hello] }, 'first message must use the "user"'],
    ['Responses', askResponses, { messages: [] }, "has moved to 'input'."],
    ['Responses', askResponses, { input: [hello], ...bad }, "Missing required parameter: 'tools[0].name'."],
    [
      'Responses',
      askResponses,
      { input: [{ type: 'item_reference', id: 'x' }] },
      "Item with id 'x' not found.",
    ],
    ['Responses', askResponses, { input: [called] }, 'No tool output found for function call a.'],
  ])('%s %#', async (_, start, body, words) => {
    const answer = await (await start())(body)
    expect([answer.status >= 400, answer.error]).toEqual([true, expect.stringContaining(words)])
  })

  const tight = { windowTokens: 11 }
  const [messages, input] = [[hello], [hello]]
  test.each<[string, () => Promise<Ask>, object, string]>([
    ['chat completions', () => askChat(tight), { messages }, 'resulted in 12 tokens'],
    [
      'chat completions with the output',
      () => askChat({ windowTokens: 20, outputReserveChecked: true }),
      { messages, max_tokens: 9 },
      'you requested 21 tokens (12 in the messages, 9 in the completion)',
    ],
    ['Messages', () => askMessages(tight), { messages }, 'prompt is too long: 12 tokens > 11 maximum'],
    [
      'Messages with the output',
      () => askMessages({ windowTokens: 100, outputReserveChecked: true }),
      { messages },
      'exceed context limit: 12 + 100 > 100',
    ],
    [
      'an imitator',
      () => askMessages({ ...tight, imitator: { template: 'lenient' } }),
      { messages },
      '(12 tokens)',
    ],
    ['Responses', () => askResponses(tight), { input }, 'exceeds the context window'],
    [
      'Responses with the output',
      () => askResponses({ windowTokens: 27, outputReserveChecked: true }),
      { input, max_output_tokens: 16 },
      'exceeds the context window',
    ],
  ])('a prompt over its window: %s', async (_, start, body, words) => {
    const answer = await (await start())(body)
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(words)])
  })

  test.each([
    ['users in a row', [hello, hello]],
    ['words behind results', [hello, model(call('a')), user(result('a'), says('Wait.'))]],
    ['a system message in the middle', [hello, { role: 'system', content: 'Be brief.' }]],
  ])('an imitator whose template insists on alternation: %s', async (_, sent) => {
    const ask = await askMessages({ imitator: { template: 'strict' } })
    expect((await ask({ messages: sent })).error).toMatch(/^Jinja Exception: .*(alternate|beginning)/)
  })
})

/** A message that costs one token for its frame and one a character. */
const part = (content: string, frame = 'user'): PromptPart => ({
  hash: `${frame}:${content}`,
  tokens: 1 + content.length,
  text: { frame, frameTokens: 1, content },
})

describe('the caches', () => {
  test('of prefixes serve the longest, in steps above the minimum, to its owner', () => {
    const cache = openPrefixCache({ minimumTokens: 10, stepTokens: 5, count: usual.count })
    const alphabet = part('abcdefghijklmnopqrs') // 20 tokens
    const digits = part('0123456') // 8 tokens
    expect(cache.serve('me', [alphabet, digits])).toBe(0)
    // 20 + 8 = 28 tokens in common: 10, and three full steps of 5.
    expect(cache.serve('me', [alphabet, digits, part('new')])).toBe(25)
    // 20, one for the frame, and the four characters 0123.
    expect(cache.serve('me', [alphabet, part('0123xyz')])).toBe(25)
    // Another frame shares nothing.
    expect(cache.serve('me', [alphabet, part('0123456', 'tool')])).toBe(20)
    expect(cache.serve('me', [part('system of today'), alphabet, digits])).toBe(0)
    expect(cache.serve('you', [alphabet, digits])).toBe(0)
  })

  test('of Messages are written at marks and read at the longest entry before one, 20 blocks back at most', async () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const ask = await askMessages({ cache: { minimumTokens: 10 } })
    const [many, system] = ['x'.repeat(96), [says('Be brief.', mark)]]
    const usageOf = async (...messages: object[]) => {
      const { usage } = await ask({ system, messages })
      const { input_tokens: read, cache_read_input_tokens: cached, cache_creation_input_tokens: made } = usage
      return [read, cached, made]
    }
    expect(await usageOf(user(says(many, mark)))).toEqual([3, 0, 113])
    const grown = [model(says('y')), user(says('z', mark))]
    expect(await usageOf(user(says(many)), ...grown)).toEqual([3, 113, 10])
    // Without a mark they are neither read nor written; the system prompt is.
    expect(await usageOf(user(says(many)))).toEqual([103, 13, 0])
    // An earlier change leaves only what stands before it.
    expect(await usageOf(user(says('w')), ...grown)).toEqual([3, 13, 15])
    const between = Array.from({ length: 20 }, (_, place) => says(`block ${place}`))
    expect((await usageOf(user(says(many), ...between, says('last', mark))))[1]).toBe(13)
    const marked = Array.from({ length: 4 }, (_, place) => says(`block ${place}`, mark))
    expect((await ask({ system, messages: [user(...marked)] })).error).toContain('A maximum of 4 blocks')
  })

  test('are of the raw text of each message, as it was spelled, of equal keys the last', () => {
    const first = '{"role" : "user","content":"a\\"]}\\\\"}'
    const second = '{"n":1e400,"x":[1,{"y":"\\u0041"}]}'
    expect(cutRawRequest(` {"a":[{}],"messages": [ ${first} ,${second}\n] , "tools":[ ]}`)).toEqual({
      messages: [first, second],
      tools: '[ ]',
    })
    expect(cutRawRequest('{"messages":[1],"\\u006dessages":[2, 3]}').messages).toEqual(['2', '3'])
  })
})

/** A signature or encrypted content of which one character differs. */
const forged = (sealed: unknown): string =>
  textOf(sealed).replace(/(.{40})(.)/, (_, before, one) => `${before}${one === 'A' ? 'B' : 'A'}`)

describe('thinking that comes back to Messages', () => {
  /** What is asked with the first round of a task behind other messages, or under other fields. */
  async function second(
    ask: Ask,
    before: readonly object[],
    fields = {},
    headers = {},
    changes: WireBlock = {},
  ) {
    const [made = {}, tool = {}] = (await ask({ messages: [hello] })).said
    return ask(
      { messages: [...before, model({ ...made, ...changes }, tool), user(result(tool['id']))], ...fields },
      headers,
    )
  }

  test.each<[string, object, ...object[]]>([
    ['other tools', { tools: [{ name: 'f', input_schema: {} }] }, hello],
    ['another system prompt', { system: 'Think twice.' }, hello],
    ['a message that was written anew', {}, { ...hello, content: 'Do this.' }],
    ['a message more', {}, hello, more],
  ])('is refused behind %s, and left out and told where the client says so', async (_, fields, ...before) => {
    const ask = await askMessages()
    expect((await second(ask, before, fields)).error).toContain('bound to a different conversation')
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    const beta = { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' }
    const dropped = [{ type: 'thinking_dropped', reason: 'prefix_binding_mismatch' }]
    expect((await second(ask, before, { ...fields, thinking }, beta)).told).toMatchObject(dropped)
  })

  test('is taken behind what it was made on, of another key or model refused, and forged or reworded', async () => {
    const ask = await askMessages()
    expect(await second(ask, [{ ...hello, content: [says('hello')] }])).toMatchObject({
      status: 200,
      told: [],
    })
    expect((await second(ask, [hello], {}, { authorization: 'other' })).error).toContain(
      'different organization',
    )
    expect((await second(ask, [hello], { model: 'n' })).error).toContain('different model')
    expect((await second(ask, [hello], {}, {}, { thinking: 'Hm.' })).error).toContain('cannot be modified')
    expect((await second(ask, [hello], {}, {}, { signature: 'Eqx' })).error).toContain('Invalid `signature`')
  })

  test.each<[string, readonly number[], boolean]>([
    ['without the oldest', [1, 2], true],
    ['without the newest', [0, 1], true],
    ['without one in the middle', [0, 2], false],
  ])('may be left out at the beginning and at the end: %s', async (_, keeps, isTaken) => {
    const ask = await askMessages()
    const [whole, history]: object[][] = [[hello], [hello]]
    for (let round = 0; round < 3; round += 1) {
      const [made = {}, tool = {}] = (await ask({ messages: whole })).said
      whole?.push(model(made, tool), user(result(tool['id'])))
      history?.push(keeps.includes(round) ? model(made, tool) : model(tool), user(result(tool['id'])))
    }
    expect((await ask({ messages: history })).error === null).toBe(isTaken)
  })

  test('of an older model goes anywhere, but stands before open calls where it has a budget', async () => {
    const ask = await askMessages({ binding: 'none' })
    expect((await second(ask, [more])).error).toBeNull()
    const open = [hello, model(call('a')), user(result('a'))]
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    expect((await ask({ messages: open, thinking })).error).toContain('Expected `thinking`')
    expect((await ask({ messages: open })).error).toBeNull()
  })
})

describe('reasoning that comes back to Responses', () => {
  /** What is asked with the first reply to a task behind other items, or under other fields. */
  async function second(
    ask: Ask,
    before: readonly object[],
    fields = {},
    headers = {},
    changes: WireItem = {},
  ) {
    const [made, reply] = (await ask({ input: [hello] })).said
    const answer = await ask(
      { input: [...before, { ...made, ...changes }, { ...reply }, more], ...fields },
      headers,
    )
    return { ...answer, reasons: answer.told.map(({ reason }) => reason) }
  }

  test.each<[string, object, ...object[]]>([
    ['other tools', { tools: [{ type: 'function', name: 'f', parameters: {} }] }, hello],
    ['another format of the reply', { text: { format: { type: 'json_object' } } }, hello],
    ['other instructions', { instructions: 'Think twice.' }, hello],
    ['a message that was written anew', {}, { ...hello, content: 'Do this.' }],
    ['a message more', {}, hello, more],
  ])('is left out of the prompt behind %s', async (_, fields, ...before) => {
    expect((await second(await askResponses(), before, fields)).reasons).toEqual(['prefix_mismatch'])
  })

  test('is shown behind what it was made on, of another key or model left out, forged refused', async () => {
    const ask = await askResponses()
    const spelt = {
      type: 'message',
      id: 'msg_own',
      content: [{ text: 'hello', type: 'input_text' }],
      role: 'user',
    }
    const answer = await second(ask, [spelt])
    expect(answer).toMatchObject({ status: 200, reasons: [] })
    // 100 tokens are at least 534 characters of base64, each worth three sixteenths of a token.
    expect(answer.usage['input_tokens']).toBeGreaterThan(100)
    const elsewhere = await second(ask, [hello], {}, { authorization: 'Bearer other' })
    expect(elsewhere.reasons).toEqual(['organization_mismatch'])
    expect((await second(ask, [hello], { model: 'n' })).reasons).toEqual(['model_mismatch'])
    const [made] = (await ask({ input: [hello] })).said
    const changes = { encrypted_content: forged(made?.['encrypted_content']) }
    expect((await second(ask, [hello], {}, {}, changes)).error).toContain('could not be verified')
  })

  test('may lose what stands before an item of compaction, and that alone', async () => {
    const ask = await askResponses()
    const [item = {}] = (await ask({ input: [hello, { type: 'compaction_trigger' }] })).said
    const { said } = await ask({ input: [hello, item, more] })
    expect((await ask({ input: [item, more, ...said, more] })).told).toEqual([])
    expect((await ask({ input: [more, ...said, more] })).told).toMatchObject([{ reason: 'prefix_mismatch' }])
  })
})
