import { expect, onTestFinished, test } from 'vitest'
import { profilesOf } from '../../support/profiles.ts'
import { longRun } from '../../support/conversations.ts'
import {
  completion,
  events,
  fakeUpstream,
  json,
  overflow,
  stream,
  type Script,
} from '../../support/fake-upstream.ts'
import { startMessagesUpstream } from '../../support/messages/messages-upstream.ts'
import { startResponsesUpstream } from '../../support/responses/responses-upstream.ts'
import { readTool } from '../messages/stand.ts'
import { reportStand } from '../../telemetry/report/report-stand.ts'
import type { FoldgateOptions } from '../../support/foldgate.ts'
import { standWith } from '../../support/stand.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'

// A conversation whose system text, tools and newest round exceed a small window by themselves ended in the small model's
// refusal, whatever was folded. `overflow.fallback` is the operator's word for where such a request may go.

const fallback = { model: 'large-model', upstream: 'large' }
const profile = { window: { tokens: 8_192 }, overflow: { fallback } }
const large = { window: { tokens: 200_000 }, models: ['large-model'] }

type StandOptions = { readonly small: Script; readonly large: Script } & Partial<
  Pick<FoldgateOptions, 'env' | 'profile'> & { readonly largeProfile: object; readonly upstream: object }
>

/** A Foldgate before a small model and a larger one, each at a server of its own. */
async function standOf(options: StandOptions) {
  const larger = await fakeUpstream(options.large)
  onTestFinished(larger.close)
  const at = await standWith(options.small, {
    upstreams: { large: { url: larger.url, ...options.upstream } },
    ...(options.env !== undefined && { env: options.env }),
    profiles: profilesOf({ default: options.profile ?? profile, large: options.largeProfile ?? large }),
  })
  return { ...at, small: at.upstream, larger }
}

const run = longRun(6, 2)
const pasted = { role: 'user', content: `Read this: ${'the quick brown fox '.repeat(1_900)}` }
/** The end alone is more than the small window holds, and goes on whole. */
const endless = [...run, pasted]
/** The same as words alone. */
const plain = endless.map(({ role, content }) => ({
  role: role === 'assistant' ? role : 'user',
  content: content ?? 'On.',
}))
const refusal = {
  message:
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 12000 tokens.",
}
const said = 'Read.'
const tooLongMessage = {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'prompt is too long: 12000 tokens > 8192 maximum' },
}

/** The wire formats: where each is posted, a conversation, how a stream of it refuses, and its answer. */
const dialects = [
  {
    name: 'chat completions',
    path: '/chat/completions',
    body: chatOf(endless),
    refusedStream: [
      `data: ${JSON.stringify({ error: { ...refusal, code: 'context_length_exceeded' } })}\n\n`,
      'data: [DONE]\n\n',
    ],
    error: { error: { ...refusal, code: 'context_length_exceeded' } },
    answer: completion(said, {}, 'large-model'),
    streamed: stream(said),
  },
  {
    name: 'responses',
    path: '/responses',
    body: {
      model: 'test-model',
      input: plain,
    },
    refusedStream: [
      `event: response.created\ndata: ${JSON.stringify({ type: 'response.created', sequence_number: 0, response: { id: 'r', object: 'response', status: 'in_progress', output: [] } })}\n\n`,
      `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', sequence_number: 1, response: { id: 'r', object: 'response', status: 'failed', output: [], error: { code: 'context_length_exceeded', message: refusal.message } } })}\n\n`,
    ],
    error: { error: { ...refusal, code: 'context_length_exceeded' } },
    answer: json({
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'm',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: said, annotations: [] }],
        },
      ],
    }),
    streamed: events([
      `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', sequence_number: 0, item_id: 'm', output_index: 0, content_index: 0, delta: said })}\n\n`,
    ]),
  },
  {
    name: 'messages',
    path: '/messages',
    body: {
      model: 'test-model',
      max_tokens: 500,
      messages: plain,
    },
    refusedStream: [`event: error\ndata: ${JSON.stringify(tooLongMessage)}\n\n`],
    error: tooLongMessage,
    answer: json({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'large-model',
      content: [{ type: 'text', text: said }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 9, output_tokens: 4 },
    }),
    streamed: events([
      `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } })}\n\n`,
    ]),
  },
]

/** A body with an odd order, odd numbers and fields that nobody knows. */
function spelt(body: object, isStreamed: boolean): string {
  const text = JSON.stringify({ ...body, model: undefined })
  return `{ "zeta":1.50, "stream":${isStreamed},  "model" : "test-model", ${text.slice(1)}`
}

/** Takes conversations of three messages and no longer ones. */
const shortOnly: Script = (request) => {
  const isLong = rawMessages(request).length > 3
  return isLong ? overflow(2_000, 12_000) : completion('short')
}

/** A server that has both models. */
const bothModels: Script = (request) => {
  const isLarge = request.body.includes('"large-model"')
  return isLarge ? completion(said) : overflow(8_192, 12_000)
}

const signed = (part: number) => ({
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'I think.', signature: Buffer.from(`small ${part}`).toString('base64') },
    { type: 'tool_use', id: `toolu_${part}`, name: 'read', input: { part } },
  ],
})

const result = (part: number) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: `toolu_${part}`, content: `part ${part}` }],
})

/** What a client asked; Foldgate's own questions come beside it. */
const posted = <Request extends { readonly method: string }>(at: {
  readonly requests: readonly Request[]
}): readonly Request[] => at.requests.filter(({ method }) => method === 'POST')

const post = (url: string, path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-a-test', ...headers },
  })

test.each(
  dialects.flatMap((dialect) => (['status', 'first event'] as const).map((shape) => ({ ...dialect, shape }))),
)(
  '$name, refused by its $shape: the request goes once to the larger model',
  async ({ path, body, error, refusedStream, answer, streamed, shape }) => {
    const isStreamed = shape === 'first event'
    await using at = await standOf({
      small: isStreamed ? events(refusedStream) : json(error, 400),
      large: isStreamed ? streamed : answer,
    })
    const sent = spelt(body, isStreamed)
    const response = await post(at.foldgate.url, path, sent)
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(said)])
    expect(response.headers.get('x-foldgate-action')).toBe('recovered;reason=fallback')
    expect(response.headers.get('x-foldgate-fallback')).toBe('large-model;upstream=large')
    expect(response.headers.get('x-foldgate-window')).toBe('8192;source=config')
    expect(response.headers.get('x-foldgate-attempts')).toBe(String(at.small.requests.length + 1))
    // The conversation fits there: every byte but the name is the client's. Usage is not asked for in a body that is its own.
    expect(at.larger.requests.map((request) => request.body.toString())).toEqual([
      sent.replace('"test-model"', '"large-model"'),
    ])
    expect(at.larger.requests[0]?.url).toBe(`/v1${path}`)
    // A default upstream's credential is nothing for another one.
    expect(at.larger.requests[0]?.headers.authorization).toBeUndefined()
    expect(at.small.requests[0]?.headers.authorization).toBe('Bearer key-of-a-test')
  },
)

test("it is told in an event, a metric and a row, and what is kept of the conversation is the small model's", async () => {
  await using larger = await fakeUpstream(completion(said, { prompt_tokens: 11_000 }, 'large-2026'))
  const price = { input: 2, cached_input: null, output: 8, cache_written_input: null }
  await using at = await reportStand(overflow(8_192, 12_000), {
    profile,
    upstreams: { large: { url: larger.url } },
    settings: { prices: { 'large-model': price } },
  })
  const reply = await postChat(at.url, chatOf(run))
  expect(reply.action).toBe('recovered;reason=fallback')
  const recoveries = (await at.events()).filter(({ type }) => type === 'recovery')
  expect(recoveries).toMatchObject([
    {
      reason: 'fallback',
      conversation: reply.header('x-foldgate-conversation'),
      model: 'test-model',
      details: { upstream: 'large', fallback: 'large-model', fallback_upstream: 'large' },
    },
  ])
  const metrics = await at.metrics()
  const outcomes = metrics.by('foldgate_recoveries_total', 'outcome')
  expect(outcomes).toEqual(new Map([['fallback', 1]]))
  expect(await at.row()).toMatchObject({
    action: 'recovered',
    reason: 'fallback',
    status: 200,
    model: 'test-model',
    answered_by: 'large-2026',
    upstream: 'large',
    window_tokens: 8_192,
    beyond_window: true,
    passes: [],
    prompt_tokens: 11_000,
    prompt_cost: 0.022,
  })
})

test('if the larger model refuses it as well, the client gets the first refusal as it came, and hears of both', async () => {
  const refused = overflow(8_192, 12_000)
  await using larger = await fakeUpstream(json({ error: { message: 'Not you.', code: 'denied' } }, 403))
  await using at = await reportStand(refused, { profile, upstreams: { large: { url: larger.url } } })
  const reply = await postChat(at.url, chatOf(run))
  expect([reply.status, reply.text]).toEqual([
    400,
    expect.stringContaining('However, your messages resulted in 12000'),
  ])
  expect(reply.header('x-foldgate-action')).not.toContain('fallback')
  expect(reply.header('x-foldgate-fallback')).toBe('large-model;upstream=large;refused=403')
  expect(larger.requests).toHaveLength(1)
  const recoveries = (await at.events()).filter(({ type }) => type === 'recovery')
  expect(recoveries).toMatchObject([
    { reason: 'failed', details: { status: 400, fallback: 'large-model', fallback_status: 403 } },
  ])
})

test('a refusal inside a stream is given whole after the larger model has refused in its own stream', async () => {
  const [chat] = dialects
  const refusedStream = chat?.refusedStream ?? []
  await using at = await standOf({
    small: events(refusedStream),
    large: events([
      `data: ${JSON.stringify({ error: { message: 'prompt too long', code: 'context_length_exceeded' } })}\n\n`,
    ]),
  })
  const response = await post(at.foldgate.url, '/chat/completions', spelt(chatOf(endless), true))
  expect([response.status, await response.text()]).toEqual([200, refusedStream.join('')])
})

test('a larger model that is not there costs nothing but the try', async () => {
  await using at = await standOf({ small: overflow(8_192, 12_000), large: completion(said) })
  await at.larger.close()
  const reply = await postChat(at.foldgate.url, chatOf(run))
  expect(reply.status).toBe(400)
  expect(reply.text).toContain('However, your messages resulted in 12000')
  expect(reply.header('x-foldgate-fallback')).toBe('large-model;upstream=large;refused=unreachable')
})

test("what a larger window does not hold either is compacted for that one; nothing goes there that fits the small model's", async () => {
  await using at = await standOf({
    small: shortOnly,
    large: completion(said),
    largeProfile: { models: ['large-model'], window: { tokens: 4_000, output_reserve: 300 } },
    upstream: { api_key_env: 'LARGE_KEY' },
    profile: { ...profile, window: { tokens: 2_000 } },
    env: { LARGE_KEY: 'key-of-the-large-one' },
  })
  const short = await postChat(at.foldgate.url, chatOf(run.slice(0, 2)))
  expect([short.action, at.larger.requests.length]).toEqual(['relayed', 0])
  const reply = await postChat(at.foldgate.url, chatOf(run))
  expect(reply.action).toBe('recovered;reason=fallback')
  const [sent] = at.larger.requests
  const raw = rawMessages(sent)
  const bySmall = Math.max(...at.small.requests.slice(1).map(({ body }) => body.length))
  expect(raw.at(-1)).toBe(JSON.stringify(run.at(-1)))
  expect(reply.header('x-foldgate-passes')).not.toBeNull()
  expect(sent?.body.length).toBeGreaterThan(bySmall)
  expect(sent?.body.length).toBeLessThan(JSON.stringify(chatOf(run)).length)
  expect(sent?.headers.authorization).toBe('Bearer key-of-the-large-one')
  // What it was sent is nothing to go on from: the next request is the small model's again, and refused first.
  const before = at.small.requests.length
  const again = await postChat(
    at.foldgate.url,
    chatOf([...run, { role: 'assistant', content: said }, { role: 'user', content: 'And?' }]),
  )
  expect(again.action).toBe('recovered;reason=fallback')
  expect(at.small.requests.length).toBeGreaterThan(before)
  expect(again.header('x-foldgate-window')).toBe('2000;source=config')
})

test('what the larger model says of its window is learnt for it, and what it answers teaches nothing about the small one', async () => {
  const auto = { overflow: { fallback } }
  let asked = 0
  await using at = await standOf({
    small: overflow(8_192, 12_000),
    large: () => {
      asked += 1
      return asked === 1 ? overflow(6_000, 12_000) : completion(said, { prompt_tokens: 4_000 })
    },
    profile: auto,
    largeProfile: { models: ['large-model'] },
  })
  const first = await postChat(at.foldgate.url, chatOf(run))
  expect([first.status, first.header('x-foldgate-fallback')]).toEqual([
    400,
    'large-model;upstream=large;refused=400',
  ])
  const second = await postChat(at.foldgate.url, chatOf(run))
  expect([second.status, second.action]).toEqual([200, 'recovered;reason=fallback'])
  const [whole, smaller] = at.larger.requests
  expect(smaller?.body.length).toBeLessThan(whole?.body.length ?? 0)
  const third = await postChat(at.foldgate.url, chatOf(run))
  expect(third.header('x-foldgate-window')).toBe('8192;source=learnt')
})

test.each([
  ['observe: true', { observe: true }, {}],
  ['x-foldgate-bypass', {}, { 'x-foldgate-bypass': '1' }],
  ['the model that it is itself', { overflow: { fallback: { model: 'test-model', upstream: null } } }, {}],
  ['a refusal that is no overflow', {}, { 'x-refuse': 'denied' }],
])('none for %s', async (_, more, headers) => {
  const denied = json({ error: { message: 'Not with this key.' } }, 401)
  await using at = await standOf({
    small: (request) => (request.headers['x-refuse'] === 'denied' ? denied : overflow(8_192, 12_000)),
    large: completion(said),
    profile: { ...profile, ...more },
  })
  const reply = await postChat(at.foldgate.url, chatOf(run), headers)
  expect(reply.status).toBeGreaterThanOrEqual(400)
  expect([at.larger.requests.length, reply.header('x-foldgate-fallback')]).toEqual([0, null])
})

test("with attempts: 0 the first refusal is enough; the request's own upstream gets the client's key", async () => {
  await using at = await standOf({
    small: bothModels,
    large: completion('not here'),
    profile: { overflow: { attempts: 0, fallback: { model: 'large-model' } } },
  })
  const reply = await postChat(at.foldgate.url, chatOf(run))
  expect([reply.action, reply.header('x-foldgate-fallback')]).toEqual([
    'recovered;reason=fallback',
    'large-model;upstream=default',
  ])
  expect(at.small.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer key-of-a-test',
    'Bearer key-of-a-test',
  ])
})

test("on Azure's paths the fallback is a deployment: it stands in the path, and in the body only where a model did", async () => {
  const path = '/openai/deployments/small-1/chat/completions?api-version=2024-10-21'
  await using at = await standOf({ small: overflow(8_192, 12_000), large: completion(said) })
  const base = at.foldgate.url.replace(/\/v1$/, '')
  const { messages } = chatOf(run)
  await post(base, path, JSON.stringify({ messages }))
  await post(base, path, JSON.stringify(chatOf(run)))
  expect(at.larger.requests.map(({ url, body }) => [url, body.toString()])).toEqual([
    [
      expect.stringContaining('/openai/deployments/large-model/chat/completions?api-version=2024-10-21'),
      JSON.stringify({ messages }),
    ],
    [
      expect.stringContaining('/openai/deployments/large-model/'),
      JSON.stringify(chatOf(run, { model: 'large-model' })),
    ],
  ])
})

test('a body that names no model gets the name', async () => {
  await using at = await standOf({ small: overflow(8_192, 12_000), large: completion(said) })
  const { messages } = chatOf(run)
  await postChat(at.foldgate.url, { messages, temperature: 0 })
  expect(at.larger.requests.map(({ body }) => body.toString())).toEqual([
    JSON.stringify({ model: 'large-model', messages, temperature: 0 }),
  ])
})

test("signed thinking is the small model's: the larger one gets none of it, and refuses nothing", async () => {
  const messages = [{ role: 'user', content: 'Begin.' }, signed(1), result(1), signed(2), result(2)]
  const strict = await startMessagesUpstream({
    windowTokens: 100_000,
    outputReserveChecked: false,
    count: (text) => Math.ceil(text.length / 4),
    reply: () => ({ content: [{ type: 'text', text: said }] }),
  })
  onTestFinished(() => strict.close())
  const upstreams = { large: { url: strict.url, forward_client_key: true } }
  await using at = await standWith(json(tooLongMessage, 400), { profile, upstreams })
  const sent = JSON.stringify({ model: 'claude-small', max_tokens: 500, tools: [readTool], messages })
  const response = await post(at.url, '/messages', sent, {
    'x-api-key': 'key',
    'anthropic-version': '2023-06-01',
  })
  expect(response.headers.get('x-foldgate-action')).toBe('recovered;reason=fallback')
  expect(posted(strict).map(({ rejected, body }) => [rejected, body.toString()])).toEqual([
    [null, sent.replace('claude-small', 'large-model').replaceAll(/\{"type":"thinking"[^}]*\},/g, '')],
  ])
})

test('encrypted reasoning stays away from the larger model as well, with the ids that demand it', async () => {
  const input = [
    { role: 'user', content: 'Begin.' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAsmall' },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'part 1' },
  ]
  const strict = await startResponsesUpstream({
    windowTokens: 100_000,
    outputReserveChecked: false,
    count: (text) => Math.ceil(text.length / 4),
    reply: () => ({ output: [{ type: 'message', text: said }] }),
  })
  onTestFinished(() => strict.close())
  const upstreams = { large: { url: strict.url, forward_client_key: true } }
  await using at = await standWith(overflow(8_192, 12_000), { profile, upstreams })
  const sent = JSON.stringify({ model: 'gpt-small', store: false, input })
  const response = await post(at.url, '/responses', sent)
  expect(response.headers.get('x-foldgate-action')).toBe('recovered;reason=fallback')
  expect(posted(strict).map(({ rejected, body }) => [rejected, body.toString()])).toEqual([
    [
      null,
      sent
        .replace('gpt-small', 'large-model')
        .replace(/\{"type":"reasoning"[^}]*\},/, '')
        .replace('"id":"fc_1",', ''),
    ],
  ])
})
