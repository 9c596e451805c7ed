import { describe, expect, test } from 'vitest'
import { READ_BYTES_MAX } from '../../../src/json/skipped-text.ts'
import { drawExplanation } from '../../../src/admin/explain/explanation-text.ts'
import { explanationJson } from '../../../src/admin/explain/explanation.ts'
import { rounds, system, user } from '../../compaction/sending.ts'
import { postChat, chatOf } from '../../support/post-chat.ts'
import { completion } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { asked, askedLong, long, short } from './asked.ts'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { profilesOf } from '../../support/profiles.ts'
import { rawExchange } from '../../support/raw-client.ts'
import { adminStand, type AdminStand } from '../admin-stand.ts'
import type { AdminAnswer } from '../ask-admin.ts'

const window = { tokens: 16_000 }
const parsed = (body: Buffer): Record<string, unknown> & { messages: unknown[] } =>
  JSON.parse(body.toString())
describe('what fits', () => {
  test('would go on byte for byte, and every message is kept', async () => {
    const told = await asked(short)
    expect(told.would).toMatchObject({ action: 'relayed', reason: null, passes: [] })
    expect(told.body.toString()).toBe(JSON.stringify(short))
    expect(told.messages.map(({ treatment }) => treatment)).toEqual(Array(8).fill('kept'))
    expect(told.tokens.sent).toEqual(told.tokens.received)
    expect(told.warnings).toEqual([])
  })

  // What the command showed was not what was sent.
  test('of Messages goes without its line for billing, and says so', async () => {
    const line = { type: 'text', text: 'x-anthropic-billing-header: cch=1;' }
    const texts = [line, { type: 'text', text: 'Be brief.' }]
    const body = { model: 'm', max_tokens: 9, system: texts, messages: [{ role: 'user', content: 'Go.' }] }
    const told = await asked(body)
    expect(told.would).toMatchObject({ action: 'relayed', reason: 'billing-line' })
    expect(parsed(told.body)).toEqual({ ...body, system: texts.slice(1) })
    expect(drawExplanation(told, { columns: 100, color: false })).toContain('but for its line for billing')
  })

  test('is told with window, budget and where everything begins', async () => {
    const profile = { window, trigger: 0.8, target: 0.5, preview: { at: 0 }, clear: { enabled: false } }
    const told = await asked({ ...short, max_tokens: 1000 }, { profiles: { default: profile } })
    expect(told).toMatchObject({
      profile: { name: 'default', because: expect.stringContaining('no other profile') },
      model: 'gpt-4o',
      window: { tokens: 16_000, kind: 'total', source: 'config' },
      reserve: 1000,
      reserve_source: 'request',
      budget: 15_000,
      ratio: 1,
      ratio_source: 'family',
      margin: 0,
      compaction_begins_at: { tokens: told.thresholds.trigger, model_tokens: told.thresholds.trigger },
    })
    const { fixed, thresholds } = told
    expect(thresholds.trigger).toBe(Math.floor(fixed.tokens + 0.8 * (15_000 - fixed.tokens)))
    expect(thresholds.target).toBe(Math.floor(fixed.tokens + 0.5 * (15_000 - fixed.tokens)))
    expect(thresholds).toMatchObject({
      render_at: thresholds.trigger,
      preview_at: 0,
      clear_at: null,
      fold_at: thresholds.trigger,
      summary_at: null,
    })
    expect(told.pressure).toBeCloseTo(told.tokens.received.total / 15_000)
  })
})

describe('where a compaction begins', () => {
  const parameters = { type: 'object', properties: { a: {} } }
  const tools = [{ type: 'function', function: { name: 'bash', description: 'Runs.', parameters } }]
  const withTools = (model: string, count: number) => {
    const said = Array.from({ length: count }, (_, at) => [
      user(`Wish ${at}: ${'more of it '.repeat(20)}`),
      { role: 'assistant', content: 'Done.' },
    ]).flat()
    return { model, tools, messages: [system('Be brief.'), user('The task.'), ...said, user('And?')] }
  }

  test.each([
    ['gpt-4o', 'family', {}],
    ['nobody-knows', 'unknown', {}],
    ['nobody-knows', 'profile', { ratio: 1.3 }],
  ])('%s, by the ratio of the %s: beyond that size, and not at it', async (model, source, own) => {
    const profiles = { default: { window: { tokens: 3000, output_reserve: 500, ...own } } }
    const at = async (count: number) => asked(withTools(model, count), { profiles })
    let [fitting, beyond] = [8, 40]
    while (beyond - fitting > 1) {
      const between = Math.floor((fitting + beyond) / 2)
      if ((await at(between)).would.action === 'relayed') fitting = between
      else beyond = between
    }
    const [last, first] = [await at(fitting), await at(beyond)]
    expect(first).toMatchObject({ ratio_source: source, reserve: 500, reserve_source: 'profile' })
    const { compaction_begins_at: begins } = first
    expect(begins).toEqual({ tokens: first.budget - first.margin, model_tokens: 2500 })
    expect(last.tokens.received.total).toBeLessThanOrEqual(begins?.tokens ?? 0)
    expect(first.tokens.received.total).toBeGreaterThan(begins?.tokens ?? 0)
  })

  test('nowhere, where the trigger is off; with the first pass, where one begins earlier', async () => {
    const beginning = async (profile: object) =>
      (await asked(short, { profiles: { default: { window, ...profile } } })).compaction_begins_at
    expect(await beginning({ trigger: 'off' })).toBeNull()
    const told = await asked(short, { profiles: { default: { window, fold: { at: 0.5 } } } })
    expect(told.compaction_begins_at?.tokens).toBe(told.thresholds.fold_at)
  })
})

describe('what is too long', () => {
  test('would be sent as a Foldgate sends it that sees it for the first time', async () => {
    const recalling = { window, recall: { enabled: true } }
    const tools = [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }]
    for (const [profile, body] of [
      [{ window }, long],
      [{ window }, { ...long, stream: true }],
      // With the tool by which the model reads back.
      [recalling, { ...long, tools }],
    ] as const) {
      await using at = await standWith(completion('fine'), { profile })
      const reply = await postChat(at.url, body)
      const told = await asked(body, { profiles: { default: profile } })
      const { received } = told.tokens
      expect(told.body.toString()).toBe(at.upstream.requests[0]?.body.toString())
      expect(told.body.includes('recall_conversation')).toBe(profile === recalling)
      const header = (name: string) => reply.header(`x-foldgate-${name}`)
      expect(told.would.passes.join(',')).toBe(header('passes'))
      expect(`${received.total};sent=${told.would.sent_tokens}`).toBe(header('tokens'))
      expect(told.profile.name).toBe(header('profile'))
    }
  })

  test('is told with its counts by role; it asks for usage in a stream, unless the settings say otherwise', async () => {
    const { tokens, would, message_counts, body } = await askedLong()
    expect(would).toMatchObject({ action: 'compacted', reason: 'trigger' })
    expect(tokens.sent.summary).toBeGreaterThan(0)
    expect(message_counts.received).toEqual({ system: 1, user: 2, assistant: 40, tool: 40, total: 83 })
    expect(message_counts.sent['total']).toBe(parsed(body).messages.length)
    const streamed = { ...long, stream: true }
    expect(parsed((await asked(streamed)).body)['stream_options']).toEqual({ include_usage: true })
    const silent = await asked(streamed, { usageInStreams: 'never' })
    expect(parsed(silent.body)).not.toHaveProperty('stream_options')
  })

  test('is told apart from what is joined into one message', async () => {
    // Task, recap and the user's latest message meet before the newest rounds.
    const body = { ...long, messages: [...long.messages, ...rounds('b', 20, 1200)] }
    const told = await asked(body, { profiles: { default: { window, template: 'strict' } } })
    const { tokens, would, messages } = told
    expect(messages.map(({ treatment }) => treatment)).toContain('joined')
    expect(tokens.sent.total).toBe(would.sent_tokens)
    expect(tokens.sent.summary).toBeGreaterThan(100)
    expect(tokens.sent.user).toBeGreaterThan(0)
  })
})

test('summaries that came with the conversation and media are told apart', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://images.example/a.png', detail: 'low' } }
  const recap = user('<conversation-recap>\nmuch\n</conversation-recap>')
  const messages = [recap, user([{ type: 'text', text: 'Look.' }, image])]
  const { tokens } = await asked({ model: 'gpt-4o', messages })
  expect(tokens.received.summary).toBeGreaterThan(0)
  expect(tokens.received.images).toBe(85)
  expect(tokens.received.user).toBeLessThan(20)
})

describe('the profile', () => {
  const profiles = { default: { window }, small: { models: ['tiny-*'], window: { tokens: 4000 } } }

  test('is the one that the model gets, the model that of the body unless another is asked about', async () => {
    expect((await asked({ ...short, model: 'tiny-1' }, { profiles })).profile.name).toBe('small')
    const other = await asked(short, { profiles, model: 'tiny-2' })
    expect([other.profile.name, other.model, other.window.tokens]).toEqual(['small', 'tiny-2', 4000])

    expect((await asked(short, { profiles, profile: 'small' })).profile.because).toBe('asked for by name')
    const message = expect.stringContaining('did you mean "small"?')
    const unknown = asked(short, { profiles, profile: 'smal' })
    await expect(unknown).rejects.toMatchObject({ code: 'unknown_profile', message })
  })

  test('that only observes changes nothing, and says what it would have done', async () => {
    const told = await asked(long, { profiles: { default: { window, observe: true } } })
    expect(told.would).toMatchObject({ action: 'relayed', reason: 'observe' })
    expect(told.body.toString()).toBe(JSON.stringify(long))
    expect(told.warnings.map(({ code }) => code)).toEqual(['observed'])
    expect(told.warnings[0]?.message).toMatch(/Else [\d,]+ tokens would be sent: .*fold/)
  })
})

const codesOf = async (body: object, profile: object): Promise<readonly string[]> =>
  (await asked(body, { profiles: { default: profile } })).warnings.map(({ code }) => code)

test('warnings: what is a guess, what is fixed, sampled or stands in for something else', async () => {
  expect(await codesOf({ ...short, model: 'nobody-knows' }, {})).toEqual(['window_guessed'])
  expect(await codesOf({ messages: short.messages }, { window })).toEqual(['model_missing'])
  const wordy = { model: 'gpt-4o', messages: [system('Mind this rule. '.repeat(1000)), user('Go.')] }
  expect(await codesOf(wordy, { window: { tokens: 10_000 } })).toEqual(['fixed_large'])
  expect(await codesOf(wordy, { window: { tokens: 4000 } })).toEqual(['does_not_fit', 'fixed_large'])
  const off = await asked(long, { profiles: { default: { window, trigger: 'off' } } })
  expect(off.warnings[0]?.message).toContain('trigger is off')
  expect(off.thresholds).toMatchObject({ trigger: null, target: null, fold_at: null })
  const text = 'many words of it '.repeat(READ_BYTES_MAX / 8)
  const body = { ...short, messages: [...short.messages, { role: 'assistant', content: text }] }
  expect(await codesOf(body, { window })).toContain('sampled')
  expect(await codesOf(long, { window, summary: { model: 'cheap' } })).toEqual(['recap_stands_in'])
})

test('a broken conversation is told with the places, repaired or not', async () => {
  const call = { id: 'c', type: 'function', function: { name: 'run', arguments: '{}' } }
  const messages = [user('Go.'), { role: 'assistant', content: null, tool_calls: [call] }, user('And?')]
  const broken = { model: 'gpt-4o', messages }
  const message =
    'The conversation arrives broken: tool calls without an answer (message 1). Upstreams may refuse it; repair: true in the profile mends it.'
  expect((await asked(broken)).warnings).toEqual([{ code: 'conversation_broken', message }])
  const mended = await asked(broken, { profiles: { default: { window, repair: true } } })
  expect(mended.warnings[0]?.message).toContain('The profile repairs it')
  expect(mended.would).toMatchObject({ action: 'compacted', reason: 'repair', passes: [] })
  expect(parsed(mended.body).messages).toHaveLength(4)
})

test.each([
  ['not JSON', '{"messages": [', 'no JSON object'],
  ['a list', '[{"role":"user","content":"Hi"}]', 'no JSON object'],
  ['without messages', '{"model":"gpt-4o"}', '"messages" or "input" is missing'],
  ['with no message', '{"model":"gpt-4o","messages":[]}', '"messages" or "input" is missing'],
  ['with a key twice', '{"messages":[],"messages":[]}', 'a key twice'],
  ['with something else for a message', '{"messages":[1]}', 'cannot be read with certainty'],
  ['with a byte order mark', '\uFEFF{"messages":[]}', 'byte order mark'],
  ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'not UTF-8'],
  ['left at the server', '{"input":"x","previous_response_id":"r"}', 'send all of it, with store: false'],
])('a body that cannot be read is told what is wrong with it: %s', async (_, body, part) => {
  const failure = await asked(body).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'malformed_request', message: expect.stringContaining(part) })
  expect(String(failure)).toContain('{"model": …, "messages": […]}')
})

test('as JSON it holds the body that would be sent byte for byte', async () => {
  const spelt = String.raw`{ "messages" : [ {"content":"caf\u00e9 \/ é","role":"user","x":1e400,"y":{"a":1,"a":2}} ],
    "model":"gpt-4o", "temperature":0.10 }`
  const text = explanationJson(await asked(spelt))
  expect(text.endsWith(`,"body":${spelt}}`)).toBe(true)
  expect(text.indexOf(spelt)).toBe(text.length - spelt.length - 1)
  const { body: _, ...told } = await asked(spelt)
  expect(JSON.parse(text)).toMatchObject(JSON.parse(JSON.stringify(told)))
  const compacted = await asked({ ...long, messages: [...long.messages, ...rounds('z', 2, 100)] })
  expect(explanationJson(compacted)).toContain(`,"body":${compacted.body.toString()}}`)
})

// Chats and messages of Anthropic's API have their history under the same key: told as a chat, a thread's blocks were media of
// an unknown kind.
test('a body of the Messages API is told as one by what only it has', async () => {
  const call = { type: 'tool_use', id: 'a', name: 'read', input: {} }
  const history = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'found' }] },
  ]
  const told = [{ messages: history }, { system: 'Be brief.', messages: history.slice(0, 1) }, short]
  const names = await Promise.all(told.map(async (body) => (await asked(body)).entry_name))
  expect(names).toEqual(['block', 'block', 'message'])
})

const helloBody = chatOf([{ role: 'user', content: 'hello' }])

const post = (
  at: AdminStand,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
  query = '',
): Promise<AdminAnswer> => at.ask(`/explain${query}`, { method: 'POST', body, headers })

function profileIn(answer: AdminAnswer): string {
  expect([answer.status, answer.header('content-type')]).toEqual([200, 'application/json'])
  return z.looseObject({ profile: z.looseObject({ name: z.string() }) }).parse(JSON.parse(answer.text))
    .profile.name
}

const profiles = profilesOf({ default: {}, other: {}, third: {} })

test('a body is explained, and nothing is sent, recorded or shown', async () => {
  await using at = await adminStand()
  const answer = await post(at, JSON.stringify(helloBody))
  expect(profileIn(answer)).toBe('default')
  expect(answer.header('cache-control')).toBe('no-store')
  expect(at.upstream.requests).toEqual([])
  expect((await at.ask('/conversations')).text).toBe('{"conversations":[],"unread":[]}')
  expect((await at.ask('/events')).text).toBe('{"events":[],"before":null}')
})

test('under the profile that the query names, before the one of the header; an unknown one is a 400', async () => {
  await using at = await adminStand({ profiles })
  const body = JSON.stringify(helloBody)
  expect(profileIn(await post(at, body))).toBe('default')
  expect(profileIn(await post(at, body, { 'x-foldgate-profile': 'other' }))).toBe('other')
  expect(profileIn(await post(at, body, { 'x-foldgate-profile': 'other' }, '?profile=third'))).toBe('third')
  for (const unknown of [
    await post(at, body, {}, '?profile=PLANTED'),
    await post(at, body, { 'x-foldgate-profile': 'PLANTED' }),
  ]) {
    expect([unknown.status, unknown.code]).toEqual([400, 'unknown_profile'])
  }
})

describe('the body', () => {
  test('may be packed as clients pack theirs; what is none is a 400 that says so, and repeats nothing', async () => {
    await using at = await adminStand({ settings: { limits: { body_mb: 1 } } })
    const packed = gzipSync(JSON.stringify(helloBody))
    expect(profileIn(await post(at, packed, { 'content-encoding': 'gzip' }))).toBe('default')
    for (const [body, headers] of [
      ['hello', {}],
      ['', {}],
      ['{"prompt":"PLANTED"}', {}],
      [JSON.stringify(helloBody), { 'content-encoding': 'PLANTED' }],
      [JSON.stringify(helloBody), { 'content-encoding': 'gzip' }],
      // Unpacked it exceeds the limit by far.
      [gzipSync(Buffer.alloc(10_000_000)), { 'content-encoding': 'gzip' }],
    ] as const) {
      const answer = await post(at, body, headers)
      expect([headers, answer.status, answer.code]).toEqual([headers, 400, 'malformed_request'])
      expect(answer.text).not.toContain('PLANTED')
    }
  })

  test('has the limits of all bodies: too large, and more at a time than may be in flight', async () => {
    await using at = await adminStand({ settings: { limits: { body_mb: 1, bytes_in_flight_mb: 1 } } })
    const large = await post(at, 'x'.repeat(1_048_577))
    expect([large.status, large.code]).toEqual([413, 'body_too_large'])
    const lines = 'Host: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close'
    const pieces = `10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(17)
    const endless = await rawExchange(at.port, `POST /explain HTTP/1.1\r\n${lines}\r\n\r\n${pieces}0\r\n\r\n`)
    expect(endless.statusLine).toMatch(/ (413|503) /)
    // And gives back what it took.
    for (let time = 0; time < 3; time += 1) {
      expect((await post(at, 'x'.repeat(1_000_000))).code).toBe('malformed_request')
    }
    expect(profileIn(await post(at, JSON.stringify(helloBody)))).toBe('default')
  })
})
