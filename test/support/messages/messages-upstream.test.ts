import { describe, expect, test } from 'vitest'
import { startAsking } from './asking.ts'
import { readReply } from './living.ts'
import type { MessagesScript } from './script.ts'

const user = (text: string) => ({ role: 'user', content: text })
const hello = { messages: [user('hello')] }

describe('answers', () => {
  const script: MessagesScript = {
    content: [
      { type: 'thinking', text: 'Greet.' },
      { type: 'thinking', tokens: 60 },
      { type: 'text', text: '🦊'.repeat(30) },
      { type: 'tool_use', id: 'toolu_1', name: 'wave', input: { hand: 'left' } },
      { type: 'tool_use', id: 'toolu_2', name: 'bow', input: {} },
    ],
  }

  test('plainly, with usage', async () => {
    const { upstream, ask } = await startAsking()
    const { text } = await ask(hello)
    expect(JSON.parse(text)).toEqual({
      id: 'msg_000001',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Good day to you.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      // 4 + 5 for the message, 3 to open the reply.
      usage: {
        input_tokens: 12,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 16,
        service_tier: 'standard',
      },
    })
    expect(upstream.requests).toMatchObject([
      { method: 'POST', path: '/v1/messages', status: 200, promptTokens: 12, rejected: null },
    ])
  })

  test('as a stream, its events in order, that says what a plain answer says', async () => {
    const [one, other] = [
      await startAsking({ reply: () => script }),
      await startAsking({ reply: () => script }),
    ]
    const plain = await one.ask(hello)
    const streamed = await other.ask({ ...hello, stream: true })
    const named = [...streamed.text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
    expect(named.filter((name, place) => name !== named[place - 1])).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      ...script.content.flatMap((_, index) => [
        ...(index === 0 ? [] : ['content_block_start']),
        'content_block_delta',
        'content_block_stop',
      ]),
      'message_delta',
      'message_stop',
    ])
    expect(readReply(streamed.text)).toEqual(readReply(plain.text))
    expect(readReply(plain.text)).toMatchObject({ stopReason: 'tool_use', transformations: [] })
    expect(streamed.text).toContain('"usage":{"input_tokens":12,')
  })

  test('with what was scripted until the window ends', async () => {
    const { ask } = await startAsking({ windowTokens: 20, endsAtWindow: true })
    const { text } = await ask(hello)
    expect(JSON.parse(text)).toMatchObject({
      content: [{ text: 'Good day' }],
      stop_reason: 'model_context_window_exceeded',
    })
  })

  test('nothing where the cache is only warmed', async () => {
    const { ask } = await startAsking()
    expect(readReply((await ask({ ...hello, max_tokens: 0 })).text)).toMatchObject({ blocks: [] })
  })

  test('what its window is and how large a prompt is, where it was told to', async () => {
    const { upstream, ask } = await startAsking({ statesWindow: true, countsTokens: true })
    const models: unknown = await (await fetch(`${upstream.url}/models`)).json()
    expect(models).toMatchObject({ data: [{ max_input_tokens: 1000 }] })
    expect((await ask(hello, {}, '/messages/count_tokens')).text).toBe('{"input_tokens":12}')
    const { ask: other, upstream: silent } = await startAsking()
    expect((await other(hello, {}, '/messages/count_tokens')).status).toBe(404)
    expect((await fetch(`${silent.url}/models`)).status).toBe(404)
  })
})

describe('refuses', () => {
  test.each<[string, object, object?]>([
    ['temprature: Extra inputs are not permitted', { temprature: 1 }],
    ['context_management: Extra inputs are not permitted', { context_management: { edits: [] } }],
    ['max_tokens: Field required', { max_tokens: undefined }],
    ['anthropic-version: header is required', {}, { 'anthropic-version': '' }],
    [
      'thinking.adaptive.block_binding: Extra inputs are not permitted',
      { thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } } },
    ],
    ['messages: at least one message is required', { messages: [] }],
    ['tools: Tool names must be unique.', { tools: [1, 2].map(() => ({ name: 'a', input_schema: {} })) }],
    ['system: text content blocks must be non-empty', { system: [{ type: 'text', text: '' }] }],
  ])('%s', async (message, body, headers) => {
    const { ask } = await startAsking()
    const answer = await ask({ ...hello, ...body }, headers)
    expect([answer.status, answer.error]).toEqual([400, message])
  })

  test('a prompt over its window before anything is streamed, with both numbers', async () => {
    const { ask, upstream } = await startAsking({ windowTokens: 11 })
    const answer = await ask({ ...hello, stream: true })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 12 tokens > 11 maximum' },
        request_id: 'req_000001',
      },
    ])
    expect(upstream.requests[0]?.rejected?.reason).toBe('window')
  })

  test('as an older model a prompt beside which the output does not fit', async () => {
    const { ask } = await startAsking({ windowTokens: 100, outputReserveChecked: true })
    expect((await ask(hello)).error).toBe(
      'input length and `max_tokens` exceed context limit: 12 + 100 > 100, decrease input length or `max_tokens` and try again',
    )
  })

  test('what it knows of only from those who ask to try it, and takes it from them', async () => {
    const { ask } = await startAsking()
    const tried = { ...hello, context_management: { edits: [] } }
    const { status, text } = await ask(tried, { 'anthropic-beta': 'a, context-management-2025-06-27' })
    expect([status, JSON.parse(text)]).toMatchObject([200, { context_management: { applied_edits: [] } }])
  })
})
