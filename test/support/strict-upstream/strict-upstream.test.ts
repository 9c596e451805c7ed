import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import type { ReplyScript } from './reply-script.ts'
import { startStrictUpstream, type StrictUpstream, type StrictUpstreamOptions } from './strict-upstream.ts'

// One token a character: every number below can be worked out by hand.
const count = (text: string) => text.length
const hello = { role: 'user' as const, content: 'hello' }

const running: StrictUpstream[] = []
afterEach(async () => {
  for (const upstream of running.splice(0)) await upstream.close()
})

async function start(options: Partial<StrictUpstreamOptions> = {}) {
  const upstream = await startStrictUpstream({
    windowTokens: 1000,
    template: 'lenient',
    outputReserveChecked: true,
    count,
    reply: () => ({ content: 'Good day to you.' }),
    ...options,
  })
  running.push(upstream)
  const client = new OpenAI({ baseURL: upstream.url, apiKey: 'key', maxRetries: 0 })
  return { upstream, client, chat: client.chat.completions }
}

async function post(url: string, body: string) {
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', body })
  return { status: response.status, body: await response.json() }
}

describe('answers', () => {
  test('plainly, with usage', async () => {
    const { chat, upstream } = await start()
    const reply = await chat.create({ model: 'm', messages: [hello] })
    expect(reply.choices[0]?.message.content).toBe('Good day to you.')
    expect(reply.choices[0]?.finish_reason).toBe('stop')
    // 3 + 1 + 5 for the message, 3 to open the reply.
    expect(reply.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 16, total_tokens: 28 })
    expect(upstream.requests).toMatchObject([
      {
        method: 'POST',
        path: '/v1/chat/completions',
        status: 200,
        promptTokens: 12,
        rejected: null,
        messages: [hello],
      },
    ])
    expect(JSON.parse(upstream.requests[0]?.body.toString() ?? '')).toEqual({ model: 'm', messages: [hello] })
  })

  test('as a stream, cutting no character in two, with usage when asked', async () => {
    const content = '🦊'.repeat(300)
    const { chat } = await start({ reply: () => ({ content }) })
    const stream = await chat.create({
      model: 'm',
      messages: [hello],
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    const usages: (number | undefined)[] = []
    for await (const chunk of stream) {
      const piece = chunk.choices[0]?.delta.content ?? ''
      expect(piece.isWellFormed()).toBe(true)
      text += piece
      if (chunk.usage) usages.push(chunk.usage.prompt_tokens)
    }
    expect(text).toBe(content)
    expect(usages).toEqual([12])
  })

  test('as a stream without usage when none is asked', async () => {
    const { upstream } = await start()
    const response = await fetch(`${upstream.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [hello], stream: true }),
    })
    expect(response.headers.get('content-type')).toMatch('text/event-stream')
    const events = await response.text()
    expect(events).not.toContain('usage')
    expect(events.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test.each([true, false])(
    "with tool calls that the SDK's runTools carries out (streamed: %s)",
    async (stream) => {
      const scripts: ReplyScript[] = [
        {
          content: null,
          toolCalls: [
            {
              id: 'call_1',
              name: 'add',
              argumentsText: '{"left":1,"right":2,"note":"a text longer than one piece"}',
            },
            { id: 'call_2', name: 'add', argumentsText: '{"left":3,"right":4}' },
          ],
        },
        { content: 'done' },
      ]
      const { chat, upstream } = await start({
        windowTokens: 10_000,
        reply: () => scripts.shift() ?? { content: 'too many requests' },
      })
      const added: number[] = []
      const add = {
        type: 'function' as const,
        function: {
          name: 'add',
          description: 'Adds two numbers.',
          parameters: { type: 'object', properties: {} },
          parse: (text: string): { left: number; right: number } => JSON.parse(text),
          function: ({ left, right }: { left: number; right: number }) => {
            added.push(left + right)
            return String(left + right)
          },
        },
      }
      const asked = { model: 'm', messages: [hello], tools: [add] }
      const content = stream
        ? await chat.runTools({ ...asked, stream: true }).finalContent()
        : await chat.runTools({ ...asked, stream: false }).finalContent()
      expect(content).toBe('done')
      expect(added).toEqual([3, 7])
      expect(upstream.requests.map((request) => request.status)).toEqual([200, 200])
    },
  )

  test('the models it has, and 404 on a path that it does not know', async () => {
    const { client, upstream } = await start()
    expect((await client.models.list()).data.map((model) => model.id)).toEqual(['strict-model'])
    await expect(client.embeddings.create({ model: 'm', input: 'x' })).rejects.toMatchObject({ status: 404 })
    expect(upstream.requests.map((request) => [request.path, request.status])).toEqual([
      ['/v1/models', 200],
      ['/v1/embeddings', 404],
    ])
  })
})

describe('counts', () => {
  test('names, calls, tools and images as well as texts', async () => {
    const { chat } = await start({ windowTokens: 10_000 })
    const reply = await chat.create({
      model: 'm',
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: {} } }],
      messages: [
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'hello' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'x', content: 'seen' },
      ],
    })
    const user = 3 + 1 + 3 + 5 + 765
    const assistant = 3 + 1 + 8 + 4 + 7
    const tool = 3 + 1 + 4
    const tools = Math.ceil((16 + 8 + 4 + 6 + 2) * 1.1)
    expect(reply.usage?.prompt_tokens).toBe(user + assistant + tool + tools + 3)
  })

  test('what its cache would have served, per credential', async () => {
    const { chat, upstream } = await start({
      windowTokens: 10_000,
      cache: { minimumTokens: 100, stepTokens: 10 },
    })
    const opening = { role: 'user' as const, content: 'x'.repeat(125) }
    const cached = async (messages: OpenAI.ChatCompletionMessageParam[], authorization = 'Bearer key') => {
      const reply = await chat.create({ model: 'm', messages }, { headers: { authorization } })
      return reply.usage?.prompt_tokens_details?.cached_tokens
    }
    expect(await cached([opening])).toBe(0)
    // The opening is 3 + 1 + 125 = 129 tokens: 100 and two steps of 10.
    expect(await cached([opening, hello])).toBe(120)
    // 129 and 9 for the hello: 138.
    expect(await cached([opening, hello, hello])).toBe(130)
    // 4 for the frame and 110 equal characters: 114.
    expect(await cached([{ role: 'user', content: 'x'.repeat(110) + 'y'.repeat(20) }])).toBe(110)
    expect(await cached([opening, hello], 'Bearer other')).toBe(0)
    expect(upstream.requests.map((request) => request.cachedTokens)).toEqual([0, 120, 130, 110, 0])
  })
})

describe('refuses', () => {
  test('an invalid sequence, in the shape that the SDK reads', async () => {
    const { chat, upstream } = await start()
    await expect(
      chat.create({ model: 'm', messages: [hello, { role: 'tool', tool_call_id: 'a', content: 'x' }] }),
    ).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'messages.[1].role',
      message: expect.stringContaining("must be a response to a preceeding message with 'tool_calls'"),
    })
    expect(upstream.requests).toMatchObject([{ status: 400, rejected: { reason: 'result-orphan' } }])
  })

  test('a second system message under a strict template only', async () => {
    const messages = [
      { role: 'system' as const, content: 'a' },
      { role: 'system' as const, content: 'b' },
      hello,
    ]
    const strict = await start({ template: 'strict' })
    await expect(strict.chat.create({ model: 'm', messages })).rejects.toMatchObject({ status: 400 })
    const lenient = await start()
    await expect(lenient.chat.create({ model: 'm', messages })).resolves.toBeDefined()
  })

  test('a prompt over the window, with the exact numbers', async () => {
    const { upstream } = await start({ windowTokens: 11 })
    expect(await post(upstream.url, JSON.stringify({ model: 'm', messages: [hello] }))).toEqual({
      status: 400,
      body: {
        error: {
          message:
            "This model's maximum context length is 11 tokens. However, your messages resulted in 12 tokens. Please reduce the length of the messages.",
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        },
      },
    })
    expect(upstream.requests[0]).toMatchObject({ promptTokens: 12, rejected: { reason: 'window' } })
  })

  test('a prompt with an output limit that do not fit together, where that is checked', async () => {
    const checking = await start({ windowTokens: 20 })
    const asked = { model: 'm', messages: [hello], max_tokens: 9 }
    await expect(checking.chat.create({ ...asked, max_tokens: 8 })).resolves.toBeDefined()
    await expect(checking.chat.create(asked)).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringContaining(
        'you requested 21 tokens (12 in the messages, 9 in the completion). Please reduce the length of the messages or completion.',
      ),
    })
    const trusting = await start({ windowTokens: 20, outputReserveChecked: false })
    await expect(trusting.chat.create(asked)).resolves.toBeDefined()
  })

  test('a body that is no JSON, lacks a parameter or has none but empty messages', async () => {
    const { upstream } = await start()
    for (const body of [
      '{"model":"m","messages":[',
      '[]',
      '{"messages":[]}',
      '{"model":"m","messages":[]}',
    ]) {
      expect(await post(upstream.url, body)).toMatchObject({
        status: 400,
        body: { error: { message: expect.any(String) } },
      })
    }
    expect(upstream.requests.map((request) => request.rejected?.reason)).toEqual([
      'body',
      'body',
      'parameter',
      'parameter',
    ])
  })
})
