import { describe, expect, test } from 'vitest'
import { longRun } from '../../support/conversations.ts'
import {
  bytes,
  completion,
  events,
  json,
  stream,
  type ReceivedRequest,
  type Script,
} from '../../support/fake-upstream.ts'
import { chatOf } from '../../support/post-chat.ts'
import { openPlays } from './plays.ts'

const play = openPlays()

const run = longRun(12, 2, 0.5)
const streamed = chatOf(run, { stream: true })

const chunk = (more: object) => `data: ${JSON.stringify({ id: 'c', model: 'tiny', ...more })}\n\n`
const done = 'data: [DONE]\n\n'
const stopped = (index = 0) => chunk({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })

/** How servers end a stream that they cannot fill. */
const empties: readonly (readonly [string, Script])[] = [
  ['before its first event', events([])],
  ['with one empty choice', events([stopped(), done])],
  [
    'with a role and an empty choice',
    events([chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }), stopped(), done]),
  ],
]

const isStreamed = ({ body }: ReceivedRequest) => /"stream": ?true/.test(body.toString())

/**
 * What llama-cpp-python does with a window of 4,096 tokens of three bytes: a plain request is refused in words, and a
 * stream ends before it has begun.
 */
const silentIn =
  (
    empty: Script,
    streamOf: Script = events([
      chunk({ choices: [{ index: 0, delta: { content: 'fine' } }] }),
      stopped(),
      done,
    ]),
  ): Script =>
  (received) => {
    const tokens = Math.round(received.body.length / 3)
    const message = `This model's maximum context length is 4096 tokens. However, you requested ${tokens} tokens (${tokens} in the messages, None in the completion). Please reduce the length of the messages or completion.`
    const refusal = json(
      {
        error: { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
      },
      400,
    )
    const fits = tokens <= 4_096
    return isStreamed(received) ? (fits ? streamOf : empty) : fits ? completion('fine') : refusal
  }

const dataOf = (text: string): unknown[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event): unknown => JSON.parse(event.slice('data: '.length)))

/** The spelling is the client's: spaces, a number beyond doubles, an unknown field. */
const spelled = (value: string, options: string): string =>
  `{ "model" : "test-model","stream" : ${value}${options}, "seed":12345678901234567890,"messages":[{"role":"user","content":"Hi"}],"x":1e400}`

// llama-cpp-python begins a stream before it has counted the prompt: 200, no event, the end. Behind LiteLLM that is one
// empty choice. It was relayed for ever, while plain requests to the same server were recovered.
describe('a stream that ended with nothing is asked once more, plainly', () => {
  test.each(empties)('%s: the refusal is read, recovered and taught', async (_name, empty) => {
    const at = play(silentIn(empty))
    const reply = await at.post(streamed)
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('recovered')
    expect(reply.header('x-foldgate-attempts')).toBe('3')
    expect(reply.header('content-type')).toContain('text/event-stream')
    expect(reply.text).toContain('"content":"fine"')

    const [first = '', plain, smaller = ''] = at.bodies()
    expect(first).toBe(at.spelt(streamed))
    expect(plain).toBe(first.replace('"stream":true', '"stream":false'))
    expect(smaller).toContain('"stream":true')
    expect(smaller.length).toBeLessThan(first.length)

    const next = await at.post(chatOf([...run, ...run.slice(-2)], { stream: true }))
    expect(next.header('x-foldgate-window')).toBe('4096;source=learnt')
    expect(next.header('x-foldgate-attempts')).toBe('1')
  })

  test('where the window is known, behind a prompt of more than half of it', async () => {
    const empty = events([stopped(), done])
    for (const [tokens, attempts] of [
      [10_000, 3],
      [128_000, 1],
    ] as const) {
      const at = play(silentIn(empty), { window: { tokens, output_reserve: 500 } })
      const reply = await at.post(streamed)
      expect(reply.status).toBe(200)
      expect(at.upstream.requests).toHaveLength(attempts)
    }
  })

  test('everything else of the body stays byte for byte, but options of a stream', async () => {
    const sent = spelled('true', ' , "stream_options": {"include_usage" : true}')
    const at = play([events([]), completion('fine')])
    await at.post(sent)
    expect(at.bodies()).toEqual([sent, spelled('false', '')].map(at.spelt))
  })
})

describe('a plain answer that is good is the stream that the client asked for', () => {
  test.each([
    [false, 0],
    [true, 1],
  ])('with its usage only where that was asked for (%s)', async (isAsked, usages) => {
    const at = play([events([]), completion('All is well.', { prompt_tokens: 9_000 })])
    const options = isAsked ? { stream_options: { include_usage: true } } : {}
    const reply = await at.post({ ...streamed, ...options })
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('relayed')
    expect(reply.header('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(reply.header('content-length')).toBeNull()
    expect(reply.header('x-foldgate-attempts')).toBe('2')
    const chunks = dataOf(reply.text)
    expect(chunks[0]).toMatchObject({
      object: 'chat.completion.chunk',
      id: 'chatcmpl-1',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'All is well.' }, finish_reason: null }],
    })
    expect(chunks[1]).toMatchObject({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    expect(chunks).toHaveLength(2 + usages)
    expect(reply.text.match(/"usage":\{/g) ?? []).toHaveLength(usages)
    expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(at.bodies()[1]).toBe(at.spelt({ ...streamed, stream: false }))
  })
})

describe('whatever else comes of it, the empty answer is the client’s, as it was', () => {
  const empty = `: ping\n\n${stopped()}${done}`
  const answers = bytes(empty, { 'content-type': 'text/event-stream', 'x-first': '1' })
  test.each<[string, Script]>([
    ['another error', json({ error: { message: 'The model is overloaded' } }, 503)],
    ['a refusal for another reason', json({ error: { message: 'Bad request' } }, 400)],
    ['a rate limit', json({ error: { message: 'Too many requests' } }, 429)],
    ['an answer that is empty, too', json({ choices: [{ index: 0, message: { content: '' } }] })],
    ['an error inside an answer', json({ error: { message: 'It went wrong', code: 500 } })],
    ['no JSON', bytes('It went wrong', { 'content-type': 'application/json' })],
    [
      'a connection that is cut',
      (_received, outgoing) => {
        // Reset: a connection that is only closed may have been an old one, and is not taken for an answer.
        outgoing.socket?.resetAndDestroy()
      },
    ],
  ])('%s', async (_name, plain) => {
    const at = play([answers, plain])
    const reply = await at.post(streamed)
    expect(reply.status).toBe(200)
    expect(reply.text).toBe(empty)
    expect(reply.header('x-first')).toBe('1')
    expect(reply.header('x-foldgate-attempts')).toBe('2')
    expect(reply.action).toBe('relayed')
    expect(at.upstream.requests).toHaveLength(2)
  })
})

// A real llama-cpp-python with a template that wants roles to alternate ends the stream of a compacted request, too.
test('where a rewritten request is what the server cannot take, another form of it is sent, and remembered', async () => {
  const order =
    'After the optional system message, conversation roles must alternate user and assistant roles'
  const strict: Script = (received) => {
    const users = /"role":"user"[^}]*\},\{"role":"user"/.test(received.body.toString())
    const refusal = isStreamed(received) ? events([]) : json({ error: { message: order } }, 500)
    return users ? refusal : stream('fine')
  }
  const chat = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `${at} ${'word '.repeat(100)}`,
  })).slice(0, 39)
  const at = play(strict, { window: { tokens: 3_000, output_reserve: 200 } })
  const reply = await at.post(chatOf(chat, { stream: true }))
  expect(reply.text).toContain('fine')
  expect(reply.action).toBe('restored;reason=strict')
  expect(at.upstream.requests.map(isStreamed)).toEqual([true, false, true])
  const more = [...chat, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'And now?' }]
  const next = await at.post(chatOf(more, { stream: true }))
  expect(next.header('x-foldgate-attempts')).toBe('1')
})

describe('what says why it is empty, or is none of ours, is not asked again', () => {
  const usage = { prompt_tokens: 900, completion_tokens: 0 }
  test.each<[string, Script]>([
    [
      'a reason to end',
      events([chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }), done]),
    ],
    [
      'a filter',
      events([chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] }), done]),
    ],
    ['a count of the prompt', events([stopped(), chunk({ choices: [], usage }), done])],
    ['an error of another kind', events([chunk({ error: { message: 'The model is overloaded' } })])],
  ])('%s', async (_name, answer) => {
    const at = play([answer, completion('fine')])
    const reply = await at.post(streamed)
    expect(reply.status).toBe(200)
    expect(reply.text).not.toContain('fine')
    expect(at.upstream.requests).toHaveLength(1)
  })

  test('a plain request', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }]
    for (const answer of [
      json({ choices, usage: { prompt_tokens: 0, completion_tokens: 0 } }),
      bytes('', { 'content-type': 'application/json' }),
    ]) {
      const at = play([answer, completion('fine')])
      expect((await at.post(chatOf(run))).status).toBe(200)
      expect(at.upstream.requests).toHaveLength(1)
    }
  })

  test.each([
    ['a profile that only observes', { observe: true }, {}],
    ['a profile without recovery', { overflow: { attempts: 0 } }, {}],
    ['a bypass', {}, { 'x-foldgate-bypass': '1' }],
  ])('%s', async (_name, profile, headers) => {
    const at = play([events([stopped(), done]), completion('fine')], profile)
    const reply = await at.post(streamed, headers)
    expect(reply.text).toBe(stopped() + done)
    expect(at.upstream.requests).toHaveLength(1)
  })
})
