import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import { longRun } from '../../support/conversations.ts'
import {
  completion,
  events,
  json,
  overflow,
  silence,
  stream,
  type Script,
} from '../../support/fake-upstream.ts'
import { unmeasurable } from '../../support/unmeasurable.ts'
import { eventually } from '../../support/eventually.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { openRaw } from '../../support/raw-client.ts'
import { reportStand, type ReportStand } from './report-stand.ts'

const small = chatOf([{ role: 'user', content: 'hello' }])
const long = chatOf(longRun(60, 2), { model: 'gpt-4o' })
const window = { window: { tokens: 16_000 } }
const usage = {
  prompt_tokens: 11_000,
  completion_tokens: 7,
  total_tokens: 11_007,
  prompt_tokens_details: { cached_tokens: 9_000 },
}

/** Refuses the first request in these words, and answers the next. */
const refusingOnce = (message: string): readonly Script[] => [
  json({ error: { message, type: 'invalid_request_error' } }, 400),
  completion('fine'),
]

/** Takes the request and closes the connection. */
const cut: Script = (_, outgoing) => void outgoing.socket?.destroy()

/** How many requests the metrics have of each action. */
async function actionsOf(at: ReportStand): Promise<Record<string, number>> {
  return Object.fromEntries((await at.metrics()).by('foldgate_requests_total', 'action'))
}

const streamed = (text: string): Script =>
  events([
    `data: {"model":"gpt-4o-2024","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":"stop"}]}\n\n`,
    `data: ${JSON.stringify({ model: 'gpt-4o-2024', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ])

describe.concurrent('each request is a row, a count and headers that say the same', () => {
  test('relayed: its size is a bound, and the provider says what it was', async () => {
    await using at = await reportStand(completion('fine'), { profile: window })
    const reply = await postChat(at.url, small)
    expect(reply.action).toBe('relayed')
    const row = await at.row()
    expect(row).toMatchObject({
      action: 'relayed',
      reason: null,
      status: 200,
      outcome: 'finished',
      streamed: false,
      attempts: 1,
      conversation: reply.header('x-foldgate-conversation'),
      profile: 'default',
      model: 'test-model',
      answered_by: 'fake-model',
      upstream: 'default',
      tokens_are_bounds: true,
      beyond_window: false,
      messages_received: 1,
      messages_sent: 1,
      passes: [],
      summary: 'none',
      compaction: null,
      prompt_tokens: 10,
      cached_tokens: null,
      completion_tokens: 2,
      window_tokens: 16_000,
      window_source: 'config',
      observed_tokens_sent: null,
      observed_passes: [],
    })
    const { tokens_received: received, tokens_sent: sent } = row
    expect(reply.header('x-foldgate-tokens')).toBe(`<${received};sent=<${sent}`)
    expect(await actionsOf(at)).toEqual({ relayed: 1 })
    const metrics = await at.metrics()
    expect(metrics.sum('foldgate_prompt_tokens_total', { stage: 'sent' })).toBe(10)
    expect(metrics.sum('foldgate_prompt_tokens_total', { stage: 'received' })).toBe(10)
    expect(await at.events()).toEqual([])
  })

  test('compacted, plain: its counts, its compaction, and the tokens that came from the cache', async () => {
    await using at = await reportStand(completion('fine', usage), { profile: window })
    const reply = await postChat(at.url, long)
    expect(reply.action).toBe('compacted')
    const row = await at.row()
    expect(row).toMatchObject({
      action: 'compacted',
      compaction: 'trigger',
      tokens_are_bounds: false,
      beyond_window: true,
      prompt_tokens: 11_000,
      cached_tokens: 9_000,
      completion_tokens: 7,
      summary: 'recap',
      passes: (reply.header('x-foldgate-passes') ?? '').split(','),
    })
    expect(reply.header('x-foldgate-tokens')).toBe(`${row.tokens_received};sent=${row.tokens_sent}`)
    expect(row.sent_pressure).toBeLessThan(row.pressure ?? 0)
    const metrics = await at.metrics()
    expect(metrics.sum('foldgate_prompt_tokens_total', { stage: 'cached' })).toBe(9_000)
    expect(metrics.sum('foldgate_requests_beyond_window_total')).toBe(1)
  })

  test('compacted, streamed: usage that Foldgate asked for is told, and the client does not see it', async () => {
    await using at = await reportStand(streamed('fine'), { profile: window })
    const reply = await postChat(at.url, { ...long, stream: true })
    expect(reply.text).toContain('fine')
    expect(reply.text).not.toContain('prompt_tokens')
    expect(await at.row()).toMatchObject({
      action: 'compacted',
      streamed: true,
      outcome: 'finished',
      answered_by: 'gpt-4o-2024',
      prompt_tokens: 11_000,
      cached_tokens: 9_000,
    })
  })

  test('a streamed answer without usage is told by own counts', async () => {
    await using at = await reportStand(stream('fine'), { profile: window })
    await postChat(at.url, { ...long, stream: true })
    const row = await at.row()
    expect(row).toMatchObject({ action: 'compacted', prompt_tokens: null, cached_tokens: null })
    const metrics = await at.metrics()
    const sent = metrics.sum('foldgate_prompt_tokens_total', { stage: 'sent' })
    expect(sent).toBe(row.tokens_sent)
    expect(metrics.sum('foldgate_prompt_tokens_total', { stage: 'received' })).toBe(row.tokens_received)
  })

  test('recovered: counted, not a bound, once it was counted, and two events', async () => {
    await using at = await reportStand([overflow(8_192, 12_500), completion('fine')], {
      // So large that nothing is counted before the refusal.
      profile: { window: { tokens: 1_000_000 } },
    })
    const reply = await postChat(at.url, chatOf(longRun(14, 2)))
    expect(reply.action).toBe('recovered')
    expect(reply.header('x-foldgate-tokens')).toMatch(/^\d+;sent=\d+$/)
    const row = await at.row()
    expect(row).toMatchObject({
      action: 'recovered',
      attempts: 2,
      compaction: 'overflow',
      beyond_window: true,
      tokens_are_bounds: false,
    })
    expect(reply.header('x-foldgate-tokens')).toBe(`${row.tokens_received};sent=${row.tokens_sent}`)
    const told = await at.events()
    expect(told.map(({ type, reason }) => [type, reason])).toEqual([
      ['window', 'refusal'],
      ['compaction', 'overflow'],
      ['recovery', 'recovered'],
    ])
    expect(told[2]).toMatchObject({
      tokens_before: row.tokens_received,
      tokens_after: row.tokens_sent,
      details: { attempts: 2, upstream: 'default' },
    })
    expect((await at.metrics()).sum('foldgate_recoveries_total', { outcome: 'recovered' })).toBe(1)
  })

  test('a refusal that stands is a failed recovery, and the client has the last one', async () => {
    await using at = await reportStand(overflow(2_000), { profile: { window: { tokens: 16_000 } } })
    const reply = await postChat(at.url, chatOf(longRun(14, 2)))
    expect(reply.status).toBe(400)
    const row = await at.row()
    expect(row).toMatchObject({ status: 400, beyond_window: true })
    expect(String(row.attempts)).toBe(reply.header('x-foldgate-attempts'))
    const failed = (await at.events()).filter(({ type }) => type === 'recovery')
    expect(failed).toMatchObject([{ reason: 'failed', details: { status: 400 } }])
    const metrics = await at.metrics()
    expect(metrics.sum('foldgate_recoveries_total', { outcome: 'failed' })).toBe(1)
    expect(metrics.sum('foldgate_recoveries_total', { outcome: 'recovered' })).toBe(0)
  })

  test('restored in the strict form', async () => {
    const alternate = 'Conversation roles must alternate user/assistant/user/assistant/...'
    await using at = await reportStand(refusingOnce(alternate), { profile: window })
    const reply = await postChat(at.url, long)
    expect(reply.action).toBe('restored;reason=strict')
    expect(await at.row()).toMatchObject({ action: 'restored', reason: 'strict', attempts: 2 })
    const told = (await at.events()).find(({ type }) => type === 'restored')
    expect(told).toMatchObject({ reason: 'strict', details: { attempts: 2 } })
  })

  test('restored as the original: it fits as it came, so that is what is known of the window', async () => {
    await using at = await reportStand(refusingOnce('This is not to my taste.'), { profile: window })
    const reply = await postChat(at.url, long)
    expect(reply.action).toBe('restored;reason=original')
    const row = await at.row()
    expect(row).toMatchObject({ reason: 'original', attempts: 2, passes: [], beyond_window: false })
    expect(row.tokens_sent).toBe(row.tokens_received)
    expect(row.messages_sent).toBe(row.messages_received)
    const next = await postChat(at.url, long)
    expect(next.action).toBe('relayed;reason=refused-before')
    expect(await at.row(2)).toMatchObject({ action: 'relayed', reason: 'refused-before' })
  })

  test('bypassed: a row without figures, since nobody has read it', async () => {
    await using at = await reportStand(completion('fine'))
    const reply = await postChat(at.url, small, { 'x-foldgate-bypass': '1' })
    expect(reply.action).toBe('bypassed')
    expect(await at.row()).toMatchObject({
      action: 'bypassed',
      status: 200,
      attempts: 1,
      conversation: null,
      profile: null,
      model: '',
      tokens_received: null,
      tokens_sent: null,
      prompt_tokens: null,
      beyond_window: false,
    })
    expect(await actionsOf(at)).toEqual({ bypassed: 1 })
  })

  test('failed-open: what could not be measured has a row without a size', async () => {
    await using at = await reportStand(completion('fine'), {
      profiles: unmeasurable(window, 'no encoding'),
    })
    const reply = await postChat(at.url, long)
    expect(reply.action).toBe('failed-open;reason=measure')
    expect(reply.header('x-foldgate-tokens')).toBeNull()
    expect(await at.row()).toMatchObject({
      action: 'failed-open',
      reason: 'measure',
      status: 200,
      tokens_received: null,
      prompt_tokens: 10,
      beyond_window: false,
      pressure: null,
    })
    expect(await actionsOf(at)).toEqual({ 'failed-open': 1 })
    expect((await at.metrics()).sum('foldgate_failures_total', { part: 'measure' })).toBe(1)
    expect(at.upstream.requests[0]?.body.toString()).toBe(JSON.stringify(long))
  })

  test('a broken store costs the records, never the row', async () => {
    const inner = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
    const store = {
      ...inner,
      getFirst: async () => Promise.reject(new Error('the store is broken')),
    }
    await using at = await reportStand(completion('fine'), { store, profile: window })
    const reply = await postChat(at.url, long)
    expect(reply.action).toBe('compacted')
    expect(await at.row()).toMatchObject({ action: 'compacted', status: 200 })
    const failure = (await at.events()).find(({ type }) => type === 'failure')
    expect(failure).toMatchObject({ reason: 'store' })
    expect((await at.metrics()).sum('foldgate_failures_total', { part: 'store' })).toBeGreaterThan(0)
  })

  test.each([
    ['malformed', 'this is no JSON', {}],
    ['malformed', gzipSync('still no JSON'), { 'content-encoding': 'gzip' }],
  ])('an unread body is relayed;reason=%s, and told without a size', async (_, body, headers) => {
    await using at = await reportStand(json({ error: { message: 'no' } }, 400))
    const reply = await postChat(at.url, body, headers)
    expect(reply.status).toBe(400)
    expect(reply.action).toMatch(/^relayed;reason=/)
    expect(await at.row()).toMatchObject({
      action: 'relayed',
      reason: reply.action?.split('=')[1],
      status: 400,
      attempts: 1,
      tokens_received: null,
      conversation: null,
    })
    expect(await actionsOf(at)).toEqual({ relayed: 1 })
  })
})

describe.concurrent("an error of Foldgate's own is a row and an event", () => {
  test('an upstream that cannot be reached', async () => {
    await using at = await reportStand(completion('never'), { upstream: 'http://127.0.0.1:9/v1' })
    const reply = await postChat(at.url, small)
    expect(reply.status).toBe(502)
    expect(await at.row()).toMatchObject({
      action: 'refused',
      reason: 'upstream_unreachable',
      status: 502,
      outcome: 'finished',
      profile: 'default',
      model: 'test-model',
      beyond_window: null,
      prompt_tokens: null,
      conversation: expect.stringMatching(/^[\w-]{16}$/),
    })
    expect(await actionsOf(at)).toEqual({ refused: 1 })
    expect(await at.events()).toMatchObject([
      { type: 'error', reason: 'upstream_unreachable', details: { status: 502 } },
    ])
  })

  // An unread request that met a dead upstream, or bypassed everything, was nowhere to be seen.
  test.each([
    ['bypassed', { 'x-foldgate-bypass': '1' }, JSON.stringify(small)],
    ['unread', {}, 'this is no JSON'],
  ])('an upstream that cannot be reached by a request that is %s', async (_, headers, body) => {
    await using at = await reportStand(completion('never'), { upstream: 'http://127.0.0.1:9/v1' })
    expect((await postChat(at.url, body, headers)).status).toBe(502)
    expect(await at.row()).toMatchObject({ action: 'refused', reason: 'upstream_unreachable', status: 502 })
    expect(await actionsOf(at)).toEqual({ refused: 1 })
    expect(await at.events()).toMatchObject([{ type: 'error', reason: 'upstream_unreachable' }])
  })

  test('an unknown profile, and a header that means nothing', async () => {
    await using at = await reportStand(completion('never'))
    expect((await postChat(at.url, small, { 'x-foldgate-profile': 'nobody' })).status).toBe(400)
    expect(await at.row()).toMatchObject({ action: 'refused', reason: 'unknown_profile', status: 400 })
    expect((await postChat(at.url, small, { 'x-foldgate-compact': 'sometimes' })).status).toBe(400)
    expect(await at.row(2)).toMatchObject({ action: 'refused', reason: 'invalid_header', status: 400 })
    expect(at.upstream.requests).toEqual([])
    expect(await actionsOf(at)).toEqual({ refused: 2 })
  })

  test('a body that is too large', async () => {
    await using at = await reportStand(completion('never'), { settings: { limits: { body_mb: 1 } } })
    const huge = chatOf([{ role: 'user', content: 'x'.repeat(2_000_000) }])
    const reply = await postChat(at.url, huge).catch(() => null)
    if (reply !== null) expect(reply.status).toBe(413)
    expect(await at.row()).toMatchObject({ action: 'refused', reason: 'body_too_large', status: 413 })
  })

  // A compaction was recorded, and the next request followed it, but nobody had ever been told of it.
  test('a compaction that was made for a request that met a dead upstream is told', async () => {
    await using at = await reportStand([cut, completion('fine')], { profile: window })
    const broken = await postChat(at.url, long)
    expect(broken.status).toBe(502)
    expect((await postChat(at.url, long)).action).toBe('compacted')
    const rows = await at.rows(2)
    expect(rows.map(({ action, compaction }) => [action, compaction])).toEqual([
      ['refused', 'trigger'],
      ['compacted', null],
    ])
    const compactions = (await at.events()).filter(({ type }) => type === 'compaction')
    expect(compactions).toHaveLength(1)
    const metrics = await at.metrics()
    expect(metrics.sum('foldgate_compactions_total', { pass: 'fold' })).toBe(1)
  })
})

describe.concurrent('a client that leaves', () => {
  test('before the answer is told as one that left', async () => {
    await using at = await reportStand(silence)
    const leaving = new AbortController()
    const asked = postChat(at.url, small, {}, leaving.signal).catch(() => null)
    await eventually(() => expect(at.upstream.requests.length).toBe(1))
    leaving.abort()
    expect(await asked).toBeNull()
    expect(await at.row()).toMatchObject({
      action: 'left',
      reason: null,
      status: null,
      outcome: 'client-gone',
      conversation: expect.stringMatching(/^[\w-]{16}$/),
    })
    expect(await actionsOf(at)).toEqual({ left: 1 })
    expect(await at.events()).toEqual([])
  })

  test('before its body is complete, too', async () => {
    await using at = await reportStand(silence)
    const socket = await openRaw(
      at.foldgate.listening.port,
      'POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{"model"',
    )
    setTimeout(() => socket.destroy(), 50)
    expect(await at.row()).toMatchObject({ action: 'left', outcome: 'client-gone', conversation: null })
    expect(at.upstream.requests).toEqual([])
  })

  test('during the answer: what was done stands, and that it left', async () => {
    await using at = await reportStand(stream('a long answer', 'never'), { profile: window })
    const leaving = new AbortController()
    const answer = await fetch(`${at.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ ...long, stream: true }),
      signal: leaving.signal,
    })
    expect(answer.headers.get('x-foldgate-action')).toBe('compacted')
    leaving.abort()
    expect(await at.row()).toMatchObject({ action: 'compacted', status: 200, outcome: 'client-gone' })
    expect(await actionsOf(at)).toEqual({ compacted: 1 })
    const { conversations }: { conversations: { answering: boolean }[] } = JSON.parse(
      (await at.admin('/conversations')).text,
    )
    expect(conversations).toMatchObject([{ answering: false }])
  })

  test('an answer that breaks off is told as that', async () => {
    await using at = await reportStand(stream('a long answer', 'cut'))
    await postChat(at.url, { ...small, stream: true }).catch(() => null)
    expect(await at.row()).toMatchObject({ action: 'relayed', outcome: 'broken-off' })
  })
})

// The report went with the refusal: the compaction that was made and recorded was told nowhere.
test('a view for whose bytes there is no room is refused, and its compaction is told', async () => {
  await using at = await reportStand(completion('fine'), {
    settings: { limits: { bytes_in_flight_mb: 1 } },
    profile: { window: { tokens: 120_000 } },
  })
  const text = 'reads rows of the ledger and writes them to another one. '
  const messages = Array.from({ length: 100 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${text.repeat(122)}`,
  }))
  expect((await postChat(at.url, chatOf(messages))).status).toBe(503)
  expect(at.upstream.requests).toEqual([])
  const metrics = await at.metrics()
  expect(metrics.sum('foldgate_compactions_total', { pass: 'fold' })).toBe(1)
})
