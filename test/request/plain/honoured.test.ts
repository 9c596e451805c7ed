import { describe, expect, test } from 'vitest'
import { profileSchema, type Profile } from '../../../src/profiles/schema.ts'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import { longRun } from '../../support/conversations.ts'
import { eventually, passingTime } from '../../support/eventually.ts'
import { events, type Script } from '../../support/fake-upstream.ts'
import { rawMessages } from '../../support/post-chat.ts'
import { answerOf, apis, ask, isPassed, plainStand, warmUp, type Api } from './plain-stand.ts'
import type { ReportStand } from '../../activity/report/report-stand.ts'

const [chat, messages, responses] = apis
const script = answerOf(chat)
const newStore = () => openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })

/** The run of an agent, of so many rounds. */
const run = longRun(14, 3)
const bodyOf = (count: number): string =>
  JSON.stringify({ model: 'test-model', messages: run.slice(0, count) })
const warmed = (at: ReportStand) => warmUp((turn) => ask(at, chat.path, chat.body(`Ask ${turn}.`)))
const forcing = { 'x-foldgate-compact': 'force' }

/** Which messages of a later request stand at the beginning as they stood in an earlier one. */
function beginAlike(at: ReportStand, earlier: number, later: number): void {
  const [one, other] = [rawMessages(at.upstream.requests[earlier]), rawMessages(at.upstream.requests[later])]
  expect(other.slice(0, one.length)).toEqual(one)
  expect(other.length).toBeGreaterThan(one.length)
}

describe('a small conversation that was compacted', () => {
  test('goes on in its compaction while others of its kind are passed on, also in a new process', async () => {
    const store = newStore()
    {
      await using at = await plainStand(script, { store })
      await warmed(at)
      const forced = await ask(at, chat.path, bodyOf(run.length - 4), forcing)
      expect(forced.headers['x-foldgate-action']).toBe('compacted')
      const first = at.upstream.requests.length - 1
      expect(isPassed(await ask(at, chat.path, chat.body('Ask again.')))).toBe(true)
      const next = await ask(at, chat.path, bodyOf(run.length - 2))
      expect(next.headers['x-foldgate-action']).toBe('compacted')
      beginAlike(at, first, first + 2)
    }
    await using at = await plainStand(script, { store })
    await warmed(at)
    const again = await ask(at, chat.path, bodyOf(run.length - 2))
    expect(again.headers['x-foldgate-action']).toBe('compacted')
    const before = at.upstream.requests.length - 1
    const next = await ask(at, chat.path, bodyOf(run.length))
    expect(next.headers['x-foldgate-action']).toBe('compacted')
    beginAlike(at, before, before + 1)
    expect(isPassed(await ask(at, chat.path, chat.body('Ask again.')))).toBe(true)
  })

  test('by an operator is so at its next request', async () => {
    await using at = await plainStand(script)
    const first = await ask(at, chat.path, bodyOf(run.length - 2))
    await warmed(at)
    expect(isPassed(await ask(at, chat.path, bodyOf(run.length - 2)))).toBe(true)
    const id = String(first.headers['x-foldgate-conversation'])
    expect((await at.admin(`/conversations/${id}/compact`, { method: 'POST' })).status).toBe(202)
    const next = await ask(at, chat.path, bodyOf(run.length))
    expect(next.headers['x-foldgate-action']).toBe('compacted')
    expect(at.upstream.requests.at(-1)?.body.length).toBeLessThan(bodyOf(run.length).length)
  })
})

const profilesOf = (tokens: number): ReadonlyMap<string, Profile> =>
  new Map([['default', { ...profileSchema.parse({ window: { tokens } }), name: 'default' }]])

test('profiles that change are in force at the next request', async () => {
  let profiles = profilesOf(100_000)
  await using at = await plainStand(script, { profiles: () => profiles })
  await warmed(at)
  expect(isPassed(await ask(at, chat.path, bodyOf(run.length)))).toBe(true)
  profiles = profilesOf(2_000)
  const next = await ask(at, chat.path, bodyOf(run.length))
  expect(next.headers['x-foldgate-window']).toBe('2000;source=config')
  expect(next.headers['x-foldgate-action']).toBe('compacted')
})

test('where requests are traced each is told of by itself', async () => {
  let ended = 0
  const tracing = {
    ended: () => {
      ended += 1
    },
    summary: () => {},
    close: async () => {},
  }
  await using at = await plainStand(script, { tracing })
  for (let turn = 0; turn < 6; turn += 1)
    expect(isPassed(await ask(at, chat.path, chat.body(`Ask ${turn}.`)))).toBe(false)
  await eventually(() => expect(ended).toBe(6))
  expect(at.upstream.requests).toHaveLength(6)
})

describe('a request that has to be looked into is never passed on', () => {
  const pixel = 'data:image/png;base64,iVBORw0KGgo='
  const image = { type: 'image_url', image_url: { url: pixel } }
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }
  const line = {
    type: 'text',
    text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch=1a2b3;',
  }
  const edits = { edits: [{ type: 'clear_tool_uses_20250919' }] }
  const named = { role: 'user', content: [{ type: 'input_image', image_url: pixel }] }

  const headerNames = ['conversation', 'compact', 'profile'].map((name) => `x-foldgate-${name}`)
  const bodies: readonly (readonly [Api, readonly object[]])[] = [
    [chat, [{ messages: [{ role: 'user', content: [image] }] }]],
    [
      messages,
      [
        { messages: [{ role: 'user', content: [picture] }] },
        { messages: [{ role: 'user', content: [document] }] },
        { system: [line] },
        { context_management: edits },
      ],
    ],
    [
      responses,
      [
        { previous_response_id: 'resp_0' },
        { input: [{ type: 'item_reference', id: 'msg_0' }] },
        { input: [named] },
        { context_management: [{ type: 'compaction', compact_threshold: 1_000 }] },
      ],
    ],
  ]

  test.each(bodies)('$0.name', async (api, kinds) => {
    await using at = await plainStand(answerOf(api))
    let rows = await warmUp((turn) => ask(at, api.path, api.body(`Ask ${turn}.`)))
    const whole: object = JSON.parse(api.body('Ask.'))
    const special = [
      ...headerNames.map((name) => ({
        headers: { [name]: name.endsWith('compact') ? 'off' : 'default' },
        more: {},
      })),
      ...kinds.map((more) => ({ headers: {}, more })),
    ]
    for (const each of special) {
      await ask(at, api.path, JSON.stringify({ ...whole, ...each.more }), each.headers)
      rows += 1
      expect([each, (await at.rows(rows)).length]).toEqual([each, rows])
      expect([each, isPassed(await ask(at, api.path, api.body('Ask again.')))]).toEqual([each, true])
    }
    expect(at.upstream.requests).toHaveLength(rows + 1 + special.length)
  })

  test('nor is one with a client key, which is held against its rights', async () => {
    const client_keys = [{ name: 'team', key_env: 'TEAM_KEY' }]
    const env = { TEAM_KEY: 'key-of-the-team-123456' }
    await using at = await plainStand(script, { settings: { client_keys }, env })
    const headers = { authorization: 'Bearer key-of-the-team-123456' }
    for (let turn = 0; turn < 5; turn += 1) {
      const answer = await ask(at, chat.path, chat.body(`Ask ${turn}.`), headers)
      expect([answer.status, isPassed(answer)]).toEqual([200, false])
    }
  })

  // A body in which a key stands twice was sent twice: once on the word of its parsed form, and once since it cannot be read.
  test('one in which a key stands twice reaches its upstream once, as it came', async () => {
    await using at = await plainStand(script, { detailed: null })
    for (let turn = 0; turn < 4; turn += 1) await ask(at, chat.path, chat.body(`Ask ${turn}.`))
    const before = at.upstream.requests.length
    const body = chat.body('Ask.').replace('"messages":', '"messages":[],"messages":')
    const answer = await ask(at, chat.path, body)
    expect(answer.headers['x-foldgate-action']).toMatch(/^relayed;reason=/)
    expect(at.upstream.requests.slice(before).map((each) => each.body.toString())).toEqual([body])
  })
})

const withSystem = (content: string): string =>
  JSON.stringify({ model: 'test-model', messages: [{ role: 'system', content }, ...run.slice(1, 12)] })

// What another process's operator had asked for became known only beside the first bytes: the compacted ones went out under the same
// idempotency key, and where an upstream takes one request at a time they waited for an answer that nobody read.
test('bytes that are not wanted any more are given up before others are sent, under another key', async () => {
  const pass = passingTime()
  const store = newStore()
  const settings = { upstreams: { default: { concurrency: 1 } } }
  await using one = await plainStand(script, { store, detailed: null, settings })
  await using other = await plainStand(script, { store, detailed: null })
  const first = await ask(one, chat.path, bodyOf(run.length - 4))
  for (let turn = 0; turn < 3; turn += 1) await ask(one, chat.path, chat.body(`Ask ${turn}.`))
  const id = String(first.headers['x-foldgate-conversation'])
  // It is heard of where the other process reads its row, which is written beside requests.
  const compact = async () => (await other.admin(`/conversations/${id}/compact`, { method: 'POST' })).status
  await expect.poll(compact).toBe(202)
  pass(1_050)

  const before = one.upstream.requests.length
  const body = bodyOf(run.length - 2)
  const next = await ask(one, chat.path, body, { 'idempotency-key': 'key-1' })
  expect(next.status).toBe(200)
  expect(next.headers['x-foldgate-action']).toBe('compacted')
  const sent = one.upstream.requests.slice(before)
  expect(sent).toHaveLength(2)
  expect(sent.at(-1)?.body.length).toBeLessThan(body.length)
  expect(next.headers['x-foldgate-attempts']).toBe(String(sent.length))
  const keys = sent.map(({ headers }) => headers['idempotency-key'])
  expect(new Set(keys).size).toBe(sent.length)
})

// The system text was counted among what a compacted conversation has at least, and no key stands for it.
test('a conversation goes on in its compaction, however short its system text has become', async () => {
  await using at = await plainStand(script)
  await warmUp((turn) => ask(at, chat.path, chat.body(`Ask ${turn}.`)))
  const long = withSystem('A rule of the house. '.repeat(4_000))
  const forced = await ask(at, chat.path, long, { 'x-foldgate-compact': 'force' })
  expect(forced.headers['x-foldgate-action']).toBe('compacted')
  const next = await ask(at, chat.path, withSystem('A rule.'))
  expect(next.headers['x-foldgate-action']).toBe('compacted')
})

// Its memory was looked at when the request was sent, and had been filled by others when the answer came.
test('a stream that begins with the word that a shared memory is full is tried again', async () => {
  const full = { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } }
  let isFull = false
  const waiting: (() => void)[] = []
  const filling: Script = async (received, ...connection) => {
    const text = received.body.toString()
    if (text.includes('long one')) await new Promise<void>((resolve) => waiting.push(resolve))
    if (isFull && text.includes('Ask at last.')) {
      isFull = false
      return events([`data: ${JSON.stringify(full)}\n\n`])(received, ...connection)
    }
    return answerOf(chat)(received, ...connection)
  }
  await using at = await plainStand(filling, { profile: { window: { tokens: 8_000 } } })
  await warmUp((turn) => ask(at, chat.path, chat.body(`Ask ${turn}.`, { stream: true })))
  const others = [1, 2, 3].map((each) =>
    ask(at, chat.path, chat.body(`A long one. ${'and more words '.repeat(1_000)} ${each}`)),
  )
  await expect.poll(() => waiting.length).toBe(3)
  isFull = true
  const asking = ask(at, chat.path, chat.body('Ask at last.', { stream: true }))
  await expect.poll(() => isFull).toBe(false)
  for (const go of waiting) go()
  const answer = await asking
  expect(answer.body.toString()).not.toContain('exceeded')
  expect(answer.headers['x-foldgate-attempts']).toBe('2')
  for (const each of await Promise.all(others)) expect(each.status).toBe(200)
  expect(isPassed(await ask(at, chat.path, chat.body('Ask again.', { stream: true })))).toBe(true)
})
