import { expect, onTestFinished, test } from 'vitest'
import { bytes, events, fakeUpstream, json, type Script } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { readTool, roundsOf, user } from './stand.ts'

// What Anthropic asks of a gateway for Claude Code. docs/anthropic-gateway.md says it line by line, and names these tests.

const fine = json({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Fine.' }],
  usage: { input_tokens: 10, output_tokens: 1 },
  stop_reason: 'end_turn',
})

async function open(script: Script) {
  const upstream = await fakeUpstream(script)
  onTestFinished(upstream.close)
  const profile = { window: { tokens: 8_000, output_reserve: 500 } }
  const foldgate = await startFoldgate({ upstream: upstream.url, profile })
  onTestFinished(foldgate.close)
  const origin = foldgate.url.replace(/\/v1$/, '')
  return { upstream, ask: (path: string, init: RequestInit = {}) => fetch(`${origin}${path}`, init) }
}

const headers = {
  'content-type': 'application/json',
  authorization: 'Bearer of-the-gateway',
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,nobody-knows-it-2027-01-01',
  'x-claude-code-session-id': '6f0f0b6e-6a0a-4b53-9f3b-0d1e1c6f9a11',
  'anthropic-workspace-id': 'wrkspc_1',
}

const fields = {
  model: 'claude-somebody',
  max_tokens: 400,
  system: [{ type: 'text', text: 'You are careful.', cache_control: { type: 'ephemeral' } }],
  tools: [readTool, { name: 'later', defer_loading: true, input_schema: { type: 'object' } }],
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: 'user_1' },
  nobody_knows_it: { a: [1, 2] },
}

const messagesOf = (rounds: number) => [user('Read all parts.'), ...roundsOf(rounds)]

test.each([
  ['relayed', 1],
  ['compacted', 40],
])('what a %s request says beside its conversation reaches the server as it came', async (action, rounds) => {
  const { upstream, ask } = await open(fine)
  const body = JSON.stringify({ ...fields, messages: messagesOf(rounds) })
  const answer = await ask('/v1/messages?beta=true', { method: 'POST', headers, body })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, action])
  expect(upstream.requests).toHaveLength(1)
  const [sent] = upstream.requests
  expect(sent?.url).toBe('/v1/messages?beta=true')
  expect(sent?.headers).toMatchObject(headers)
  const { messages: _messages, ...beside } = JSON.parse(String(sent?.body))
  expect(JSON.stringify(beside)).toBe(JSON.stringify(fields))
  if (action === 'relayed') expect(String(sent?.body)).toBe(body)
})

test('a stream arrives event by event, those that nobody knows as well', async () => {
  const start =
    '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}'
  const pieces = [
    `event: message_start\ndata: ${start}\n\n`,
    'event: ping\ndata: {"type":"ping"}\n\n',
    'event: nobody_knows_it\ndata: {"type":"nobody_knows_it","x":1.0}\n\n',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Fine."}}\n\n',
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ]
  const { ask } = await open(events(pieces))
  for (const rounds of [1, 40]) {
    const body = JSON.stringify({ ...fields, stream: true, messages: messagesOf(rounds) })
    const answer = await ask('/v1/messages?beta=true', { method: 'POST', headers, body })
    expect(await answer.text()).toBe(pieces.join(''))
  }
})

test('an error keeps its status, its body and the headers by which it is tried again', async () => {
  const error =
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}'
  const retry = {
    'content-type': 'application/json',
    'retry-after': '7',
    'request-id': 'req_1',
    'x-should-retry': 'true',
  }
  const { ask } = await open(bytes(error, retry, 529))
  const body = JSON.stringify({ ...fields, messages: messagesOf(1) })
  const answer = await ask('/v1/messages?beta=true', { method: 'POST', headers, body })
  expect([answer.status, await answer.text()]).toEqual([529, error])
  expect(Object.fromEntries(answer.headers)).toMatchObject(retry)
})

test.each([
  ['POST', '/v1/messages/count_tokens?beta=true', JSON.stringify({ ...fields, messages: messagesOf(40) })],
  ['GET', '/v1/models?limit=1000', null],
])('%s %s is the server’s to answer, as it was asked', async (method, path, body) => {
  const answered = '{ "input_tokens": 12.0 }'
  const { upstream, ask } = await open(bytes(answered, { 'content-type': 'application/json' }))
  const answer = await ask(path, { method, headers, body })
  expect([answer.status, await answer.text()]).toEqual([200, answered])
  const [sent] = upstream.requests
  expect([sent?.method, sent?.url, String(sent?.body)]).toEqual([method, path, body ?? ''])
  expect(sent?.headers).toMatchObject(headers)
})

test('the probe of the connection is answered, by whomever', async () => {
  const { ask } = await open(bytes('', {}, 404))
  const answer = await ask('/', { method: 'HEAD', headers })
  expect(answer.status).toBe(404)
})
