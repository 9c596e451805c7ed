import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/json/json-value.ts'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { eventually } from '../../support/eventually.ts'
import {
  live,
  openBefore,
  openStand,
  post,
  readTool,
  thinkingReader,
  troubleOf,
  user,
  type StandOptions,
} from './stand.ts'

// A signature holds for the conversation that it was made in, and the server refuses a request in which one does not. Whoever
// changed the conversation has to leave the thinking out; the client knows nothing of that.

const WINDOW_TOKENS = 8_000

const signatures = (text: string) => text.match(/"signature":"/g)?.length ?? 0

/** What the metric counts, by refusal. */
async function refusedThoughts(origin: string): Promise<readonly string[]> {
  const { text } = await askAdmin(origin, '/metrics')
  return text.split('\n').filter((line) => line.startsWith('foldgate_thoughts_refused_total{'))
}

/** A conversation of which the middle was thought under a compaction, and a Foldgate that knows nothing of that one. */
async function openElsewhere(profile: object = {}) {
  const window = { tokens: WINDOW_TOKENS }
  const stand = await openStand({ windowTokens: 100_000, reply: thinkingReader(), profile: { window } })
  const messages: JsonObject[] = [user('Read every part.')]
  await live(stand, messages, { rounds: 16 })
  expect(troubleOf(stand)).toEqual([])
  stand.upstream.forget()
  const admin = await adminPlace()
  const wider = { window: { tokens: WINDOW_TOKENS + 3_000 }, ...profile }
  const other = await openBefore(stand.upstream, wider, { flags: admin.flags })
  return { stand, other, messages, origin: admin.origin }
}

describe('thinking that does not hold where it stands', () => {
  test('is left out within the request, and from then on, while what is thought since stays', async () => {
    const { other, messages, origin } = await openElsewhere()
    const [first, ...more] = await live(other, messages, { rounds: 10 })
    expect(first?.headers.get('x-foldgate-action')).toBe('restored;reason=thoughts')
    expect(first?.headers.get('x-foldgate-attempts')).toBe('2')
    const rejected = other.upstream.requests.map((request) => request.rejected?.reason ?? null)
    expect(rejected).toEqual(['binding', ...Array.from({ length: 10 }, () => null)])
    for (const answer of more) expect(answer.headers.get('x-foldgate-attempts')).toBe('1')
    const [, cured, next] = other.upstream.requests.map(({ body }) => body.toString())
    expect(signatures(cured ?? '')).toBe(0)
    expect(signatures(next ?? '')).toBe(1)

    expect(await refusedThoughts(origin)).toEqual([
      'foldgate_thoughts_refused_total{refusal="stale",profile="default"} 1',
    ])
    await eventually(async () => {
      const { text } = await askAdmin(origin, '/events?type=restored')
      expect(JSON.parse(text)).toMatchObject({ events: [{ reason: 'thoughts' }] })
    })
    expect(other.foldgate.log.filter((line) => line.includes('on account of the thoughts'))).toHaveLength(1)
  })

  test('of a conversation that fits it is all that goes', async () => {
    const { stand, messages } = await openElsewhere()
    const wide = await openBefore(stand.upstream, { window: { tokens: 100_000 }, trigger: 'off' })
    await live(wide, messages.slice(0, 5), { rounds: 2 })
    const edited = [user('Read every second part.'), ...messages.slice(1, 5)]
    stand.upstream.forget()
    const [first, second] = await live(wide, edited, { rounds: 2 })
    expect(first?.headers.get('x-foldgate-action')).toBe('restored;reason=thoughts')
    expect(second?.headers.get('x-foldgate-action')).toBe('compacted;reason=thoughts')
    const [, cured, next] = stand.upstream.requests.map(({ body }) => body.toString())
    const left = edited.slice(0, 5).map((message) => withoutThinking(message))
    expect(JSON.parse(cured ?? '')).toMatchObject({ messages: left })
    expect(signatures(next ?? '')).toBe(1)
  })

  test('is the client’s to hear of, if it asked for that', async () => {
    const { stand, other, messages } = await openElsewhere({ trigger: 'off' })
    const block_binding = { prefix_mismatch_behavior: 'error' }
    const body = { messages, tools: [readTool], thinking: { type: 'adaptive', block_binding } }
    const beta = { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' }
    const answer = await post(other, body, beta)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('bound to a different conversation')
    expect(stand.upstream.requests).toHaveLength(1)
  })

  test('is nobody’s to leave out under a profile that only observes', async () => {
    const { other, messages } = await openElsewhere({ observe: true })
    expect((await post(other, { messages, tools: [readTool] })).status).toBe(400)
    expect(other.upstream.requests).toHaveLength(1)
  })
})

const thinking = { type: 'enabled', budget_tokens: 1_024 }

test('an older model that demands the thinking before open calls gets it back within the request, and at later compactions from the start', async () => {
  const stand = await openStand({ windowTokens: WINDOW_TOKENS, reply: thinkingReader(), binding: 'none' })
  const messages: JsonObject[] = [user('Read every part.')]
  const answers = await live(stand, messages, { rounds: 20, thinking })
  const reasons = stand.upstream.requests.flatMap(({ rejected }) => rejected?.reason ?? [])
  expect(reasons).toEqual(['thinking-missing'])
  const actions = answers.map(({ headers }) => headers.get('x-foldgate-action'))
  expect(actions.filter((action) => action === 'restored;reason=thoughts')).toHaveLength(1)
  const again: JsonObject[] = [user('Read every part once more.')]
  await live(stand, again, { rounds: 14, thinking })
  expect(stand.upstream.requests.flatMap(({ rejected }) => rejected ?? [])).toHaveLength(1)
  const sent = stand.upstream.requests.map(({ body }) => signatures(body.toString()))
  expect(Math.min(...sent.slice(-5))).toBeGreaterThan(0)
  expect(Math.max(...sent.slice(-5))).toBeLessThan(15)
})

/** A conversation that was compacted on its way. */
async function openCompacted(options: Partial<StandOptions> = {}, fields: object = {}) {
  const profile = { window: { tokens: WINDOW_TOKENS } }
  const stand = await openStand({ windowTokens: 100_000, reply: thinkingReader(), profile, ...options })
  const messages: JsonObject[] = [user('Read every part.')]
  await live(stand, messages, { rounds: 16, ...fields })
  return { stand, messages }
}

// A bypassed request brought back what was thought behind the compaction, and was refused for it; and what was thought in its
// reply had the next one refused.
describe('a request that goes by, in a conversation that was compacted', () => {
  const bypass = { 'x-foldgate-bypass': '1' }

  test('is the client’s bytes but for signed thinking, and what it is answered holds nowhere else', async () => {
    // Counted as the server counts: what it says of the whole conversation brings the next compaction no nearer.
    const { stand, messages } = await openCompacted({
      profile: { window: { tokens: WINDOW_TOKENS, ratio: 1 } },
    })
    const before = stand.upstream.requests.length
    const sent = [...messages]
    const [answer] = await live(stand, messages, { rounds: 1 }, bypass)
    expect(answer?.headers.get('x-foldgate-action')).toBe('bypassed;reason=thoughts')
    const raw = stand.upstream.requests.slice(before).map(({ body }) => body.toString())
    const body = {
      model: 'claude-strict',
      max_tokens: 1_000,
      messages: sent.map(withoutThinking),
      tools: [readTool],
    }
    expect(raw).toEqual([JSON.stringify(body)])

    const answers = await live(stand, messages, { rounds: 12 })
    expect(answers[0]?.headers.get('x-foldgate-action')).toBe('compacted')
    expect(troubleOf(stand)).toEqual([])
    // What was thought since the compaction and before goes on, but for that one reply's.
    const next = stand.upstream.requests[before + 1]?.body.toString() ?? ''
    const last = stand.upstream.requests[before - 1]?.body.toString() ?? ''
    expect(signatures(next)).toBe(signatures(last) + 1)
  })

  test('goes byte for byte where nothing was compacted, and nobody reads it', async () => {
    const stand = await openStand({ windowTokens: 100_000, reply: thinkingReader() })
    const messages: JsonObject[] = [user('Read every part.')]
    await live(stand, messages, { rounds: 3 })
    const [answer] = await live(stand, messages, { rounds: 1 }, bypass)
    expect(answer?.headers.get('x-foldgate-action')).toBe('bypassed')
    expect(signatures(stand.upstream.requests.at(-1)?.body.toString() ?? '')).toBe(3)
  })

  test('gets all of its thinking if its server binds none and demands some', async () => {
    const { stand, messages } = await openCompacted({ binding: 'none' }, { thinking })
    const [answer] = await live(stand, messages, { rounds: 1, thinking }, bypass)
    expect(answer?.headers.get('x-foldgate-action')).toBe('bypassed')
    expect(signatures(stand.upstream.requests.at(-1)?.body.toString() ?? '')).toBe(16)
  })

  test('x-foldgate-compact: off sends it as it is: what is thought in reply is not sent with the next', async () => {
    const { stand, messages } = await openCompacted({ binding: 'drop_block' })
    expect(troubleOf(stand)).toEqual([])
    stand.upstream.forget()
    const sent = JSON.stringify(messages)
    await live(stand, messages, { rounds: 1 }, { 'x-foldgate-compact': 'off' })
    expect(stand.upstream.requests[0]?.body.toString()).toContain(sent)
    stand.upstream.forget()
    await live(stand, messages, { rounds: 12 })
    expect(troubleOf(stand)).toEqual([])
  })
})

function withoutThinking(message: JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content)) return message
  return { ...message, content: content.filter((block: JsonObject) => block['type'] !== 'thinking') }
}
