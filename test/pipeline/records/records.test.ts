import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ConversationCard } from '../../../src/telemetry/conversations/conversation-list.ts'
import { createFailures } from '../../../src/telemetry/failures.ts'
import { type Compaction, FOLD_VERSION } from '../../../src/compaction/compaction.ts'
import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import { createFactsReader } from '../../../src/formats/entry-facts.ts'
import { digest, readBytes } from '../../../src/pipeline/read/read-chat.ts'
import { readSeen, type SeenRequest, writeSeen } from '../../../src/pipeline/records/identify-conversation.ts'
import { createRecords } from '../../../src/pipeline/records/records.ts'
import { openMemoryStore } from '../../../src/storage/memory-store.ts'
import { createStoreGuard } from '../../../src/storage/store-guard.ts'
import type { Store } from '../../../src/storage/store.ts'
import { reportStand, type ReportStand } from '../../telemetry/report/report-stand.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { completion } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { forAllAsync } from '../../support/property-runs.ts'
import { standWith } from '../../support/stand.ts'

const user = (content: string): TestMessage => ({ role: 'user', content })
const assistant = (content: string): TestMessage => ({ role: 'assistant', content })
const begun = [{ role: 'system', content: 'You repair programs.' }, user('Repair the nightly run.')]

const newStore = () => openMemoryStore({ bytesMax: 16_000_000, lifetimeMs: 0 })
const reading = { readFacts: createFactsReader(digest, { entriesMax: 1000 }), limits: bodyLimits }
const place = { scope: 'scope', profile: 'default', model: 'm' }

async function chatWith(messages: readonly TestMessage[]) {
  const bytes = Buffer.from(JSON.stringify(chatOf(messages)))
  const chat = await readBytes(chatCompletions, bytes, 'scope', reading)
  if (typeof chat === 'string') throw new Error(`the test made a body that is not read: ${chat}`)
  return chat
}

const recordsOn = (store: Store) => createRecords(store, createStoreGuard(createFailures(() => {})))

type Identity = { readonly conversation: string | null; readonly parent: string | null }

/** Tells which conversation a request is taken for, and records it. */
function asker(store: Store = newStore()) {
  const records = recordsOn(store)
  return async function ask(messages: readonly TestMessage[], of = place): Promise<Identity> {
    const chat = await chatWith(messages)
    const remembered = await records.find(chat, of)
    records.see(chat, of, remembered)
    return { conversation: remembered.conversation, parent: remembered.parent }
  }
}

/** The same of a running Foldgate, whose requests come one after the other. */
const client = (at: ReportStand) =>
  async function ask(messages: readonly TestMessage[]): Promise<Identity> {
    const reply = await postChat(at.url, chatOf(messages))
    const conversation = reply.header('x-foldgate-conversation')
    const card: ConversationCard = JSON.parse((await at.admin(`/conversations/${conversation}`)).text)
    return { conversation: card.id, parent: card.parent }
  }

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

  test('has an id for each, the second with the first as its parent, over turns and a restart', async () => {
    const store = newStore()
    let first: Identity
    let second: Identity
    {
      await using at = await reportStand(completion('fine'), { store })
      const ask = client(at)
      first = await ask(begun)
      expect(first).toEqual({ conversation: expect.stringMatching(/^[\w-]{16}$/), parent: null })
      expect(await ask(one)).toEqual(first)
      expect(await ask(longer(one, 1))).toEqual(first)
      second = await ask(other)
      expect(second.parent).toBe(first.conversation)
      expect(second.conversation).not.toBe(first.conversation)
      for (let turn = 2; turn <= 3; turn += 1) {
        expect(await ask(longer(one, turn))).toEqual(first)
        expect(await ask(longer(other, turn - 1))).toEqual(second)
      }
      const { conversations } = JSON.parse((await at.admin('/conversations')).text)
      expect(conversations).toMatchObject([
        { id: second.conversation, parent: first.conversation, requests: 3 },
        { id: first.conversation, parent: null, requests: 5 },
      ])
    }
    await using again = await reportStand(completion('fine'), { store })
    const before = (await again.rows(0)).length
    await postChat(again.url, chatOf(longer(one, 5)))
    await postChat(again.url, chatOf(longer(other, 6)))
    const rows = (await again.rows(before + 2)).slice(before)
    expect(rows.map(({ conversation, parent }) => ({ conversation, parent }))).toEqual([first, second])
  })

  // A branch is a branch only when both go on: whoever is the first to go on is the conversation.
  test.each([
    ['the one that was asked first', [one, other]],
    ['the one that took its place', [other, one]],
  ])(
    'with both ends asked before either goes on: %s keeps the id where it goes on first',
    async (_, [early = [], late = []]) => {
      const ask = asker()
      const first = await ask(begun)
      expect(await ask(one)).toEqual(first)
      expect(await ask(other)).toEqual(first)
      expect(await ask(longer(early, 1))).toEqual(first)
      const second = await ask(longer(late, 1))
      expect(second.parent).toBe(first.conversation)
      expect(second.conversation).not.toBe(first.conversation)
      expect(await ask(longer(early, 2))).toEqual(first)
      expect(await ask(longer(late, 2))).toEqual(second)
    },
  )

  test('its first request written anew, once and again, is the same branch', async () => {
    const ask = asker()
    const first = await ask(begun)
    await ask(one)
    await ask(longer(one, 1))
    const second = await ask(other)
    expect(second.parent).toBe(first.conversation)
    expect(await ask([...begun, assistant('I begin otherwise.'), user('No, wait.')])).toEqual(second)
    expect(await ask([...begun, assistant('Otherwise.'), user('Once more.')])).toEqual(second)
    expect(await ask(longer(one, 2))).toEqual(first)
  })

  test('one more user message after a request that was never answered is no branch', async () => {
    const ask = asker()
    const first = await ask(begun)
    const more = [...begun, user('Are you there?')]
    expect(await ask(more)).toEqual(first)
    expect(await ask(more)).toEqual(first)
    expect(await ask([...more, assistant('Yes.'), user('Good.')])).toEqual(first)
  })

  // A branch that went on with another model was found by its name alone, which said nothing of the parent.
  test('a branch that goes on with another model keeps its id and its parent', async () => {
    const ask = asker()
    const first = await ask(begun)
    await ask(one)
    await ask(longer(one, 1))
    const second = await ask(other)
    expect(second.parent).toBe(first.conversation)
    expect(await ask(longer(other, 1), { ...place, model: 'another' })).toEqual(second)
  })
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

function isAncestor(requests: readonly TreeRequest[], above: number, below: number): boolean {
  for (let at: number | null = below; at !== null; at = requests[at]?.parent ?? null) {
    if (at === above) return true
  }
  return false
}

test('in any tree of conversations, in any order in which it grows, ways that both went on have ids of their own', async () => {
  const arbitraryOrder = fc.array(fc.nat({ max: 1_000 }), { minLength: 25, maxLength: 25 })
  await forAllAsync(60, arbitraryRequests, arbitraryOrder, async (requests, choices) => {
    const ask = asker()
    const told = new Map<number, Identity>()
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
  })
})

/** Of each turn: how often its last message is written anew, and from which of those the conversation goes on. */
const arbitraryEdits = fc.array(
  fc.record({ written: fc.integer({ min: 1, max: 9 }), taken: fc.nat({ max: 8 }) }),
  { minLength: 1, maxLength: 8 },
)

test('however often the last message is written anew, and from whichever one it goes on, it is one conversation', async () => {
  await forAllAsync(60, arbitraryEdits, async (turns) => {
    const ask = asker()
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
  })
})

/** Five questions with their answers, and what comes behind them. */
const endingIn = (...end: readonly string[]) =>
  chatWith([
    ...Array.from({ length: 5 }, (_, turn) => [
      user(`Question ${turn}.`),
      assistant(`Answer ${turn}.`),
    ]).flat(),
    ...end.map(user),
  ])

/** A compaction of a request with one message behind the history, which is folded up to `frontier`. */
const folding = (frontier: number, point = 11): Compaction => ({
  version: FOLD_VERSION,
  reason: 'trigger',
  point,
  task: 0,
  latestUser: point - 1,
  reach: { render: 0, preview: 0, clear: 0 },
  fold: {
    frontier,
    kept: [],
    restated: [],
    beforeTokensMax: 100,
    afterTokensMax: 0,
    systemTokensMax: 0,
    keptTokensMax: 0,
    summaries: [],
    recapsBeside: false,
  },
  clips: [],
  cleared: [],
  thoughts: [],
})

/** Where a request was seen whose end is edited now: in this compaction, and in the older ones. */
async function seenIn(newest: Compaction, ...older: readonly Compaction[]) {
  const records = recordsOn(newStore())
  const chat = await endingIn('And now?')
  const found = await records.find(chat, place)
  for (const compaction of [...older, newest])
    await records.keep({ chat, place, remembered: found }, compaction)
  records.see(chat, place, { ...found, compaction: newest })
  return { records, conversation: found.conversation }
}

describe('a request whose end was edited', () => {
  test('shares what was said before the last answer, and the compaction up to there', async () => {
    const { records, conversation } = await seenIn(folding(6))
    const chat = await endingIn('And then?')
    const found = await records.find(chat, place)
    expect(found).toMatchObject({ conversation, parent: null, sharedUntil: 9 })
    expect(found.compaction).toEqual({ ...folding(6), point: 9, latestUser: -1 })
    // From then on it is recorded there, for whoever shares as much.
    records.see(chat, place, found)
    const next = await endingIn('Well?')
    const again = await records.find(next, place)
    expect(again.compaction).toEqual(found.compaction)
    // Often read it is the same, until what was read is to be forgotten: it stayed for as long as 256 others were not,
    // that of a conversation that had been deleted, too.
    expect((await records.find(next, place)).compaction).toBe(again.compaction)
    records.forgetRead()
    const anew = (await records.find(next, place)).compaction
    expect(anew).toEqual(again.compaction)
    expect(anew).not.toBe(again.compaction)
  })

  test('follows the compaction before one that folded what is edited now', async () => {
    const { records, conversation } = await seenIn(folding(10), folding(4, 7), folding(2, 5))
    const found = await records.find(await endingIn('And then?'), place)
    expect(found).toMatchObject({ conversation, sharedUntil: 9, compaction: folding(4, 7) })
  })

  test('follows none where there is none before it, and has the same id', async () => {
    const { records, conversation } = await seenIn(folding(10))
    const found = await records.find(await endingIn('And then?'), place)
    expect(found).toMatchObject({ conversation, sharedUntil: 9, compaction: null })
  })

  test('shares all of the one before where it only goes on, or comes again', async () => {
    const { records, conversation } = await seenIn(folding(10))
    for (const chat of [await endingIn('And now?'), await endingIn('And now?', 'Hello?')]) {
      const found = await records.find(chat, place)
      expect(found).toMatchObject({ conversation, sharedUntil: null, compaction: folding(10) })
    }
  })
})

describe('a seen request', () => {
  const conversation = 'abcdefgh-_012345'
  const plain: SeenRequest = {
    conversation,
    parent: null,
    compaction: 'k1',
    next: null,
    partedAt: null,
    inner: false,
  }

  test('is read as it was written', () => {
    for (const more of [{}, { next: 'k2' }, { partedAt: 'k0' }, { next: 'k3', inner: true }])
      expect(readSeen(writeSeen({ ...plain, ...more }))).toEqual({ ...plain, ...more })
  })

  test('written before there were beginnings is read, and one that simply goes on is written so still', () => {
    const text = JSON.stringify({ conversation, parent: null, compaction: 'k1', next: null })
    expect(readSeen(text)).toEqual(plain)
    expect(writeSeen(plain)).toBe(text)
    const short = JSON.stringify({ conversation, compaction: null })
    expect(readSeen(short)).toEqual({ ...plain, compaction: null })
  })

  test.each([
    'seen',
    '7',
    JSON.stringify({ compaction: null }),
    JSON.stringify({ conversation: 'x', compaction: null }),
    JSON.stringify({ conversation, compaction: 7 }),
  ])('is not read from what is none: %s', (text) => {
    expect(readSeen(text)).toBeNull()
  })

  test('is read without what is damaged in it beside', () => {
    const text = JSON.stringify({ ...plain, parent: 'x', next: 7, partedAt: {}, inner: 'yes' })
    expect(readSeen(text)).toEqual(plain)
  })
})

/** A store that gives back something else for the records of one kind. */
function damaging(kind: string, damaged: string): Store {
  const store = newStore()
  return {
    ...store,
    getFirst: async (keys) => {
      // The names are looked up where no seen request is known.
      const found = await store.getFirst(keys.filter((key) => kind !== 'name:' || !key.startsWith('seen:')))
      const isDamaged = found !== null && keys[found.index]?.startsWith(kind) === true
      return isDamaged ? { index: found.index, value: damaged } : found
    },
  }
}

// The text stood as it was in x-foldgate-conversation: an id that DELETE refuses, or a header that is too large for the
// client to take the answer.
test.each([
  ['name:', 'x'.repeat(20_000)],
  ['seen:', JSON.stringify({ conversation: 'x'.repeat(20_000), compaction: null })],
])('a damaged record (%s) is as if it were not there', async (kind, damaged) => {
  await using at = await standWith(completion('fine'), { store: damaging(kind, damaged) })
  await postChat(at.url, chatOf(begun))
  const reply = await postChat(at.url, chatOf([...begun, assistant('fine'), user('more')]))
  expect(reply.status).toBe(200)
  expect(reply.header('x-foldgate-conversation')).toMatch(/^[\w-]{16}$/)
})

// Every request waited for it until its own end.
test('a store that never answers is waited for once, by all that is looked up in it at once, and then left alone for a while', async () => {
  let asked = 0
  const never = <Result>(): Promise<Result> => {
    asked += 1
    return new Promise(() => {})
  }
  const store: Store = {
    name: 'hung:',
    getFirst: never,
    putIfAbsent: never,
    put: never,
    // The journal is written beside requests, which do not wait for it.
    appendRows: () => new Promise(() => {}),
    readRows: never,
    deleteGroup: never,
    purge: never,
    lease: never,
    release: never,
    close: async () => {},
  }
  await using at = await standWith(completion('fine'), { store })
  const request = chatOf([user('hello')])
  // For records, and for what was learnt of the model.
  for (let time = 0; time < 4; time += 1) {
    expect((await postChat(at.url, request)).status).toBe(200)
    expect(asked).toBe(2)
  }
})

const refused = async () => Promise.reject(new Error('the disk is full'))

// Two writes began together, and only one of them was waited for if both failed: what the other said ended the process.
test('a store that can be written to no more ends nothing, where thoughts go with a compaction', async () => {
  const store: Store = { ...newStore(), put: refused, putIfAbsent: refused }
  await using at = await standWith(completion('fine'), { store })
  const messages = longRun(14, 3).map((message) =>
    message.role === 'assistant'
      ? { ...message, thinking_blocks: [{ type: 'thinking', thinking: 'I look.', signature: 'c2ln' }] }
      : message,
  )
  const reply = await postChat(at.url, chatOf(messages), { 'x-foldgate-compact': 'force' })
  expect([reply.status, reply.action]).toEqual([200, 'compacted'])
  expect(at.foldgate.log.join('')).toContain('"part":"store"')
})
