import { standWith } from '../../support/stand.ts'
import { describe, expect, test } from 'vitest'
import { openMemoryStore } from '../../../src/storage/memory-store.ts'
import type { Store } from '../../../src/storage/store.ts'
import { longRun } from '../../support/conversations.ts'
import { completion, json, overflow, type Script } from '../../support/fake-upstream.ts'
import { unmeasurable } from '../../support/models.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'
import { alternation, cut, openPlays, rolesOf, smallWindow, strictTemplate, twoWishes } from './plays.ts'

const request = chatOf(twoWishes)
const original = JSON.stringify(request)

const refused = (status: number) => json({ error: { message: 'I cannot make sense of this.' } }, status)
/** What is about something else than a prompt's length. */
const unknown = (status: number) => json({ error: { message: 'Unknown parameter: colour' } }, status)

const play = openPlays(smallWindow)

/** A Foldgate of its own, on such a store. */
async function stand(script: Script | readonly Script[], options: { profile?: object; store: Store }) {
  const at = await standWith(script, { profile: smallWindow, ...options })
  return { ...at, bodies: () => at.upstream.requests.map(({ body }) => body.toString()) }
}

const broken = () => Promise.reject(new Error('the disk is gone: PLANTED-SECRET'))

describe('a rewritten request that is refused for the order of its messages', () => {
  test('is sent once more with user messages joined, and later requests are placed so at once', async () => {
    const at = play(strictTemplate())
    const first = await at.post(request)
    expect(first.status).toBe(200)
    expect(first.action).toBe('restored;reason=strict')
    expect(first.header('x-foldgate-attempts')).toBe('2')
    const [lenient, strict] = at.upstream.requests.map(rolesOf)
    expect(lenient?.join()).toContain('user,user')
    expect(strict?.join()).not.toContain('user,user')
    // What was joined keeps its encoded text.
    expect(at.bodies()[1]).toContain('Now write the \\"changelog\\", please.')

    const other = chatOf([...longRun(16, 9, 0.5), { role: 'user', content: 'Go on.' }])
    const second = await at.post(other)
    expect(second.action).toBe('compacted')
    expect(at.upstream.requests).toHaveLength(3)
    expect(rolesOf(at.upstream.requests[2]).join()).not.toContain('user,user')
  })

  test("where joining does not help, the client's own bytes are sent", async () => {
    const at = play([alternation, alternation, completion('fine')])
    const reply = await at.post(request)
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('restored;reason=original')
    expect(at.bodies()[2]).toBe(at.spelt(original))
    expect(at.upstream.requests).toHaveLength(3)
    // The one view's fault was remembered for the model: every conversation went on as it came, too long.
    const other = chatOf([...longRun(16, 9, 0.5), { role: 'user', content: 'Go on.' }])
    expect((await at.post(other)).action).toBe('compacted')
  })

  test('under template: strict it is joined from the start, under lenient never', async () => {
    const strict = play(strictTemplate(), { ...smallWindow, template: 'strict' })
    expect((await strict.post(request)).action).toBe('compacted')
    expect(strict.upstream.requests).toHaveLength(1)

    const lenient = play([alternation, completion('fine')], { ...smallWindow, template: 'lenient' })
    expect((await lenient.post(request)).action).toBe('restored;reason=original')
    expect(lenient.bodies()[1]).toBe(lenient.spelt(original))
  })
})

test('a limit that was lowered stays so where user messages are joined after it', async () => {
  // The joined form said that its limit was lowered, and carried the client's own: it was refused for that again.
  const half = 2048
  const tooMuch: Script = (received) => {
    const limit = Number(/"max_tokens":(\d+)/.exec(received.body.toString())?.[1])
    return limit > half ? overflow(4096, 2500) : strictTemplate()
  }
  const at = play(tooMuch)
  const reply = await at.post(chatOf(twoWishes, { max_tokens: 100_000 }))
  expect(reply.status).toBe(200)
  const limits = at.bodies().map((body) => Number(/"max_tokens":(\d+)/.exec(body)?.[1]))
  expect(limits[0]).toBe(100_000)
  expect(limits.slice(1).every((limit) => limit <= half)).toBe(true)
  expect(limits.length).toBeGreaterThan(2)
})

describe('a rewritten request that is refused for what may be our doing', () => {
  // What worked is remembered, so that the next request is not refused first; a server's passing trouble teaches nothing.
  test.each([
    [400, 'relayed;reason=refused-before'],
    [422, 'relayed;reason=refused-before'],
    [500, 'compacted'],
  ])("%s: the client's own bytes are sent, and the next request is %s", async (status, action) => {
    const at = play([refused(status), completion('fine')])
    const reply = await at.post(request)
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('restored;reason=original')
    expect(reply.header('x-foldgate-attempts')).toBe('2')
    expect(at.bodies()[0]?.length).toBeLessThan(original.length / 2)
    expect(at.bodies()[1]).toBe(at.spelt(original))
    expect((await at.post(request)).action).toBe(action)
    expect(at.bodies()).toHaveLength(3)
    expect(at.bodies()[2] === at.spelt(original)).toBe(action !== 'compacted')
  })

  test("where the client's own bytes are refused, too, the answer is the upstream's word on them", async () => {
    const own = json({ error: { message: 'unknown tool "x"' } }, 422, { 'x-request-id': 'second' })
    const at = play([refused(422), own, completion('fine')])
    const reply = await at.post(request)
    expect(reply).toMatchObject({ status: 422, text: '{"error":{"message":"unknown tool \\"x\\""}}' })
    expect(reply.header('x-request-id')).toBe('second')
    expect((await at.post(request)).action).toBe('compacted')
  })

  test('where the original is an overflow, the rewritten form is used again', async () => {
    const at = play([refused(422), overflow(4_096, 9_000), completion('fine')])
    const reply = await at.post(request)
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('recovered')
    expect(at.bodies()).toHaveLength(3)
    expect(at.bodies()[2]?.length).toBeLessThan(original.length / 2)
    expect((await at.post(request)).action).toBe('compacted')
  })

  test('where sending again fails on the wire, the refusal stands, and the headers say what was done', async () => {
    // The client got its refusal with `restored` and one attempt, though nothing was restored by two.
    await using at = await standWith([unknown(400), cut], { profile: smallWindow })
    const reply = await postChat(at.url, request)
    expect(reply.status).toBe(400)
    expect(reply.text).toContain('Unknown parameter: colour')
    expect(reply.action).toBe('compacted')
    expect(reply.header('x-foldgate-attempts')).toBe('2')
    expect(at.upstream.requests).toHaveLength(2)
  })

  test('where the second try meets a rate limit, nothing was learnt of how to send', async () => {
    // Whatever was no refusal of the request itself counted as proof that only the original bytes work, or that
    // joined ones do.
    const limited = json({ error: { message: 'slow down' } }, 429)
    const at = play([refused(400), limited, completion('fine')])
    expect((await at.post(request)).status).toBe(429)
    expect((await at.post(request)).action).toBe('compacted')
    const joined = play([alternation, limited, completion('fine')])
    expect((await joined.post(request)).status).toBe(429)
    expect((await joined.post(request)).action).toBe('compacted')
    expect(rolesOf(joined.upstream.requests[2]).join()).toContain('user,user')
  })

  test('a request that was not rewritten is never sent again', async () => {
    const at = play([unknown(422), completion('fine')], {})
    expect((await at.post(request)).status).toBe(422)
    expect(at.upstream.requests).toHaveLength(1)
  })

  test.each<[string, number, object]>([
    ['authentication', 401, { message: 'Incorrect API key' }],
    ['payment', 402, { message: 'no credits' }],
    ['permission', 403, { message: 'no access to this model' }],
    ['an unknown model', 404, { message: 'no such model' }],
    ['a rate limit', 429, { message: 'slow down' }],
    ['an outage', 503, { message: 'overloaded' }],
    ['the content filter', 400, { message: 'The response was filtered by our content management policy' }],
    ['a key in a 400', 400, { message: 'no', code: 'invalid_api_key' }],
  ])('%s is the client’s at once', async (_name, status, error) => {
    const at = play([json({ error }, status), completion('fine')])
    const reply = await at.post(request)
    expect(reply.status).toBe(status)
    expect(JSON.parse(reply.text)).toEqual({ error })
    expect(at.upstream.requests).toHaveLength(1)
  })
})

describe('nothing that goes wrong inside Foldgate fails a request', () => {
  type Failing = Partial<Record<Exclude<keyof Store, 'name' | 'close'>, true>>

  /** A memory store of which some methods reject. */
  function breaking(failing: Failing): Store {
    const store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
    return {
      ...store,
      ...(failing.getFirst && { getFirst: broken }),
      ...(failing.put && { put: broken }),
      ...(failing.putIfAbsent && { putIfAbsent: broken }),
    }
  }
  const all = { getFirst: true, put: true, putIfAbsent: true } as const

  test.each<[string, Failing]>([
    ['reads', { getFirst: true }],
    ['writes of compactions', { putIfAbsent: true }],
    ['writes of seen requests', { put: true }],
    ['everything', all],
  ])('a store whose %s fail: the conversation is compacted all the same', async (_name, failing) => {
    await using at = await stand(completion('fine'), { store: breaking(failing) })
    for (const messages of [twoWishes, [...twoWishes, { role: 'assistant', content: 'a' }]]) {
      const reply = await postChat(at.url, chatOf(messages))
      expect(reply.status).toBe(200)
      expect(reply.action).toBe('compacted')
      expect(reply.header('x-foldgate-conversation')).toMatch(/^[\w-]{8,}$/)
    }
    const [first, second] = at.upstream.requests.map(rawMessages)
    expect(second?.slice(0, first?.length)).toEqual(first)
    expect(at.foldgate.log.join('')).toContain('"part":"store"')
    expect(at.foldgate.log.join('')).not.toContain('PLANTED-SECRET')
  })

  test('a store that fails altogether: an overflow is recovered all the same', async () => {
    await using at = await stand([overflow(4_096, 9_000), completion('fine')], {
      profile: {},
      store: breaking(all),
    })
    const reply = await postChat(at.url, request)
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('recovered')
  })

  const fold = { frontier: 10, beforeTokensMax: 100, afterTokensMax: 0, systemTokensMax: 0 }
  const compaction = {
    version: 1,
    reason: 'trigger',
    point: 20,
    task: 0,
    latestUser: 0,
    reach: { render: 10, preview: 10, clear: 10 },
    fold,
    clips: [],
    thoughts: [],
  }
  test.each<[string, string | object]>([
    ['no JSON', '{'],
    ['a seen request of nothing', '{"conversation":"id","compaction":null}'],
    ['a seen request of a compaction that is not there', '{"conversation":"id","compaction":"gone"}'],
    ['a compaction beyond the end', { point: 5_000 }],
    ['a compaction with a negative point', { point: -3 }],
    ['a frontier inside a tool round', { fold: { ...fold, frontier: 2 } }],
    ['a frontier behind its point', { fold: { ...fold, frontier: 25 } }],
    ['a kept result', { fold: { ...fold, kept: [3] } }],
    ['a kept message of the tail', { fold: { ...fold, kept: [12] } }],
    ['a task that is none', { task: 7, latestUser: 9 }],
    ['a task in the system block', { task: -100 }],
    ['clips of messages that are not there', { clips: [{ index: 4_000, tokensMax: 5 }] }],
    ['a clip of a system message', { clips: [{ index: -1, tokensMax: 1 }] }],
    ['sizes below nought', { fold: { ...fold, beforeTokensMax: -9 } }],
    ['reaches beyond the end', { reach: { render: 1e9, preview: 1e9, clear: 1e9 } }],
    ['a version of the future', { version: 99 }],
    ['numbers that are none', { point: 1e300 }],
  ])('a damaged record (%s) costs a cache miss, no more', async (_name, damage) => {
    const value = typeof damage === 'string' ? damage : JSON.stringify({ ...compaction, ...damage })
    const store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
    const damaged: Store = {
      ...store,
      getFirst: async (keys) => (keys.length > 0 ? { index: 0, value } : null),
    }
    await using at = await stand(completion('fine'), { store: damaged })
    const reply = await postChat(at.url, request)
    expect([reply.status, reply.action]).toEqual([200, 'compacted'])
    const sent = rawMessages(at.upstream.requests[0])
    expect(sent[0]).toBe(JSON.stringify(twoWishes[0]))
    expect(sent.at(-1)).toBe(JSON.stringify(twoWishes.at(-1)))
    expect(at.bodies()[0]?.length).toBeLessThan(original.length / 2)
  })

  test('a request that cannot be measured is sent as it came, and what it was is logged without content', async () => {
    const profiles = unmeasurable(smallWindow, 'PLANTED-SECRET')
    await using at = await standWith(completion('fine'), { profiles })
    const reply = await postChat(at.url, request)
    expect(reply.status).toBe(200)
    expect(reply.action).toBe('failed-open;reason=measure')
    expect(reply.header('x-foldgate-window')).toBeNull()
    expect(at.upstream.requests[0]?.body.toString()).toBe(original)
    expect(at.foldgate.log.join('')).toContain('"part":"measure"')
    expect(at.foldgate.log.join('')).not.toContain('PLANTED-SECRET')
  })
})
