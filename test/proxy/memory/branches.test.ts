import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ConversationCard } from '../../../src/admin/conversations/conversation-cards.ts'
import { createFactsReader } from '../../../src/conversation/facts.ts'
import { createValidatedValues } from '../../../src/dialects/validated-values.ts'
import { createFailures } from '../../../src/proxy/failures.ts'
import { createRecords } from '../../../src/proxy/memory/records.ts'
import { createStoreGuard } from '../../../src/proxy/memory/store-guard.ts'
import { digest } from '../../../src/proxy/request/body-source.ts'
import { readBytes } from '../../../src/proxy/request/read-chat.ts'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import type { TestMessage } from '../../support/conversations.ts'
import { completion } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../post-chat.ts'
import { reportStand, type ReportStand } from '../report/report-stand.ts'

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

const newStore = () => openMemoryStore({ charsMax: 16_000_000, lifetimeMs: 0 })

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
      second = await ask(...other)
      expect(second.parent).toBe(first.conversation)
      expect(second.conversation).not.toBe(first.conversation)
      for (let turn = 1; turn <= 6; turn += 1) {
        expect(await ask(...longer(one, turn))).toEqual(first)
        expect(await ask(...longer(other, turn))).toEqual(second)
      }
      const { conversations } = JSON.parse((await at.admin('/conversations')).text)
      expect(conversations).toMatchObject([
        { id: second.conversation, parent: first.conversation, requests: 7 },
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
    await ask(...one)
    const second = await ask(...other)
    const third = await ask(...begun, assistant('A third way.'), user('Go on.'))
    expect(third.parent).toBe(first.conversation)
    await ask(...longer(other, 1))
    const fourth = await ask(...other, assistant('Not done.'), user('Why?'))
    expect(fourth.parent).toBe(second.conversation)
    const ids = [first, second, third, fourth].map(({ conversation }) => conversation)
    expect(new Set(ids).size).toBe(4)
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
  await ask(...begun, assistant('I begin.'), user('Go on with the first.'))
  const branch = [...begun, assistant('I begin otherwise.'), user('Go on with the second.')]
  const second = await ask(...branch)
  expect(second.parent).toBe(first.conversation)
  const next = [...branch, assistant('Done.'), user('And now?')]
  await postChat(at.url, { model: 'another-model', messages: next })
  expect(await at.row(4)).toMatchObject(second)
})

/** The requests of a tree of conversations: each but the first goes on from an earlier one, in a way of its own. */
const arbitraryRequests = fc.array(fc.nat({ max: 1_000 }), { maxLength: 24 }).map((choices) => {
  const all: { messages: readonly TestMessage[]; parent: number | null }[] = [
    { messages: begun, parent: null },
  ]
  for (const [way, choice] of choices.entries()) {
    const parent = choice % all.length
    const messages = all[parent]?.messages ?? []
    all.push({ messages: [...messages, assistant(`Way ${way}.`), user('Go on.')], parent })
  }
  return all
})

const reading = {
  readFacts: createFactsReader(digest, { entriesMax: 1000 }),
  validatedOf: createValidatedValues({ entriesMax: 10 }),
}

async function chatWith(messages: readonly TestMessage[]) {
  const chat = await readBytes(Buffer.from(JSON.stringify(chatOf(messages))), 'scope', reading)
  if (typeof chat === 'string') throw new Error(`the test made a body that is not read: ${chat}`)
  return chat
}

test('in any tree of conversations, in any order in which it grows, who goes on keeps the id and who leaves gets one', async () => {
  const place = { scope: 'scope', profile: 'default', model: 'm' }
  const arbitraryOrder = fc.array(fc.nat({ max: 1_000 }), { minLength: 25, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(arbitraryRequests, arbitraryOrder, async (requests, choices) => {
      const guarded = createStoreGuard(createFailures(() => {}))
      const records = createRecords(newStore(), guarded)
      const known = new Map<number, Identity>()
      const wentOn = new Set<number>()
      const open = requests.flatMap(({ parent }, index) => (parent === null ? [index] : []))
      async function ask(index: number): Promise<Identity> {
        const chat = await chatWith(requests[index]?.messages ?? [])
        const remembered = await records.find(chat, place)
        await records.see(chat, place, remembered)
        return { conversation: remembered.conversation, parent: remembered.parent }
      }
      for (let step = 0; open.length > 0; step += 1) {
        const [index = 0] = open.splice((choices[step] ?? 0) % open.length, 1)
        const { parent = null } = requests[index] ?? {}
        const told = await ask(index)
        const before = parent === null ? undefined : known.get(parent)
        if (parent === null || before === undefined) expect(told.parent).toBeNull()
        else if (wentOn.has(parent)) {
          expect(told.parent).toBe(before.conversation)
          const others = [...known.values()].map(({ conversation }) => conversation)
          expect(others).not.toContain(told.conversation)
        } else expect(told).toEqual(before)
        if (parent !== null) wentOn.add(parent)
        known.set(index, told)
        for (const [child, request] of requests.entries()) if (request.parent === index) open.push(child)
        // A retry of any of them changes nothing.
        const again = [...known.keys()][(choices[step] ?? 0) % known.size] ?? 0
        expect(await ask(again)).toEqual(known.get(again))
      }
    }),
    { numRuns: 60 },
  )
})
