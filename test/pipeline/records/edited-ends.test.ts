import { describe, expect, onTestFinished, test } from 'vitest'
import type { ConversationCard } from '../../../src/telemetry/conversations/conversation-list.ts'
import { openMemoryStore } from '../../../src/storage/memory-store.ts'
import type { Store } from '../../../src/storage/store.ts'
import { groupedStore } from '../../admin/memory.ts'
import {
  aiderChat,
  type AiderChatOptions,
  growing,
  longRun,
  type TestMessage,
} from '../../support/conversations.ts'
import { exactUpstream } from '../../support/exact-upstream.ts'
import { completion } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { reportStand, type ReportStand } from '../../telemetry/report/report-stand.ts'

const newStore = () => openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })

/** Sends requests one after the other; returns the conversation that each was taken for. */
async function send(
  at: Pick<ReportStand, 'url'>,
  requests: readonly (readonly TestMessage[])[],
  more: object = {},
): Promise<readonly string[]> {
  const ids: string[] = []
  for (const messages of requests) {
    const reply = await postChat(at.url, { ...chatOf(messages), ...more })
    expect(reply.status).toBe(200)
    ids.push(reply.header('x-foldgate-conversation') ?? '')
  }
  return ids
}

/** The list that the page shows, once it tells of so many requests. */
async function listed(at: ReportStand, requests: number): Promise<readonly ConversationCard[]> {
  await at.rows(requests)
  const told: { conversations: ConversationCard[] } = JSON.parse((await at.admin('/conversations')).text)
  return told.conversations
}

const short: AiderChatOptions = { requests: 12, reminder: 'message', fileLines: 20, answerLines: 8 }
const long: AiderChatOptions = { requests: 20, reminder: 'message', fileLines: 60, answerLines: 60 }
const window8k = { window: { tokens: 8_192, output_reserve: 1_024 } }

// A chat with aider was as many conversations as it had requests: the files and the reminder stand behind the newest
// message, so that no request is the beginning of the next.
describe('a chat whose client moves its files and a reminder behind the newest message', () => {
  test.each([
    ['below the window', short],
    ['far beyond the window', long],
    ['far beyond it, with the reminder inside', { ...long, reminder: 'inside' as const }],
  ])('is one conversation from its second request on, without a branch: %s', async (_, options) => {
    const upstream = await exactUpstream(8_192)
    onTestFinished(() => upstream.close())
    await using at = await reportStand(completion('fine'), { upstream: upstream.url, profile: window8k })
    const ids = await send(at, aiderChat(options))
    // The first has no history, and not one message where the others have it.
    const [alone, ...others] = ids
    expect(new Set(others).size).toBe(1)
    expect(others).not.toContain(alone)
    expect(await listed(at, options.requests)).toMatchObject([
      { id: others[0], parent: null, requests: options.requests - 1 },
      { id: alone, parent: null, requests: 1 },
    ])
    expect(upstream.requests.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
    if (options === short) return
    // The prompt cache is missed once at each compaction, and read from in between. Found by nothing, most requests
    // beyond the window were a compaction, and the cache missed three and more in a row.
    const first = upstream.requests.findIndex(({ rawMessages }) =>
      rawMessages.some((text) => text.includes('<conversation-recap>')),
    )
    const isCached = upstream.requests.slice(first).map(({ cachedTokens }) => cachedTokens > 0)
    expect(isCached.length).toBeGreaterThan(10)
    expect(isCached.filter((isHit, index) => !isHit && isCached[index - 1] === false)).toEqual([])
  })

  const example = [
    { role: 'user', content: 'Rename the function.' },
    { role: 'assistant', content: 'As in this example.' },
  ]

  // All chats of this client begin alike, and none of them goes on from a whole request.
  test('is one from its first on where examples stand before its history, and not the one that began with the same', async () => {
    await using at = await reportStand(completion('fine'))
    const [first, ...others] = await send(at, aiderChat({ ...short, before: example }))
    expect(new Set(others)).toEqual(new Set([first]))
    const [, ...next] = await send(at, aiderChat({ ...short, before: example, subject: 'Task' }))
    expect(new Set(next).size).toBe(1)
    expect(next).not.toContain(first)
  })

  test('is one where answers are rejected, and asked for again with the files as they were', async () => {
    await using at = await reportStand(completion('fine'))
    const requests = aiderChat({ ...short, requests: 5 }).flatMap((messages) => {
      const again = [...messages.slice(0, -1), { role: 'assistant', content: 'No block.' }]
      const rejected = Array.from({ length: 3 }, (_, times) => [
        ...again,
        ...Array.from({ length: times + 1 }, (__, time) => [
          { role: 'user', content: `That was no block, ${time}.` },
          { role: 'assistant', content: `Sorry, ${time}.` },
        ])
          .flat()
          .slice(0, -1),
        ...messages.slice(-1),
      ])
      return [messages, ...rejected]
    })
    // All four of the first have their files in common.
    const ids = await send(at, requests)
    expect(new Set(ids.slice(0, 4)).size).toBe(1)
    expect(new Set(ids.slice(4)).size).toBe(1)
    expect((await listed(at, 20)).map(({ parent }) => parent)).toEqual([null, null])
  })

  test('is gone from the store once it is deleted, its beginnings included', async () => {
    const store = groupedStore()
    await using at = await reportStand(completion('fine'), { store, profile: window8k })
    const ids = await send(at, aiderChat(long))
    const id = ids.at(-1) ?? ''
    await listed(at, long.requests)
    const inner = (await store.holds(id)).filter((line) => line.includes('"inner":true'))
    expect(inner.length).toBeGreaterThan(long.requests)
    expect((await at.admin(`/conversations/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await store.holds(id)).toEqual([])
  })
})

// An agent that shows only its newest three results whole edits the fourth of each request.
test('an agent that clears its older results by itself is one conversation while it does', async () => {
  await using at = await reportStand(completion('fine'))
  const whole = 3
  const requests = [...growing(longRun(12, 3))].map((messages) => {
    const results = messages.flatMap(({ role }, index) => (role === 'tool' ? [index] : []))
    const cleared = new Set(results.slice(0, -whole))
    return messages.map((message, index) =>
      cleared.has(index) ? { ...message, content: 'Old result, left out.' } : message,
    )
  })
  const first = requests.findIndex((messages) =>
    messages.some(({ content }) => content === 'Old result, left out.'),
  )
  const ids = await send(at, requests)
  expect(new Set(ids.slice(0, first)).size).toBe(1)
  expect(new Set(ids.slice(first)).size).toBe(1)
})

// Foldgate was started anew with an empty store, or the client had talked to the provider itself before.
test('a user who edits the last message of a chat that was never seen before stays in one conversation', async () => {
  await using at = await reportStand(completion('fine'))
  const chat = Array.from({ length: 5 }, (_, turn) => [
    { role: 'user', content: `Question ${turn}.` },
    { role: 'assistant', content: `Answer ${turn}.` },
  ]).flat()
  const ends = ['And now?', 'And then?', 'Well?'].map((content) => [...chat, { role: 'user', content }])
  const wentOn = [
    ...(ends[2] ?? []),
    { role: 'assistant', content: 'So.' },
    { role: 'user', content: 'Good.' },
  ]
  const ids = await send(at, [...ends, wentOn])
  expect(new Set(ids).size).toBe(1)
  // Only that one of them went on: whoever goes on from another end now is a branch.
  const other = [
    ...(ends[0] ?? []),
    { role: 'assistant', content: 'Or so.' },
    { role: 'user', content: 'Bad.' },
  ]
  const [branch] = await send(at, [other])
  expect(await listed(at, 5)).toMatchObject([
    { id: branch, parent: ids[0], requests: 1 },
    { id: ids[0], parent: null, requests: 4 },
  ])
})

// Every conversation begins with the same system prompt, which is no part of its keys.
test('conversations have nothing in common by their system prompt, nor one that is nothing else', async () => {
  await using at = await reportStand(completion('fine'))
  const system = { role: 'system', content: 'You repair programs.' }
  const ids = await send(at, [
    [system],
    [system, { role: 'user', content: 'One.' }],
    [system, { role: 'user', content: 'Two.' }],
  ])
  expect(new Set(ids).size).toBe(3)
})

const isRecord = (key: string): boolean => /^(?:seen|name|compaction):/.test(key)

/** A store that counts what is looked up and written of seen requests, names and compactions. */
function countingStore() {
  const inner = newStore()
  const counts = { lookups: 0, entries: 0 }
  const count = (keys: readonly string[]) => void (counts.entries += keys.filter(isRecord).length)
  const store: Store = {
    ...inner,
    getFirst: (keys) => {
      if (keys.some(isRecord)) counts.lookups += 1
      return inner.getFirst(keys)
    },
    putIfAbsent: (key, value, group) => {
      count([key])
      return inner.putIfAbsent(key, value, group)
    },
    put: (entries) => {
      count(entries.map(({ key }) => key))
      return inner.put(entries)
    },
  }
  const taken = () => {
    const { lookups, entries } = counts
    Object.assign(counts, { lookups: 0, entries: 0 })
    return { lookups, entries }
  }
  return { store, taken }
}

describe('what the records of a request cost', () => {
  const roomy = { window: { tokens: 400_000 } }

  const chat = Array.from({ length: 6 }, (_, turn) => [
    { role: 'user', content: `Question ${turn}.` },
    { role: 'assistant', content: `Answer ${turn}.` },
  ]).flat()

  test.each([
    ['an agent’s', longRun(6, 4)],
    ['an agent’s, with a user message behind each result', withPictures(longRun(6, 4))],
    ['a chat’s', chat],
  ])('%s that goes on: two look-ups, its seen request, its name, and the way to it', async (_, run) => {
    const { store, taken } = countingStore()
    await using at = await reportStand(completion('fine'), { store, profile: roomy })
    const costs = []
    for (const messages of growing(run)) {
      await send(at, [messages])
      costs.push(taken())
    }
    const [first, second, ...others] = costs
    expect(first).toEqual({ lookups: 1, entries: 2 })
    expect(second?.entries).toBe(3)
    expect(others).toEqual(others.map(() => ({ lookups: 2, entries: 3 })))
  })

  test('one whose end is edited: one look-up more, its two beginnings, and the end that it replaces', async () => {
    const { store, taken } = countingStore()
    await using at = await reportStand(completion('fine'), { store, profile: roomy })
    await send(at, aiderChat({ ...short, requests: 6 }))
    taken()
    await send(at, aiderChat({ ...short, requests: 7 }).slice(6))
    expect(taken()).toEqual({ lookups: 3, entries: 6 })
  })
})

/** A run whose results are followed by a user message, as pictures are that no tool message may carry. */
const withPictures = (run: readonly TestMessage[]): TestMessage[] =>
  run.flatMap((message) =>
    message.role === 'tool' ? [message, { role: 'user', content: 'As you see.' }] : [message],
  )
