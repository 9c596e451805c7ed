import { describe, expect, test } from 'vitest'
import { ruleBreaks } from '../support/strict-upstream/message-rules.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { growing, longRun, type TestMessage } from '../support/conversations.ts'
import { completion } from '../support/fake-upstream.ts'
import type { FoldgateOptions } from '../support/foldgate.ts'
import { chatOf, postChat, rawMessages, type ChatReply } from '../support/post-chat.ts'
import { standWith } from '../support/stand.ts'

const windowTokens = 6_000
const reserveTokens = 512
const profile = { window: { tokens: windowTokens, output_reserve: reserveTokens } }
const run = longRun(44, 11, 0.5)
/** Long enough for some compactions. */
const shortRun = longRun(24, 11, 0.5)
const tools = [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }]
/** What a client may change half-way: its tools, and how long an answer may be. */
const other = { tools, max_tokens: 508 }

/** A Foldgate before an upstream of its own that accepts everything. */
async function stand(options: Partial<FoldgateOptions> = {}) {
  const at = await standWith(completion('fine'), { profile, ...options })
  /** Sends a request; returns the raw messages that the upstream received. */
  async function send(
    messages: readonly TestMessage[],
    headers: Record<string, string> = {},
    more: object = {},
  ): Promise<{ raw: readonly string[]; reply: ChatReply }> {
    const reply = await postChat(at.url, chatOf(messages, more), headers)
    return { reply, raw: rawMessages(at.upstream.requests.at(-1)) }
  }
  return { ...at, send }
}

const openStore = (): Store => openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })

const brokenIn = (raw: readonly string[]) =>
  ruleBreaks(
    raw.map((text): unknown => JSON.parse(text)),
    'lenient',
  )

const startsWith = (longer: readonly string[], shorter: readonly string[]): boolean =>
  shorter.every((text, index) => longer[index] === text)

test('of a long run what was sent grows only at its end between compactions, which are few (P5), valid (P3) and fit (P7)', async () => {
  await using at = await stand()
  let before: readonly string[] = []
  let bodyBefore = ''
  let compactions = 0
  let kept = 0
  const requests = [...growing(run)]
  for (const messages of requests) {
    const { raw, reply } = await at.send(messages, {}, { tools })
    if (!startsWith(raw, before)) compactions += 1
    before = raw
    // The bytes around the prefix stay, too: the same body up to the last message of the view before.
    const body = at.upstream.requests.at(-1)?.body.toString() ?? ''
    if (body.startsWith(bodyBefore.slice(0, bodyBefore.lastIndexOf('}],"tools"')))) kept += 1
    bodyBefore = body
    expect(brokenIn(raw)).toEqual([])
    const [, sent] = /sent=<?(\d+)/.exec(reply.header('x-foldgate-tokens') ?? '') ?? []
    // The window less the reserve, less what unknown models count more than we do.
    expect(Number(sent)).toBeLessThanOrEqual((windowTokens - reserveTokens) / 1.15)
    expect(raw.slice(0, 2)).toEqual(run.slice(0, 2).map((message) => JSON.stringify(message)))
  }
  expect(compactions).toBeGreaterThan(3)
  expect(compactions).toBeLessThan(requests.length / 4)
  expect(kept).toBeGreaterThan(requests.length * 0.75)
})

/** The first request from the middle on that brings a compaction: right behind it there is room for a round before the next. */
async function compactedAt(points: readonly TestMessage[][], more: object = {}): Promise<number> {
  await using scratch = await stand()
  let before: readonly string[] = []
  for (const [index, messages] of points.entries()) {
    const { raw } = await scratch.send(messages, {}, more)
    if (index >= points.length / 2 && !startsWith(raw, before)) return index
    before = raw
  }
  return expect.fail('no request brought a compaction')
}

describe('the same conversation gives the same bytes (P6)', () => {
  test('in a second Foldgate on the same store, from any request on, and where both get it at once', async () => {
    const store = openStore()
    await using one = await stand({ store })
    await using two = await stand({ store: { ...store, close: async () => {} } })
    let turn = 0
    let compactions = 0
    let before: readonly string[] = []
    for (const messages of growing(shortRun)) {
      turn += 1
      const [mine, theirs] = turn % 2 === 0 ? [one, two] : [two, one]
      const first = mine.send(messages)
      if (turn % 3 !== 0) await first
      const [sent, same] = await Promise.all([first, theirs.send(messages)])
      expect(same.raw).toEqual(sent.raw)
      expect(same.reply.header('x-foldgate-conversation')).toBe(sent.reply.header('x-foldgate-conversation'))
      if (!startsWith(sent.raw, before)) compactions += 1
      before = sent.raw
    }
    expect(compactions).toBeGreaterThan(1)
  })

  // No mark of time or count stands in what Foldgate wrote.
  test('in one without records, at every request, a day later', async () => {
    await using warm = await stand({ nowMs: () => 1_700_000_000_000 })
    for (const [index, messages] of [...growing(run)].entries()) {
      const { raw } = await warm.send(messages)
      if (index % 10 !== 0) continue
      await using cold = await stand({ nowMs: () => 1_700_086_400_000 })
      expect((await cold.send(messages)).raw).toEqual(raw)
    }
  })

  test('on the same records after the tools and the output limit changed half-way: what lies in the past stays', async () => {
    const store = openStore()
    await using one = await stand({ store })
    await using two = await stand({ store: { ...store, close: async () => {} } })
    const points = [...growing(run)]
    const at = await compactedAt(points)
    let before: readonly string[] = []
    for (const messages of points.slice(0, at + 1)) before = (await one.send(messages)).raw
    const changed = (await two.send(points[at] ?? [], {}, other)).raw
    expect(changed).toEqual(before)
    expect((await one.send(points[at] ?? [], {}, other)).raw).toEqual(changed)
    const next = (await two.send(points[at + 1] ?? [], {}, other)).raw
    expect(startsWith(next, changed)).toBe(true)
    expect((await one.send(points[at + 1] ?? [], {}, other)).raw).toEqual(next)
  })

  test('without records after they changed: another past once, the same in each process, and on record from then on', async () => {
    const points = [...growing(run)]
    const at = await compactedAt(points, other)
    await using cold = await stand()
    await using another = await stand()
    const derived = (await cold.send(points[at] ?? [], {}, other)).raw
    expect((await another.send(points[at] ?? [], {}, other)).raw).toEqual(derived)
    // With the numbers of before, too: now it is on record.
    expect((await cold.send(points[at] ?? [])).raw).toEqual(derived)
    expect(startsWith((await cold.send(points[at + 1] ?? [])).raw, derived)).toBe(true)
  })

  // An answer that is interrupted leaves no message: where its request was made is no request point of what follows.
  test('a branch goes on from the last compaction that both share', async () => {
    await using at = await stand({ profile: { ...profile, target: 0.3 } })
    const points = [...growing(run)]
    let trunk: readonly string[] = []
    let shared: TestMessage[] = []
    for (const messages of points) {
      const { raw } = await at.send(messages)
      shared = messages
      const hasFolded = raw.length < messages.length && !startsWith(raw, trunk)
      trunk = raw
      // Right after a compaction there is room for more before the next one.
      if (hasFolded && messages.length > 40) break
    }
    for (const content of ['No, try the other file.', 'Stop here.']) {
      const { raw } = await at.send([...shared, { role: 'user', content }])
      expect(raw).toEqual([...trunk, JSON.stringify({ role: 'user', content })])
    }
  })
})

describe('what a client asks for', () => {
  test('x-foldgate-compact: force makes a compaction now, and it stays', async () => {
    await using at = await stand({ profile: { window: { tokens: 200_000 } } })
    const plain = await at.send(shortRun)
    expect(plain.reply.action).toBe('relayed')
    const forced = await at.send(shortRun, { 'x-foldgate-compact': 'force' })
    expect(forced.reply.action).toBe('compacted')
    expect(forced.raw.join().length).toBeLessThan(plain.raw.join().length)
    const grown = [...shortRun, { role: 'assistant', content: 'a' }, { role: 'user', content: 'b' }]
    const next = await at.send(grown)
    expect(next.reply.action).toBe('compacted')
    expect(next.raw).toEqual([...forced.raw, ...grown.slice(-2).map((message) => JSON.stringify(message))])
  })

  test('off leaves the conversation as it is, whatever is on record, and a bypass looks at nothing', async () => {
    await using at = await stand()
    expect((await at.send(shortRun)).reply.action).toBe('compacted')
    const off = await at.send(shortRun, { 'x-foldgate-compact': 'off' })
    expect(off.reply.action).toBe('relayed;reason=off')
    expect(off.raw).toEqual(shortRun.map((message) => JSON.stringify(message)))
    const bypassed = await at.send(shortRun, { 'x-foldgate-bypass': '1' })
    expect(bypassed.reply.action).toBe('bypassed')
    expect(at.upstream.requests.at(-1)?.body.toString()).toBe(JSON.stringify(chatOf(shortRun)))
    expect(bypassed.reply.header('x-foldgate-tokens')).toBeNull()
  })

  test('what nobody can ask for is answered with an error', async () => {
    await using at = await stand()
    for (const [name, value, code] of [
      ['x-foldgate-bypass', 'perhaps', 'invalid_header'],
      ['x-foldgate-compact', 'more', 'invalid_header'],
      ['x-foldgate-conversation', 'x'.repeat(200), 'invalid_header'],
      ['x-foldgate-profile', 'nobody', 'unknown_profile'],
    ] as const) {
      const { reply } = await at.send(shortRun, { [name]: value })
      expect(reply.status).toBe(400)
      expect(JSON.parse(reply.text)).toMatchObject({ error: { code, type: 'foldgate_error', param: name } })
    }
    expect(at.upstream.requests).toEqual([])
  })
})

const of = (token: string, team = 'none') => ({ authorization: `Bearer ${token}`, 'x-team': team })

describe('the state of one scope is never used for another (P9)', () => {
  const client_keys = ['ada', 'ben'].map((name) => ({ name, key_env: `${name.toUpperCase()}_KEY` }))
  const env = { ADA_KEY: 'ada-old\nada-new', BEN_KEY: 'ben' }

  test.each([
    [
      'the name of a client key, whose key may be renewed',
      { client_keys },
      of('ada-old'),
      of('ada-new'),
      of('ben'),
    ],
    [
      'a header that the operator trusts',
      { scope: { header: 'x-team' } },
      of('1', 'a'),
      of('2', 'a'),
      of('1', 'b'),
    ],
  ])('%s says whose it is', async (_, settings, mine, renewed, theirs) => {
    await using at = await stand({ profile: { window: { tokens: 200_000 } }, settings, env })
    const forced = await at.send(shortRun, { ...mine, 'x-foldgate-compact': 'force' })
    expect(forced.reply.action).toBe('compacted')
    expect((await at.send(shortRun, renewed)).raw).toEqual(forced.raw)
    expect((await at.send(shortRun, theirs)).reply.action).toBe('relayed')
  })

  test('no store key, log line or header holds a credential or what a conversation says', async () => {
    const keys: string[] = []
    const values: string[] = []
    const store = openStore()
    const watched: Store = {
      ...store,
      getFirst: (asked) => {
        keys.push(...asked)
        return store.getFirst(asked)
      },
      put: (entries) => {
        for (const { value } of entries) values.push(value)
        return store.put(entries)
      },
      putIfAbsent: (key, value) => {
        values.push(value)
        return store.putIfAbsent(key, value)
      },
    }
    await using at = await stand({ store: watched })
    const planted = [...shortRun, { role: 'user', content: 'PLANTED-CONTENT' }]
    const { reply } = await at.send(planted, { authorization: 'Bearer PLANTED-KEY' })
    expect(reply.action).toBe('compacted')
    expect(keys.length).toBeGreaterThan(0)
    expect(values.length).toBeGreaterThan(0)
    const told = [...keys, ...values, ...at.foldgate.log, ...Object.values(reply)].join('\n')
    expect(told).not.toContain('PLANTED')
  })
})
