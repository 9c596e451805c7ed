import { describe, expect, test } from 'vitest'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import {
  bytes,
  completion,
  events,
  json,
  overflow,
  stream,
  windowedAt,
  type ReceivedRequest,
  type Script,
} from '../../support/fake-upstream.ts'
import { chatOf, rawMessages } from '../../support/post-chat.ts'
import { eventually } from '../../support/eventually.ts'
import { openPlays, type Play } from './plays.ts'

const run = longRun(12, 2, 0.5)
const request = chatOf(run)

/** Of a Foldgate that knows no window, unless the profile says one. */
const play = openPlays()

const sizes = (at: Play): number[] => at.bodies().map((body) => body.length)

/** Whether a request holds these messages of the client's, byte for byte. */
function holds(
  received: ReceivedRequest | undefined,
  ...messages: readonly (TestMessage | undefined)[]
): boolean {
  const raw = rawMessages(received)
  return messages.every((message) => raw.includes(JSON.stringify(message)))
}

const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`

const tooLong =
  "This model's maximum context length is 4096 tokens. However, your messages resulted in 6000 tokens."
const innerError = { error: { message: tooLong, type: 'invalid_request_error', code: 400 } }
const roleDelta = chunk({ role: 'assistant', content: '' })

function emptyAnswer(finish: string, promptTokens: number): object {
  const message = { role: 'assistant', content: '' }
  return {
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: { prompt_tokens: promptTokens, completion_tokens: 0, total_tokens: promptTokens },
  }
}

/** Refuses every request, each time in other words. */
function refusing(status: number, message: string): Script {
  let made = 0
  return () => {
    made += 1
    const error = { message: `${message} (refusal ${made})`, code: 'context_length_exceeded' }
    return json({ error }, status, { 'x-refusal': String(made) })
  }
}

const afterHeaders = (headers: Promise<unknown>) => headers.then(() => {})
const afterAWhile = () =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, 60)
  })

describe('an overflow before any output is recovered, and the client sees one good answer', () => {
  const usage = { usage: { prompt_tokens: 11_990, completion_tokens: 0, total_tokens: 11_990 } }
  test.each<[string, Script]>([
    ['400 with numbers', overflow(4_096, 6_000)],
    ['413 without a body', bytes('', {}, 413)],
    ['413 that means bytes', json({ error: 'Request Entity Too Large' }, 413)],
    [
      '422',
      json(
        {
          error:
            'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 6000 `inputs` tokens and 500 `max_new_tokens`',
        },
        422,
      ),
    ],
    [
      '500 with numbers',
      json(
        { error: { message: 'request (6000 tokens) exceeds the available context size (4096 tokens)' } },
        500,
      ),
    ],
    ['an error inside a plain 200', json(innerError)],
    [
      'a plain answer that ends with length, is empty and fills the window',
      json(emptyAnswer('length', 11_990)),
    ],
    [
      'an error as the first event of a stream',
      events([`data: ${JSON.stringify(innerError)}\n\n`, 'data: [DONE]\n\n']),
    ],
    [
      'an error event behind comments and a role delta',
      events([': wait\n\n', roleDelta, `event: error\ndata: ${JSON.stringify(innerError)}\n\n`]),
    ],
    [
      'a stream that ends with length, is empty and fills the window',
      events([
        roleDelta,
        chunk({}, 'length'),
        `data: ${JSON.stringify({ choices: [], ...usage })}\n\n`,
        'data: [DONE]\n\n',
      ]),
    ],
    ['a bare JSON error under the name of a stream', events([JSON.stringify(innerError)])],
  ])('%s', async (name, refusal) => {
    const good = name.includes('plain') || name.includes('stream') ? stream : completion
    const at = play([refusal, good('all is well')], { window: { tokens: 12_000 } })
    const reply = await at.post(request)
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('recovered')
    expect(reply.header('x-foldgate-attempts')).toBe('2')
    expect(reply.text.replaceAll(/[^a-z ]/g, '')).toContain('well')
    expect(reply.text).not.toContain('error')
    expect(reply.text.match(/"role":"assistant"/g)).toHaveLength(1)
    const [first, second] = at.upstream.requests
    expect(first?.body.toString()).toBe(at.spelt(request))
    expect(second?.body.length).toBeLessThan((first?.body.length ?? 0) * 0.8)
    expect(holds(second, run[0], run[1], ...run.slice(-2))).toBe(true)
  })

  test('a compressed refusal is understood, too', async () => {
    const { gzipSync } = await import('node:zlib')
    const body = gzipSync(JSON.stringify(innerError))
    const at = play([
      bytes(body, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 400),
      completion('fine'),
    ])
    expect((await at.post(request)).status).toBe(200)
    expect(at.upstream.requests).toHaveLength(2)
  })

  test('x-foldgate-compact: off leaves recovery on; bypass and observe do not', async () => {
    const off = play([overflow(4_096, 6_000), completion('fine')])
    expect((await off.post(request, { 'x-foldgate-compact': 'off' })).status).toBe(200)
    expect(off.upstream.requests).toHaveLength(2)

    const bypass = play([overflow(4_096, 6_000), completion('fine')])
    expect((await bypass.post(request, { 'x-foldgate-bypass': '1' })).status).toBe(400)
    expect(bypass.upstream.requests).toHaveLength(1)

    const observe = play([overflow(4_096, 6_000), completion('fine')], { observe: true })
    expect((await observe.post(request)).status).toBe(400)
    expect(observe.upstream.requests).toHaveLength(1)
  })
})

describe('recovery is bounded', () => {
  test.each([1, 2, 3])(
    'at %s attempts, each smaller than the one before, the last the smallest form',
    async (attempts) => {
      const at = play(refusing(400, 'context length exceeded'), { overflow: { attempts } })
      const conversation = [...run, { role: 'user', content: 'And the log? Which line was it?' }]
      const reply = await at.post(chatOf(conversation))
      expect(reply.status).toBe(400)
      expect(at.upstream.requests).toHaveLength(attempts + 1)
      const made = sizes(at)
      for (const [index, size] of made.entries()) {
        if (index > 0) expect(size).toBeLessThan(made[index - 1] ?? 0)
      }
      const last = at.upstream.requests.at(-1)
      expect(holds(last, conversation[0], conversation[1], conversation.at(-1))).toBe(true)
      // System, task, recap, and the newest round: the last calls, their results, what the user said then.
      expect(rawMessages(last).length).toBeLessThanOrEqual(7)
    },
  )

  test("when nothing helps, the upstream's own last error is the client's, unchanged", async () => {
    const at = play(refusing(400, 'context length exceeded'))
    const reply = await at.post(request)
    expect(reply.status).toBe(400)
    expect(reply.text).toBe(
      '{"error":{"message":"context length exceeded (refusal 4)","code":"context_length_exceeded"}}',
    )
    expect(reply.header('x-refusal')).toBe('4')
    expect(reply.header('x-foldgate-attempts')).toBe('4')
    expect(reply.action).not.toMatch(/recovered/)
  })

  test('a request of which nothing can be taken away is not sent again', async () => {
    const at = play(overflow(100, 5_000))
    const reply = await at.post(chatOf([{ role: 'user', content: 'one long question '.repeat(500) }]))
    expect(reply.status).toBe(400)
    expect(at.upstream.requests).toHaveLength(1)
  })

  test('a limit of bytes or messages makes it smaller once, and teaches no window', async () => {
    const tooManyBytes = json({ error: 'Request Entity Too Large' }, 413)
    const at = play([tooManyBytes, tooManyBytes, completion('fine')])
    expect((await at.post(request)).status).toBe(413)
    expect(at.upstream.requests).toHaveLength(2)
    const later = await at.post(chatOf(longRun(16, 3, 0.5)))
    expect(later.header('x-foldgate-window')).toBe('128000;source=default')
    expect(at.upstream.requests).toHaveLength(3)
  })
})

describe('what is no overflow is never sent again', () => {
  test.each<[string, number, object]>([
    ['a rate limit in the words of an overflow', 429, { message: tooLong, code: 'context_length_exceeded' }],
    ['authentication', 401, { message: tooLong, code: 'invalid_api_key' }],
    [
      'an output cap',
      400,
      { message: 'max_tokens is too large: 99999. This model supports at most 16384 completion tokens' },
    ],
    ['an outage', 503, { message: 'The model is overloaded' }],
  ])('%s', async (_name, status, error) => {
    const at = play([json({ error }, status, { 'retry-after': '7' }), completion('fine')])
    const reply = await at.post({ ...request, max_tokens: 99_999 })
    expect(reply.status).toBe(status)
    expect(JSON.parse(reply.text)).toEqual({ error })
    expect(reply.header('retry-after')).toBe('7')
    expect(at.upstream.requests).toHaveLength(1)
    const later = await at.post(request)
    expect(later.header('x-foldgate-window')).toBe('128000;source=default')
  })

  test('an empty answer with a large prompt, where the window is only a guess', async () => {
    // A model with a window larger than the guess answers with nothing: that is no overflow of ours to cure.
    const at = play(json(emptyAnswer('stop', 190_000)))
    const reply = await at.post(request)
    expect(reply.action).toBe('relayed')
    expect(at.upstream.requests).toHaveLength(1)
    const later = await at.post(request)
    expect(later.header('x-foldgate-window')).toBe('128000;source=default')
  })
})

describe('an overflow teaches', () => {
  const other = chatOf(longRun(16, 5, 0.5))

  test('the next request of the same model and credential is under the window before it is sent', async () => {
    const at = play(windowedAt(4_096))
    const first = await at.post(request)
    expect(first.action).toBe('recovered')
    const made = at.upstream.requests.length
    for (const next of [other, request]) {
      const reply = await at.post(next)
      expect(reply.action).toBe('compacted')
      expect(reply.header('x-foldgate-attempts')).toBe('1')
      expect(reply.header('x-foldgate-window')).toBe('4096;source=learnt')
      const [, sent] = /sent=(\d+)/.exec(reply.header('x-foldgate-tokens') ?? '') ?? []
      expect(Number(sent)).toBeLessThanOrEqual(4_096)
    }
    expect(at.upstream.requests).toHaveLength(made + 2)
  })

  test('a recovered view is kept: the conversation goes on from it', async () => {
    // This upstream counts other tokens than ours, and a refusal calibrates nothing: there has to be room for that.
    const at = play(windowedAt(4_096), { target: 0.5 })
    await at.post(request)
    const recovered = rawMessages(at.upstream.requests.at(-1))
    const grown = [...run, { role: 'assistant', content: 'Found it.' }, { role: 'user', content: 'Go on.' }]
    await at.post(chatOf(grown))
    const sent = rawMessages(at.upstream.requests.at(-1))
    expect(sent.slice(0, recovered.length)).toEqual(recovered)
    expect(sent.slice(recovered.length)).toEqual(grown.slice(-2).map((message) => JSON.stringify(message)))
  })

  test('an overflow without numbers holds for its conversation, and for all once a second one confirms it', async () => {
    const refusal = json({ error: { message: 'Prompt exceeds max length', code: '1261' } }, 400)
    const at = play([refusal, completion('fine'), completion('fine'), refusal, completion('fine')])
    await at.post(request)
    const stranger = await at.post(other)
    expect(stranger.action).toBe('relayed')
    const same = await at.post(
      chatOf([...run, { role: 'assistant', content: 'a' }, { role: 'user', content: 'b' }]),
    )
    expect(same.header('x-foldgate-window')).toMatch(/;source=learnt$/)
  })

  test.each([
    [422, 'learnt'],
    [404, 'default'],
  ])(
    'one without numbers with status %i: the next request has the window that is %s',
    async (status, source) => {
      const refusal = json({ error: { message: 'Prompt exceeds max length', code: '1261' } }, status)
      const at = play([refusal, completion('fine')])
      expect((await at.post(request)).action).toBe('recovered')
      const grown = [...run, { role: 'assistant', content: 'a' }, { role: 'user', content: 'b' }]
      const next = await at.post(chatOf(grown))
      expect(next.header('x-foldgate-window')).toMatch(new RegExp(`;source=${source}$`))
    },
  )

  test('output that is already there is passed on, and the overflow behind it teaches', async () => {
    const pieces = [roleDelta, chunk({ content: 'half an ans' }), `data: ${JSON.stringify(innerError)}\n\n`]
    const at = play([events(pieces), completion('fine')])
    const reply = await at.post({ ...request, stream: true })
    expect(reply.status).toBe(200)
    expect(reply.text).toBe(pieces.join(''))
    expect(at.upstream.requests).toHaveLength(1)
    const later = await at.post(other)
    expect(later.header('x-foldgate-window')).toBe('4096;source=learnt')
    expect(later.action).toBe('compacted')
    expect(at.upstream.requests).toHaveLength(2)
  })
})

describe('the hold', () => {
  /** Answers 200 with a role delta, and goes on when it is told to. */
  function late(order: string[], turn: Promise<void>): Script {
    return async (_received, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'x-early': 'yes' })
      outgoing.write(roleDelta)
      await turn
      order.push('first delta')
      outgoing.end(`${chunk({ content: 'late' })}data: [DONE]\n\n`)
    }
  }
  const expected = `${roleDelta}${chunk({ content: 'late' })}data: [DONE]\n\n`

  async function held(profile: object, body: object, turn: (headers: Promise<unknown>) => Promise<void>) {
    const order: string[] = []
    const headers = Promise.withResolvers<void>()
    const at = play(late(order, turn(headers.promise)), profile)
    const answer = await fetch(`${at.url}/chat/completions`, { method: 'POST', body: at.spelt(body) })
    order.push('headers')
    headers.resolve()
    expect(await answer.text()).toBe(expected)
    return order
  }
  const small = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }

  test('an answer that may still be an overflow is held until its first delta', async () => {
    const profile = { overflow: { hold_ms: 60_000 } }
    expect(await held(profile, { ...request, stream: true }, afterAWhile)).toEqual(['first delta', 'headers'])
  })

  test('at most hold_ms: then the headers go out, and the stream stays whole', async () => {
    const profile = { overflow: { hold_ms: 5 } }
    expect(await held(profile, { ...request, stream: true }, afterHeaders)).toEqual([
      'headers',
      'first delta',
    ])
  })

  test('nothing is held where an overflow is impossible: a small prompt in a window that is known', async () => {
    const profile = { window: { tokens: 128_000 }, overflow: { hold_ms: 60_000 } }
    expect(await held(profile, small, afterHeaders)).toEqual(['headers', 'first delta'])
  })

  test('a small prompt is held where the window is a guess', async () => {
    expect(await held({ overflow: { hold_ms: 60_000 } }, small, afterAWhile)).toEqual([
      'first delta',
      'headers',
    ])
  })

  // An operator's window may be too large by far, and refusals that come inside a 200 mostly say no numbers.
  const unstated = {
    message: 'Your input exceeds the context window of this model.',
    code: 'context_length_exceeded',
  }
  const overflowing = events([roleDelta, `data: ${JSON.stringify({ error: unstated })}\n\n`])

  test('a form that follows an overflow is held however small it is: it may be too long, too', async () => {
    const script = [overflowing, overflowing, stream('fine')]
    const at = play(script, { window: { tokens: 10_000, output_reserve: 500 } })
    const answer = await at.post({ ...request, stream: true })
    expect(answer.header('x-foldgate-attempts')).toBe('3')
    expect(answer.text).toContain('fine')
  })

  // A model that is served with less than its name promises refused inside a 200, far below what the table has of the name. The
  // first refusal reached the client, since nothing was held there.
  test('a window that only the table has, by the name, rules no overflow out', async () => {
    const gpt = { ...request, model: 'gpt-4.1', stream: true }
    const at = play([overflowing, stream('fine')])
    const answer = await at.post(gpt)
    expect(answer.action).toBe('recovered')
    expect(answer.text).toContain('fine')
    const others = await at.post(gpt, { authorization: 'Bearer another-key' })
    expect(others.header('x-foldgate-window')).toContain('table')
  })

  test('one that nobody could expect is passed on, and the next is not', async () => {
    const script = [overflowing, overflowing, stream('fine')]
    const at = play(script, { window: { tokens: 48_000 } })
    const passed = await at.post({ ...request, stream: true })
    expect(passed.text).toContain('context_length_exceeded')
    const answer = await at.post({ ...request, stream: true })
    expect(answer.header('x-foldgate-action')).toBe('recovered')
    expect(answer.text).toContain('fine')
  })

  test('a client that leaves while its answer is held cancels the upstream call, and nothing is sent again', async () => {
    const begun = Promise.withResolvers<void>()
    const waiting: Script = (_received, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write(roleDelta, () => begun.resolve())
    }
    const at = play([waiting, completion('fine')], { overflow: { hold_ms: 60_000 } })
    const leaving = new AbortController()
    const answer = fetch(`${at.url}/chat/completions`, {
      method: 'POST',
      body: at.spelt({ ...request, stream: true }),
      signal: leaving.signal,
    })
    await begun.promise
    leaving.abort()
    await expect(answer).rejects.toThrow(/abort/)
    await eventually(() => expect(at.upstream.requests[0]?.left).toBe(true))
    expect((await at.post(request)).status).toBe(200)
    expect(at.upstream.requests).toHaveLength(2)
  })

  test('an overflow that comes after the hold is passed on, and teaches', async () => {
    const release = Promise.withResolvers<void>()
    const script: Script = async (_received, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write(roleDelta)
      await release.promise
      outgoing.end(`data: ${JSON.stringify(innerError)}\n\n`)
    }
    const at = play([script, completion('fine')], { overflow: { hold_ms: 5 } })
    const answer = await fetch(`${at.url}/chat/completions`, {
      method: 'POST',
      body: at.spelt({ ...request, stream: true }),
    })
    release.resolve()
    expect(await answer.text()).toBe(`${roleDelta}data: ${JSON.stringify(innerError)}\n\n`)
    expect(at.upstream.requests).toHaveLength(1)
    const later = await fetch(`${at.url}/chat/completions`, { method: 'POST', body: at.spelt(request) })
    expect(later.headers.get('x-foldgate-window')).toBe('4096;source=learnt')
  })
})

describe('idempotency keys', () => {
  test('a resend carries a fresh one, since its body is another', async () => {
    const at = play([overflow(4_096, 6_000), overflow(3_000, 4_000), completion('fine')])
    await at.post(request, { 'Idempotency-Key': 'key-1' })
    const keys = at.upstream.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(keys[0]).toBe('key-1')
    expect(new Set(keys).size).toBe(3)
    for (const key of keys.slice(1)) expect(key).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('none is made up for a client that sent none', async () => {
    const at = play([overflow(4_096, 6_000), completion('fine')])
    await at.post(request)
    for (const { headers } of at.upstream.requests) expect(headers['idempotency-key']).toBeUndefined()
  })
})
