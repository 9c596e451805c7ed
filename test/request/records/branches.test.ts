import { chatCompletions } from '../../../src/dialects/chat-completions/chat-completions.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ConversationCard } from '../../../src/activity/conversations/conversation-list.ts'
import { createFactsReader } from '../../../src/dialects/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { createFailures } from '../../../src/activity/failures.ts'
import { createRecords } from '../../../src/request/records/records.ts'
import { createStoreGuard } from '../../../src/stores/store-guard.ts'
import { digest } from '../../../src/request/read/body-source.ts'
import { readBytes } from '../../../src/request/read/read-chat.ts'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import type { TestMessage } from '../../support/conversations.ts'
import { completion, type Script } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { reportStand, type ReportStand } from '../../activity/report/report-stand.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const user = (content: string): TestMessage => ({ role: 'user', content })
const assistant = (content: string): TestMessage => ({ role: 'assistant', content })
const begun = [{ role: 'system', content: 'You repair programs.' }, user('Repair the nightly run.')]

/** A tool round that reads these files. */
const calls = (...paths: readonly string[]): TestMessage[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: paths.map((path, index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name: 'read', arguments: JSON.stringify({ path }) },
    })),
  },
  ...paths.map((path, index) => ({ role: 'tool', tool_call_id: `call_${index}`, content: path })),
]

type Identity = { readonly conversation: string | null; readonly parent: string | null }

/** A client whose requests come one after the other; each tells which conversation it was taken for. */
function client(at: ReportStand, headers: Readonly<Record<string, string>> = {}) {
  return async function ask(...messages: readonly TestMessage[]): Promise<Identity> {
    const reply = await postChat(at.url, chatOf(messages), headers)
    const conversation = reply.header('x-foldgate-conversation')
    const card: ConversationCard = JSON.parse((await at.admin(`/conversations/${conversation}`)).text)
    return { conversation: card.id, parent: card.parent }
  }
}

/** Answers as soon as so many requests wait for it. */
function together(count: number, script: Script): Script {
  const allCame = Promise.withResolvers<void>()
  let came = 0
  return async (...of) => {
    came += 1
    if (came === count) allCame.resolve()
    await allCame.promise
    await script(...of)
  }
}

const newStore = () => openMemoryStore({ bytesMax: 16_000_000, lifetimeMs: 0 })

describe('a conversation that goes on in two ways', () => {
  const one = [...begun, assistant('I begin.'), user('Go on with the first.')]
  const other = [...begun, assistant('I begin otherwise.'), user('Go on with the second.')]
  const longer = (messages: readonly TestMessage[], turn: number) => [
    ...messages,
    ...Array.from({ length: turn }, (_, index) => [
      assistant(`Done ${index}.`),
      user(`And ${index}?`),
    ]).flat(),
  ]

  test('has an id for each, the second with the first as its parent, over many turns and a restart', async () => {
    const store = newStore()
    let first: Identity
    let second: Identity
    {
      await using at = await reportStand(completion('fine'), { store })
      const ask = client(at)
      first = await ask(...begun)
      expect(first).toEqual({ conversation: expect.stringMatching(/^[\w-]{16}$/), parent: null })
      expect(await ask(...one)).toEqual(first)
      expect(await ask(...longer(one, 1))).toEqual(first)
      second = await ask(...other)
      expect(second.parent).toBe(first.conversation)
      expect(second.conversation).not.toBe(first.conversation)
      for (let turn = 2; turn <= 6; turn += 1) {
        expect(await ask(...longer(one, turn))).toEqual(first)
        expect(await ask(...longer(other, turn - 1))).toEqual(second)
      }
      const { conversations } = JSON.parse((await at.admin('/conversations')).text)
      expect(conversations).toMatchObject([
        { id: second.conversation, parent: first.conversation, requests: 6 },
        { id: first.conversation, parent: null, requests: 8 },
      ])
    }
    await using again = await reportStand(completion('fine'), { store })
    const before = (await again.rows(0)).length
    await postChat(again.url, chatOf(longer(one, 8)))
    await postChat(again.url, chatOf(longer(other, 9)))
    const rows = (await again.rows(before + 2)).slice(before)
    expect(rows.map(({ conversation, parent }) => ({ conversation, parent }))).toEqual([first, second])
  })

  test('and in a third way, and from a branch: each has its own id and the parent it left', async () => {
    await using at = await reportStand(completion('fine'))
    const ask = client(at)
    const first = await ask(...begun)
    await ask(...longer(one, 0))
    await ask(...longer(one, 1))
    const second = await ask(...other)
    await ask(...longer(other, 1))
    await ask(...longer(other, 2))
    const third = await ask(...begun, assistant('A third way.'), user('Go on.'))
    expect(third.parent).toBe(first.conversation)
    const fourth = await ask(...other, assistant('Not done.'), user('Why?'))
    expect(fourth.parent).toBe(second.conversation)
    const ids = [first, second, third, fourth].map(({ conversation }) => conversation)
    expect(new Set(ids).size).toBe(4)
  })

  // A branch is a branch only when both go on: whoever is the first to go on is the conversation.
  test.each([
    ['the one that was asked first', [one, other]],
    ['the one that took its place', [other, one]],
  ])(
    'with both ends asked before either goes on: %s keeps the id where it goes on first',
    async (_, ways) => {
      await using at = await reportStand(completion('fine'))
      const ask = client(at)
      const first = await ask(...begun)
      expect(await ask(...one)).toEqual(first)
      expect(await ask(...other)).toEqual(first)
      const [early = [], late = []] = ways
      expect(await ask(...longer(early, 1))).toEqual(first)
      const second = await ask(...longer(late, 1))
      expect(second.parent).toBe(first.conversation)
      expect(second.conversation).not.toBe(first.conversation)
      expect(await ask(...longer(early, 2))).toEqual(first)
      expect(await ask(...longer(late, 2))).toEqual(second)
    },
  )

  // Two requests fork while neither is answered: neither finds the other on record.
  test('asked at the same time: the second to go on is the branch', async () => {
    const fine = completion('fine')
    const both = together(2, fine)
    await using at = await reportStand([fine, both, both, fine])
    const ask = client(at)
    const first = await ask(...begun)
    expect(await Promise.all([ask(...one), ask(...other)])).toEqual([first, first])
    expect(await ask(...longer(other, 1))).toEqual(first)
    const second = await ask(...longer(one, 1))
    expect(second.parent).toBe(first.conversation)
    expect(await ask(...longer(other, 2))).toEqual(first)
    expect(await ask(...longer(one, 2))).toEqual(second)
  })

  test('its first request written anew, once and again, is the same branch', async () => {
    await using at = await reportStand(completion('fine'))
    const ask = client(at)
    const first = await ask(...begun)
    await ask(...one)
    await ask(...longer(one, 1))
    const second = await ask(...other)
    expect(second.parent).toBe(first.conversation)
    expect(await ask(...begun, assistant('I begin otherwise.'), user('No, wait.'))).toEqual(second)
    expect(await ask(...begun, assistant('Otherwise.'), user('Once more.'))).toEqual(second)
    expect(await ask(...longer(one, 2))).toEqual(first)
  })

  test('a retry, whenever it comes, is no branch', async () => {
    await using at = await reportStand(completion('fine'))
    const ask = client(at)
    const first = await ask(...begun)
    expect(await ask(...begun)).toEqual(first)
    await ask(...one)
    expect(await ask(...begun)).toEqual(first)
    expect(await ask(...one)).toEqual(first)
    await ask(...longer(one, 1))
    expect(await ask(...one)).toEqual(first)
  })

  test('nor is one more user message after a request that was never answered', async () => {
    await using at = await reportStand(completion('fine'))
    const ask = client(at)
    const first = await ask(...begun)
    const more = [...begun, user('Are you there?')]
    expect(await ask(...more)).toEqual(first)
    expect(await ask(...more)).toEqual(first)
    expect(await ask(...more, assistant('Yes.'), user('Good.'))).toEqual(first)
  })

  test('tool rounds that differ are two ways', async () => {
    await using at = await reportStand(completion('fine'))
    const ask = client(at)
    const first = await ask(...begun)
    expect(await ask(...begun, ...calls('a', 'b'))).toEqual(first)
    expect(await ask(...begun, ...calls('a', 'b'), ...calls('d'))).toEqual(first)
    const second = await ask(...begun, ...calls('a', 'c'))
    expect(second.parent).toBe(first.conversation)
  })
})

test('ids of different scopes never meet, whatever they say', async () => {
  await using at = await reportStand(completion('fine'))
  const ask = client(at, { authorization: 'Bearer one' })
  const mine = await ask(...begun)
  await ask(...begun, assistant('I begin.'), user('Go on.'))
  await postChat(at.url, chatOf(begun), { authorization: 'Bearer two' })
  const theirs = await at.row(3)
  await postChat(at.url, chatOf([...begun, assistant('Otherwise.'), user('Go on.')]), {
    authorization: 'Bearer two',
  })
  const theirsNext = await at.row(4)
  expect(theirs.conversation).not.toBe(mine.conversation)
  expect([theirsNext.conversation, theirsNext.parent]).toEqual([theirs.conversation, null])
})

// A branch that went on with another model was found by its name alone, which said nothing of the parent.
test('a branch that goes on with another model keeps its id and its parent', async () => {
  await using at = await reportStand(completion('fine'))
  const ask = client(at)
  const first = await ask(...begun)
  const one = [...begun, assistant('I begin.'), user('Go on with the first.')]
  await ask(...one)
  await ask(...one, assistant('Done.'), user('And now?'))
  const branch = [...begun, assistant('I begin otherwise.'), user('Go on with the second.')]
  const second = await ask(...branch)
  expect(second.parent).toBe(first.conversation)
  const next = [...branch, assistant('Done.'), user('And now?')]
  await postChat(at.url, { model: 'another-model', messages: next })
  expect(await at.row(5)).toMatchObject(second)
})

/** The requests of a tree of conversations: each but the first goes on from an earlier one, in a way of its own. */
const arbitraryRequests = fc.array(fc.nat({ max: 1_000 }), { maxLength: 24 }).map((choices) => {
  const all: TreeRequest[] = [{ messages: begun, parent: null }]
  for (const [way, choice] of choices.entries()) {
    const parent = choice % all.length
    const messages = all[parent]?.messages ?? []
    all.push({ messages: [...messages, assistant(`Way ${way}.`), user('Go on.')], parent })
  }
  return all
})

type TreeRequest = { readonly messages: readonly TestMessage[]; readonly parent: number | null }

const reading = {
  readFacts: createFactsReader(digest, { entriesMax: 1000 }),
  limits: bodyLimits,
}

const place = { scope: 'scope', profile: 'default', model: 'm' }

async function chatWith(messages: readonly TestMessage[]) {
  const chat = await readBytes(
    chatCompletions,
    Buffer.from(JSON.stringify(chatOf(messages))),
    'scope',
    reading,
  )
  if (typeof chat === 'string') throw new Error(`the test made a body that is not read: ${chat}`)
  return chat
}

/** Tells which conversation a request is taken for, and records it. */
function recordsOf(store: Store) {
  const records = createRecords(store, createStoreGuard(createFailures(() => {})), () => {})
  return async function ask(messages: readonly TestMessage[]): Promise<Identity> {
    const chat = await chatWith(messages)
    const remembered = await records.find(chat, place)
    await records.see(chat, place, remembered)
    return { conversation: remembered.conversation, parent: remembered.parent }
  }
}

function isAncestor(requests: readonly TreeRequest[], above: number, below: number): boolean {
  for (let at: number | null = below; at !== null; at = requests[at]?.parent ?? null) {
    if (at === above) return true
  }
  return false
}

test('in any tree of conversations, in any order in which it grows, ways that both went on have ids of their own', async () => {
  const arbitraryOrder = fc.array(fc.nat({ max: 1_000 }), { minLength: 25, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(arbitraryRequests, arbitraryOrder, async (requests, choices) => {
      const ask = recordsOf(newStore())
      const told = new Map<number, Identity>()
      const wentOn = new Set<number>()
      const open = [0]
      for (let step = 0; open.length > 0; step += 1) {
        const [index = 0] = open.splice((choices[step] ?? 0) % open.length, 1)
        const { messages = [], parent = null } = requests[index] ?? {}
        const identity = await ask(messages)
        const before = parent === null ? undefined : told.get(parent)
        const ids = new Set([...told.values()].map(({ conversation }) => conversation))
        if (before === undefined) expect(identity.parent).toBeNull()
        // A branch is a conversation that nobody had, and its parent one that somebody has.
        else if (!ids.has(identity.conversation)) expect(identity.parent).toBe(before.conversation)
        if (parent !== null) wentOn.add(parent)
        told.set(index, identity)
        for (const [child, request] of requests.entries()) if (request.parent === index) open.push(child)
        // A retry of any of them changes nothing.
        const again = [...told.keys()][(choices[step] ?? 0) % told.size] ?? 0
        expect(await ask(requests[again]?.messages ?? [])).toEqual(told.get(again))
      }
      for (const [one, { parent: oneFrom }] of requests.entries()) {
        for (const [other, { parent: otherFrom }] of requests.entries()) {
          if (oneFrom === null || otherFrom === null) continue
          const areApart =
            !isAncestor(requests, oneFrom, otherFrom) && !isAncestor(requests, otherFrom, oneFrom)
          if (areApart) expect(told.get(one)?.conversation).not.toBe(told.get(other)?.conversation)
        }
      }
    }),
    { numRuns: propertyRuns(60) },
  )
})

/** Of each turn: how often its last message is written anew, and from which of those the conversation goes on. */
const arbitraryEdits = fc.array(
  fc.record({ written: fc.integer({ min: 1, max: 9 }), taken: fc.nat({ max: 8 }) }),
  { minLength: 1, maxLength: 8 },
)

test('however often the last message is written anew, and from whichever one it goes on, it is one conversation', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryEdits, async (turns) => {
      const ask = recordsOf(newStore())
      const first = await ask(begun)
      let messages: readonly TestMessage[] = begun
      for (const [turn, { written, taken }] of turns.entries()) {
        const ends = Array.from({ length: written }, (_, index) => [
          ...messages,
          assistant(`Answer ${turn}.`),
          user(`Question ${turn}, written ${index} times.`),
        ])
        for (const end of ends) expect(await ask(end)).toEqual(first)
        messages = ends[taken % written] ?? []
      }
    }),
    { numRuns: propertyRuns(60) },
  )
})
