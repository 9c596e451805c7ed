import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { longConversation } from '../../support/long-conversation.ts'
import { eventually } from '../../support/eventually.ts'
import { events, json, overflow, silence, type Script } from '../../support/fake-upstream.ts'
import { openRaw } from '../../support/raw-client.ts'
import { answerOf, apis, ask, isPassed, plainStand, warmUp } from './plain-stand.ts'
import type { ReportStand } from '../../activity/report/report-stand.ts'

const [chat, messages, responses] = apis

/** An upstream that answers as it should until it is told another answer for the next one. */
function changing(usual: Script) {
  const later: Script[] = []
  const script: Script = (...exchange) => (later.shift() ?? usual)(...exchange)
  return { script, next: (...scripts: readonly Script[]) => void later.push(...scripts) }
}

/** Some 4,000 tokens at most of their bytes, which a window of 100,000 need not count. */
const turns = longConversation().slice(-21)
const long = (more: object = {}): string => JSON.stringify({ model: 'test-model', messages: turns, ...more })

async function warmed(at: ReportStand, more: object = {}): Promise<void> {
  await warmUp((turn) => ask(at, chat.path, chat.body(`Ask ${turn}.`, more)))
}

// Where all are looked into the same is told by the tests of recovery.
describe('an answer to a small request that nobody looks into', () => {
  test('is recovered from an overflow: two requests, the second of them smaller', async () => {
    const { script, next } = changing(answerOf(chat))
    await using at = await plainStand(script)
    await warmed(at)
    const body = long()
    expect(isPassed(await ask(at, chat.path, body))).toBe(true)
    const before = at.upstream.requests.length
    next(overflow(1_100, 5_000))
    const answer = await ask(at, chat.path, body)
    expect([answer.status, answer.headers['x-foldgate-action']]).toEqual([200, 'recovered'])
    expect(answer.headers['x-foldgate-attempts']).toBe('2')
    const [first, second, third] = at.upstream.requests.slice(before)
    expect(first?.body.toString()).toBe(body)
    expect(second?.body.length).toBeLessThan(body.length / 2)
    expect(third).toBeUndefined()
    expect((await at.metrics()).sum('foldgate_recoveries_total', { outcome: 'recovered' })).toBe(1)

    // The window that it stated is far below the profile's: it holds once it was stated twice.
    next(overflow(1_100, 5_000))
    await ask(at, chat.path, long({ user: 'anybody' }))
    const again = await ask(at, chat.path, long({ user: 'somebody' }))
    expect(again.headers['x-foldgate-window']).toMatch(/^1100;source=/)
    expect(again.headers['x-foldgate-action']).toBe('compacted')
    expect(at.upstream.requests).toHaveLength(before + 5)
  })

  test('is what the upstream said, whatever that was', async () => {
    const { script, next } = changing(answerOf(chat))
    await using at = await plainStand(script)
    await warmed(at)
    const errors = [
      [400, { message: 'unknown field', type: 'invalid_request_error' }],
      [429, { message: 'slow down', type: 'rate_limit_error' }],
      [500, { message: 'oops', type: 'server_error' }],
    ] as const
    for (const [status, error] of errors) {
      const before = at.upstream.requests.length
      next(json({ error }, status, { 'x-of-the-upstream': 'kept' }))
      const answer = await ask(at, chat.path, long())
      expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([status, { error }])
      expect(answer.headers['x-of-the-upstream']).toBe('kept')
      expect(at.upstream.requests).toHaveLength(before + 1)
      const { sum } = await at.metrics()
      expect(sum('foldgate_error_answers_total', { status: String(status) })).toBe(1)
    }
  })
})

// A server that runs a model of a known name with a small window says so inside a 200.
describe('an error inside a 200 of a model that the table lists elsewhere', () => {
  const error = { message: 'prompt is too long: 9000 tokens > 2000 maximum', type: 'invalid_request_error' }
  test.each<[string, boolean, Script]>([
    ['a plain answer', false, json({ error })],
    ['the first event of a stream', true, events([`data: ${JSON.stringify({ error })}\n\n`])],
    [
      'a stream behind its first event',
      true,
      events([chat.streamed[0] ?? '', `data: ${JSON.stringify({ error })}\n\n`]),
    ],
  ])('is never shown, and recovered: %s', async (_name, stream, refusal) => {
    const { script, next } = changing(answerOf(chat))
    await using at = await plainStand(script, { profile: {} })
    const more = { model: 'gpt-4o', ...(stream ? { stream } : {}) }
    await warmed(at, more)
    const before = at.upstream.requests.length
    next(refusal)
    const answer = await ask(at, chat.path, long(more))
    expect(answer.headers['x-foldgate-action']).toBe('recovered')
    expect(answer.body.toString()).not.toContain('prompt is too long')
    expect(answer.body.toString()).toContain('Fi')
    expect(at.upstream.requests).toHaveLength(before + 2)
  })

  test.each([chat, messages, responses])('and an answer of it goes on as it came: $path', async (api) => {
    await using at = await plainStand(answerOf(api), { profile: {} })
    for (const more of [{}, { stream: true }]) {
      const body = (turn: number): string => api.body(`Ask ${turn}.`, more).replace('test-model', 'gpt-4o')
      await warmUp((turn) => ask(at, api.path, body(turn)))
      const answer = await ask(at, api.path, body(99))
      expect(isPassed(answer)).toBe(true)
      expect(answer.headers['x-foldgate-window']).toBe('128000;source=table')
      const direct = await ask({ url: at.upstream.url }, api.path, body(99))
      expect(answer.body.toString()).toBe(direct.body.toString())
    }
  })
})

test('an answer that breaks off breaks off for the client, and is told in the log', async () => {
  const { script, next } = changing(answerOf(chat))
  await using at = await plainStand(script)
  const more = { stream: true }
  await warmed(at, more)
  next(events(chat.streamed.slice(0, 2), 'cut'))
  await expect(ask(at, chat.path, chat.body('Ask.', more))).rejects.toThrow(/aborted|hang up|ECONNRESET/)
  await eventually(() => expect(at.foldgate.log.join('\n')).toContain('upstream_broken'))
  expect(isPassed(await ask(at, chat.path, chat.body('Ask again.', more)))).toBe(true)
})

test('an upstream that is gone is the same error as ever, in the answer and in the metrics', async () => {
  await using at = await plainStand(answerOf(chat))
  await warmed(at)
  const before = (await at.metrics()).sum('foldgate_requests_total')
  await at.upstream.close()
  const answer = await ask(at, chat.path, chat.body('Ask.'))
  const error = { type: 'foldgate_error', code: 'upstream_unreachable' }
  expect([answer.status, JSON.parse(answer.body.toString())]).toMatchObject([502, { error }])
  const { sum, by } = await at.metrics()
  expect(sum('foldgate_requests_total')).toBe(before + 1)
  expect(sum('foldgate_requests_total', { action: 'refused' })).toBe(1)
  expect([...by('foldgate_error_answers_total', 'code')]).toEqual([['upstream_unreachable', 1]])
})

test.each([
  ['before there is an answer', silence],
  ['in the middle of one', events(chat.streamed.slice(0, 2), 'never')],
])('a client that leaves %s cancels the upstream’s request', async (_name, script) => {
  const { script: upstream, next } = changing(answerOf(chat))
  await using at = await plainStand(upstream)
  const more = { stream: true }
  await warmed(at, more)
  const before = at.upstream.requests.length
  next(script)
  const body = chat.body('Ask.', more)
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    'authorization: Bearer key-of-a-test',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  const socket = await openRaw(at.foldgate.listening.port, `${head.join('\r\n')}\r\n\r\n${body}`)
  await eventually(() => expect(at.upstream.requests).toHaveLength(before + 1))
  if (script !== silence) await once(socket, 'data')
  socket.destroy()
  await eventually(() => expect(at.upstream.requests.at(-1)?.left).toBe(true))
  expect(at.upstream.requests).toHaveLength(before + 1)
})
