import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JournalEvent, UsageRow } from '../../../src/telemetry/journal/rows.ts'
import { profilesOf } from '../../support/profiles.ts'
import { memoryStore } from '../../admin/memory.ts'
import type { Metrics } from '../../runs/activity/metrics.ts'
import { longRun } from '../../support/conversations.ts'
import { eventually } from '../../support/eventually.ts'
import {
  completion,
  events,
  json,
  overflow,
  silence,
  stream,
  type Script,
} from '../../support/fake-upstream.ts'
import { chatOf, postChat, type ChatReply } from '../../support/post-chat.ts'
import { openRaw } from '../../support/raw-client.ts'
import { unmeasurable } from '../../support/models.ts'
import { reportStand, type ReportStand } from './report-stand.ts'

const hello = [{ role: 'user', content: 'hello PLANTED' }]
const small = chatOf(hello)
// Some ten thousand tokens.
const run = [{ role: 'system', content: 'Be PLANTED.' }, ...longRun(14, 2)]
const long = chatOf(run, { model: 'gpt-4o' })
// Down to a target of its own: clearing alone is not enough for it, and a recap stands in each view.
const window = { window: { tokens: 6_000, output_reserve: 1_000 }, target: 0.7 }
// So large that nothing is counted before a refusal.
const uncounted = { window: { tokens: 1_000_000 } }
const early = { window: { tokens: 60_000 }, trigger: 0.1, target: 0.05 }
const cached = { prompt_tokens_details: { cached_tokens: 3_000 } }
const usage = { prompt_tokens: 4_100, completion_tokens: 7, total_tokens: 4_107, ...cached }
const counted = { prompt_tokens: 4_100, cached_tokens: 3_000 }
const untouched = { messages_received: 1, messages_sent: 1, passes: [], summary: 'none', compaction: null }
const [compacted, recovered] = [{ action: 'compacted' }, { action: 'recovered' }]

/** Refuses the first request with these words, and answers the next. */
const refusingOnce = (error: object): readonly Script[] => [
  json({ error: { type: 'invalid_request_error', ...error } }, 400),
  completion('PLANTED'),
]

/** Whether the upstream takes requests and closes their connections. */
let isCutOff = true
const cutOff: Script = (_request, outgoing) =>
  isCutOff ? void outgoing.socket?.destroy() : completion('PLANTED')

const streamed = events([
  'data: {"model":"gpt-4o-2024","choices":[{"index":0,"delta":{"content":"fine"},"finish_reason":"stop"}]}\n\n',
  `data: ${JSON.stringify({ model: 'gpt-4o-2024', choices: [], usage })}\n\n`,
  'data: [DONE]\n\n',
])

const anId = expect.stringMatching(/^[\w-]{16}$/)

type Play = (at: ReportStand, headers: Readonly<Record<string, string>>) => Promise<ChatReply | null>

type Case = {
  /** What the upstream answers. Default: a completion. */
  readonly script?: Script | readonly Script[]
  /** Its profile. Default: a window of 6,000 tokens. */
  readonly profile?: object
  readonly body?: object | string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** How it is asked, where that is more than one request. */
  readonly play?: Play
  /** The rows of its requests; one where it is one. */
  readonly rows: object | readonly object[]
  /** The events that speak of its conversation. Default: none. */
  readonly events?: readonly object[]
  /** The metrics of its profile: name and value of a label, and the value. */
  readonly counts?: readonly (readonly [name: string, label: string, value: string, count: number])[]
  /** What is said to the client, and how that goes with the row. */
  readonly told?: (reply: ChatReply, row: UsageRow) => void
}

/** Tells `told`'s header of sizes from the row. */
const sizes = ({ tokens_received: received, tokens_sent: sent, tokens_are_bounds: are }: UsageRow): string =>
  are ? `<${received};sent=<${sent}` : `${received};sent=${sent}`

/** An answer whose headers say what the row says. */
const agreeing = (reply: ChatReply, row: UsageRow): void => {
  expect(reply.action).toBe(row.reason === null ? row.action : `${row.action};reason=${row.reason}`)
  expect(reply.header('x-foldgate-conversation')).toBe(row.conversation)
  expect(reply.header('x-foldgate-tokens')).toBe(sizes(row))
  expect(reply.header('x-foldgate-passes')).toBe(row.passes.length === 0 ? null : row.passes.join(','))
  expect(reply.header('x-foldgate-attempts')).toBe(String(row.attempts))
}

const compaction = (reason = 'trigger') => ({ type: 'compaction', reason })
const unread = { conversation: null, profile: null, model: '', tokens_received: null, tokens_sent: null }
const unreachable = { action: 'refused', reason: 'upstream_unreachable', status: 502 }

const asking =
  (body: object | string | Buffer): Play =>
  (at, headers) =>
    postChat(at.url, body, headers)

/** What the page's list says of the conversation of an answer. */
const cardOf = async (at: ReportStand, id: string | null | undefined): Promise<object> =>
  JSON.parse((await at.admin(`/conversations/${id}`)).text)

/** Asks, and leaves once the upstream has it, or once there are headers. */
const leaving =
  (body: object, when: 'asked' | 'answered'): Play =>
  async (at, headers) => {
    const leave = new AbortController()
    const before = at.upstream.requests.length
    const request = { method: 'POST', body: JSON.stringify(body), headers, signal: leave.signal }
    const asked = fetch(`${at.url}/chat/completions`, request).catch(() => null)
    if (when === 'asked') await eventually(() => expect(at.upstream.requests).toHaveLength(before + 1))
    const answer = when === 'asked' ? null : await asked
    leave.abort()
    await asked
    const id = answer?.headers.get('x-foldgate-conversation')
    if (answer !== null)
      await eventually(async () => expect(await cardOf(at, id)).toMatchObject({ answering: false }))
    return null
  }

const cases: Readonly<Record<string, Case>> = {
  'relayed: its size is a bound, and the provider says what it was': {
    play: async (at, headers) => {
      const label = 'Réparation of build 7'
      const reply = await postChat(at.url, small, { ...headers, 'x-foldgate-conversation': label })
      const more = [
        { role: 'assistant', content: 'fine' },
        { role: 'user', content: 'more' },
      ]
      // One that comes without keeps the name that its conversation has.
      await postChat(at.url, chatOf([...hello, ...more]), headers)
      const id = reply.header('x-foldgate-conversation')
      await eventually(async () => expect(await cardOf(at, id)).toMatchObject({ id, label, requests: 2 }))
      return reply
    },
    rows: [
      {
        action: 'relayed',
        reason: null,
        status: 200,
        outcome: 'finished',
        streamed: false,
        attempts: 1,
        model: 'test-model',
        answered_by: 'fake-model',
        upstream: 'default',
        label: 'Réparation of build 7',
        observed_tokens_sent: null,
        observed_passes: [],
        tokens_are_bounds: true,
        beyond_window: false,
        window_tokens: 6_000,
        window_source: 'config',
        ...untouched,
        prompt_tokens: 10,
        cached_tokens: null,
        completion_tokens: 2,
      },
      { label: null },
    ],
    counts: [
      ['requests_total', 'action', 'relayed', 2],
      ['prompt_tokens_total', 'stage', 'sent', 20],
      ['prompt_tokens_total', 'stage', 'received', 20],
      ['requests_beyond_window_total', 'profile', '', 0],
    ],
    told: agreeing,
  },
  'compacted, plain: its counts, its compaction, and the tokens that came from the cache': {
    script: completion('PLANTED', usage),
    body: long,
    rows: {
      ...compacted,
      compaction: 'trigger',
      tokens_are_bounds: false,
      beyond_window: true,
      ...counted,
      completion_tokens: 7,
      summary: 'recap',
      label: null,
    },
    events: [compaction()],
    counts: [
      ['prompt_tokens_total', 'stage', 'cached', 3_000],
      ['requests_beyond_window_total', 'profile', '', 1],
    ],
    told: (reply, row) => {
      agreeing(reply, row)
      expect(row.sent_pressure).toBeLessThan(row.pressure ?? 0)
    },
  },
  'compacted, streamed: usage that Foldgate asked for is told, and the client does not see it': {
    script: streamed,
    body: { ...long, stream: true },
    rows: { ...compacted, streamed: true, outcome: 'finished', answered_by: 'gpt-4o-2024', ...counted },
    events: [compaction()],
    told: ({ text }) => {
      expect(text).toContain('fine')
      expect(text).not.toContain('prompt_tokens')
    },
  },
  'a streamed answer without usage is told by own counts': {
    script: stream('fine'),
    body: { ...long, stream: true },
    rows: { ...compacted, prompt_tokens: null, cached_tokens: null },
    events: [compaction()],
  },
  'compacted long before the window was full': {
    profile: early,
    body: { ...long, max_tokens: 100 },
    rows: { ...compacted, beyond_window: false },
    events: [compaction()],
  },
  'compacted, and only the output that it asks for takes it beyond the window that both share': {
    profile: early,
    body: { ...long, max_tokens: 53_000 },
    rows: { ...compacted, beyond_window: true },
    events: [compaction()],
    told: (_, { tokens_received: tokens }) => expect(tokens).toBeLessThan(12_000),
  },
  'compacted for a window that is a guess': {
    profile: { trigger: 0.1, target: 0.05 },
    body: chatOf(longRun(26, 2)),
    rows: { ...compacted, beyond_window: null, window_source: 'default' },
    events: [compaction()],
  },
  'recovered: counted, not a bound, once it was counted, and its events': {
    script: [overflow(8_192, 10_500), completion('PLANTED'), overflow(8_192, 10_500), completion('PLANTED')],
    profile: uncounted,
    play: async (at, headers) => {
      const reply = await postChat(at.url, chatOf(run), headers)
      // Another conversation, whose refusal states the same window.
      await postChat(at.url, chatOf(longRun(13, 9)), headers)
      return reply
    },
    rows: [
      { ...recovered, attempts: 2, compaction: 'overflow', beyond_window: true, tokens_are_bounds: false },
      { status: 200, attempts: 2 },
    ],
    events: [
      compaction('overflow'),
      { type: 'recovery', reason: 'recovered', details: { attempts: 2, upstream: 'default' } },
    ],
    told: agreeing,
  },
  'recovered after a refusal without numbers, which is told of this conversation': {
    script: refusingOnce({ message: 'The prompt is too long.', code: 'context_length_exceeded' }),
    profile: uncounted,
    body: chatOf(run),
    rows: { action: 'recovered' },
    events: [{ type: 'window', reason: 'unstated' }, compaction('overflow'), { type: 'recovery' }],
  },
  'a refusal that stands is a failed recovery, and the client has the last one': {
    script: overflow(2_000),
    body: chatOf(run, { model: 'refused' }),
    rows: { status: 400, beyond_window: true },
    events: [
      compaction(),
      compaction('overflow'),
      { type: 'recovery', reason: 'failed', details: { status: 400 } },
    ],
    told: (reply, row) => {
      expect([reply.status, reply.header('x-foldgate-attempts')]).toEqual([400, String(row.attempts)])
    },
  },
  'restored in the strict form': {
    script: refusingOnce({ message: 'Conversation roles must alternate user/assistant/user/assistant/...' }),
    body: long,
    rows: { action: 'restored', reason: 'strict', attempts: 2 },
    events: [compaction(), { type: 'restored', reason: 'strict', details: { attempts: 2 } }],
    told: agreeing,
  },
  'restored as the original: it fits as it came, so that is what is known of the window': {
    script: refusingOnce({ message: 'This is not to my taste.' }),
    play: async (at, headers) => {
      const reply = await postChat(at.url, long, headers)
      expect((await postChat(at.url, long, headers)).action).toBe('relayed;reason=refused-before')
      return reply
    },
    rows: [
      { action: 'restored', reason: 'original', attempts: 2, passes: [], beyond_window: false },
      { action: 'relayed', reason: 'refused-before' },
    ],
    events: [compaction(), { type: 'restored', reason: 'original' }],
    told: (reply, row) => {
      agreeing(reply, row)
      expect(row.tokens_sent).toBe(row.tokens_received)
      expect(row.messages_sent).toBe(row.messages_received)
    },
  },
  'bypassed: a row without figures, since nobody has read it': {
    headers: { 'x-foldgate-bypass': '1' },
    rows: {
      ...unread,
      action: 'bypassed',
      status: 200,
      attempts: 1,
      prompt_tokens: null,
      beyond_window: false,
    },
    told: ({ action }) => expect(action).toBe('bypassed'),
  },
  'an unread body is relayed, and told without a size': {
    script: json({ error: { message: 'no' } }, 400),
    body: gzipSync('this is no JSON'),
    headers: { 'content-encoding': 'gzip' },
    rows: { ...unread, action: 'relayed', reason: 'not-json-object', status: 400, attempts: 1 },
    told: ({ action }) => expect(action).toBe('relayed;reason=not-json-object'),
  },
  'a refusal for the key, which is none of its size': {
    script: json({ error: { message: 'Incorrect API key' } }, 401),
    rows: { action: 'relayed', status: 401 },
    events: [{ type: 'refusal', reason: 'denied', details: { status: 401 } }],
  },
  'a refusal for the rate, by which nobody knows whether it would have fit': {
    script: json({ error: { message: 'Rate limit reached' } }, 429),
    rows: { action: 'relayed', status: 429, beyond_window: null },
    events: [{ type: 'refusal', reason: 'rate', details: { status: 429, attempts: 1, upstream: 'default' } }],
  },
  'an upstream that cannot be reached': {
    profile: { ...window, upstream: 'dead' },
    headers: { 'x-foldgate-conversation': 'nightly' },
    rows: {
      ...unreachable,
      outcome: 'finished',
      label: 'nightly',
      model: 'test-model',
      conversation: anId,
      beyond_window: null,
      prompt_tokens: null,
    },
    events: [{ type: 'error', reason: 'upstream_unreachable', details: { status: 502 } }],
    counts: [['requests_total', 'action', 'refused', 1]],
    told: ({ status }) => expect(status).toBe(502),
  },
  // An unread request that met a dead upstream, or bypassed everything, was nowhere to be seen.
  'an upstream that cannot be reached, bypassed': {
    play: (at, headers) => postChat(dead(at), small, { ...headers, 'x-foldgate-bypass': '1' }),
    rows: [unreachable],
  },
  'an upstream that cannot be reached, unread': {
    play: (at, headers) => postChat(dead(at), 'this is no JSON', headers),
    rows: [unreachable],
  },
  // A compaction was recorded, and the next request followed it, but nobody had ever been told of it.
  'an upstream that is cut off after a compaction, which is told': {
    script: cutOff,
    play: async (at, headers) => {
      expect((await postChat(at.url, long, headers)).status).toBe(502)
      isCutOff = false
      return postChat(at.url, long, headers)
    },
    rows: [
      { action: 'refused', compaction: 'trigger' },
      { action: 'compacted', compaction: null },
    ],
    events: [compaction(), { type: 'error' }],
    counts: [['compactions_total', 'pass', 'fold', 1]],
  },
  // The report went with the refusal: the compaction that was made and recorded was told nowhere.
  'a view for whose bytes there is no room, with its compaction': {
    profile: { window: { tokens: 120_000 } },
    body: chatOf(
      Array.from({ length: 100 }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: `${index} ${'reads rows of the ledger and writes them to another one. '.repeat(122)}`,
      })),
    ),
    rows: { action: 'refused', status: 503, compaction: 'trigger' },
    events: [compaction(), { type: 'error' }],
    counts: [['compactions_total', 'pass', 'fold', 1]],
    told: ({ status }) => expect(status).toBe(503),
  },
  'a profile that is not known': {
    headers: { 'x-foldgate-profile': 'nobody' },
    rows: { action: 'refused', reason: 'unknown_profile', status: 400 },
    told: ({ status }) => expect(status).toBe(400),
  },
  'a header that means nothing': {
    headers: { 'x-foldgate-compact': 'sometimes' },
    rows: { action: 'refused', reason: 'invalid_header', status: 400 },
  },
  'a label that is too long': {
    headers: { 'x-foldgate-conversation': 'x'.repeat(129) },
    rows: { action: 'refused', status: 400 },
  },
  'a body that is too large': {
    play: (at, headers) => postChat(at.url, 'x'.repeat(2_000_000), headers).catch(() => null),
    rows: { action: 'refused', reason: 'body_too_large', status: 413 },
  },
  'failed-open: what could not be measured has a row without a size': {
    body: long,
    rows: {
      action: 'failed-open',
      reason: 'measure',
      status: 200,
      beyond_window: false,
      tokens_received: null,
      prompt_tokens: 10,
      pressure: null,
    },
    counts: [['requests_total', 'action', 'failed-open', 1]],
    told: ({ action, header }) =>
      expect([action, header('x-foldgate-tokens')]).toEqual(['failed-open;reason=measure', null]),
  },
  'a client that leaves before the answer': {
    script: silence,
    play: leaving(small, 'asked'),
    rows: { action: 'left', reason: null, status: null, outcome: 'client-gone', conversation: anId },
    counts: [['requests_total', 'action', 'left', 1]],
  },
  'a client that leaves during the answer: what was done stands': {
    script: stream('a long answer', 'never'),
    play: leaving({ ...long, stream: true }, 'answered'),
    rows: { ...compacted, status: 200, outcome: 'client-gone' },
    events: [compaction()],
    counts: [['requests_total', 'action', 'compacted', 1]],
  },
  'a client that leaves before its body is complete': {
    play: async (at, { 'user-agent': client }) => {
      const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: ${client}`
      const body = '\r\ncontent-length: 100\r\n\r\n{"model"'
      const socket = await openRaw(at.foldgate.listening.port, head + body)
      await eventually(() => expect(at.foldgate.app.running()).toBe(1))
      socket.destroy()
      return null
    },
    rows: { ...unread, action: 'left', outcome: 'client-gone' },
  },
  'an answer that breaks off': {
    script: stream('a long answer', 'cut'),
    play: (at, headers) => postChat(at.url, { ...small, stream: true }, headers).catch(() => null),
    rows: { action: 'relayed', outcome: 'broken-off' },
  },
}

const names = Object.keys(cases)
/** What a case has for its profile, its client and its key. */
const nameOf = (name: string): string => `case-${names.indexOf(name)}`
const dead = ({ foldgate }: ReportStand): string => foldgate.url.replace('/v1', '/u/dead/v1')

/** Plays the script of the case whose key it is. */
function byKey(): Script {
  const played = new Map<string, number>()
  return (request) => {
    const key = request.headers.authorization ?? ''
    const { script = completion('PLANTED') } = cases[names[Number(key.split('-').at(-1))] ?? ''] ?? {}
    const scripts = typeof script === 'function' ? [script] : script
    const turn = played.get(key) ?? 0
    played.set(key, turn + 1)
    return scripts[Math.min(turn, scripts.length - 1)]
  }
}

describe('each request is a row, a count, events and headers that say the same', () => {
  const replies = new Map<string, ChatReply | null>()
  let at: ReportStand
  let rows: readonly UsageRow[] = []
  let told: readonly JournalEvent[] = []
  let metrics: Metrics

  beforeAll(async () => {
    const failing = 'failed-open: what could not be measured has a row without a size'
    const broken = unmeasurable(window, 'no encoding').get('default') ?? expect.fail()
    const files = names.map((name) => [nameOf(name), cases[name]?.profile ?? window] as const)
    const profiles = profilesOf({ ...Object.fromEntries(files), default: {} })
    profiles.set(nameOf(failing), { ...broken, name: nameOf(failing) })
    at = await reportStand(byKey(), {
      profiles,
      upstreams: { dead: { url: 'http://127.0.0.1:9/v1' } },
      settings: { limits: { body_mb: 1, bytes_in_flight_mb: 1 } },
    })
    for (const [name, { body = small, headers = {}, play = asking(body) }] of Object.entries(cases)) {
      const own = { 'user-agent': nameOf(name), 'x-foldgate-profile': nameOf(name) }
      const key = { authorization: `Bearer ${nameOf(name)}` }
      replies.set(name, await play(at, { ...own, ...key, ...headers }))
    }
    rows = await at.rows(Object.values(cases).reduce((sum, each) => sum + [each.rows].flat().length, 0))
    told = await at.events()
    metrics = await at.metrics()
  }, 120_000)
  afterAll(() => at[Symbol.asyncDispose]())

  test.each(names)('%s', (name) => {
    const { rows: expected, events: speaking = [], counts = [], told: check } = cases[name] ?? expect.fail()
    const found = rows.filter(({ client }) => client === nameOf(name))
    expect(found).toMatchObject([expected].flat())
    const [row] = found
    const reply = replies.get(name) ?? null
    if (check !== undefined && reply !== null && row !== undefined) check(reply, row)
    const conversation = row?.conversation ?? 'none'
    expect(told.filter((event) => event.conversation === conversation)).toMatchObject(speaking)
    const profile = nameOf(name)
    for (const [metric, label, value, count] of counts) {
      const labels = { profile, ...(label !== 'profile' && { [label]: value }) }
      expect([metric, value, metrics.sum(`foldgate_${metric}`, labels)]).toEqual([metric, value, count])
    }
  })
  test('what belongs to no conversation is told of none, and a window that is stated twice once', () => {
    const others = told.filter(({ conversation }) => conversation === null)
    expect(others.map(({ type, reason }) => `${type} ${reason}`).toSorted()).toEqual([
      'error body_too_large',
      'error invalid_header',
      'error invalid_header',
      'error unknown_profile',
      'error upstream_unreachable',
      'error upstream_unreachable',
      'failure measure',
      'refusal other',
      'window refusal',
      'window refusal',
    ])
    expect(others.filter(({ type }) => type === 'window')).toMatchObject([
      { model: 'test-model', details: { window_tokens: 8_192, kind: 'total', upstream: 'default' } },
      { model: 'refused', details: { window_tokens: 2_000 } },
    ])
    const failures = metrics.by('foldgate_failures_total', 'part')
    expect(failures).toEqual(new Map([['measure', 1]]))
    const recoveries = metrics.by('foldgate_recoveries_total', 'outcome')
    expect(Object.fromEntries(recoveries)).toEqual({ recovered: 3, failed: 1 })
    expect(metrics.sum('foldgate_requests_total', { action: 'bypassed' })).toBe(1)
    const ownCounts = nameOf('a streamed answer without usage is told by own counts')
    const row = rows.find(({ client }) => client === ownCounts)
    const tokensAt = (stage: string) =>
      metrics.sum('foldgate_prompt_tokens_total', { stage, profile: ownCounts })
    expect([tokensAt('sent'), tokensAt('received')]).toEqual([row?.tokens_sent, row?.tokens_received])
  })

  test('what Foldgate refuses goes nowhere, and what clients say to Foldgate no further', () => {
    const sent = at.upstream.requests.map(({ rawHeaders, body }) => rawHeaders.join('\n') + body.toString())
    expect(sent.filter((text) => /x-foldgate|paration/i.test(text))).toEqual([])
    for (const name of [
      'a profile that is not known',
      'a header that means nothing',
      'a label that is too long',
    ])
      expect(sent.filter((text) => text.includes(`Bearer ${nameOf(name)}\n`))).toEqual([])
  })

  test('no event and no row holds anything that a conversation says', async () => {
    for (const journal of ['events', 'usage', 'totals'] as const) {
      const page = await at.store.readRows(journal, { from: 'oldest', beyond: null, limit: 1_000 })
      expect(page.length).toBeGreaterThan(0)
      expect(page.map(({ text }) => text).join('\n')).not.toContain('PLANTED')
    }
  })
})

test('a broken store costs the records, never the row', async () => {
  const store = { ...memoryStore(), getFirst: () => Promise.reject(new Error('the store is broken')) }
  await using broken = await reportStand(completion('fine'), { store, profile: window })
  expect((await postChat(broken.url, long)).action).toBe('compacted')
  expect(await broken.row()).toMatchObject({ action: 'compacted', status: 200 })
  expect(await broken.events()).toMatchObject([{ type: 'failure', reason: 'store' }, { type: 'compaction' }])
  expect((await broken.metrics()).sum('foldgate_failures_total', { part: 'store' })).toBeGreaterThan(0)
})
