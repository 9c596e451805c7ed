import { chatCompletions } from '../../../src/dialects/chat-completions/chat-completions.ts'
import { expect, test } from 'vitest'
import { FOLD_VERSION, type Compaction } from '../../../src/compaction/compaction.ts'
import { createFactsReader } from '../../../src/dialects/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { createRecords } from '../../../src/request/records/records.ts'
import { digest } from '../../../src/request/read/body-source.ts'
import { readBytes } from '../../../src/request/read/read-chat.ts'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import type { TestMessage } from '../../support/conversations.ts'

const place = { scope: 'scope', profile: 'default', model: 'm' }
const reading = {
  readFacts: createFactsReader(digest, { entriesMax: 100 }),
  limits: bodyLimits,
}

/** Five questions with their answers. */
const history = Array.from({ length: 5 }, (_, turn): TestMessage[] => [
  { role: 'user', content: `Question ${turn}.` },
  { role: 'assistant', content: `Answer ${turn}.` },
]).flat()

async function chatWith(...end: readonly string[]) {
  const messages = [...history, ...end.map((content) => ({ role: 'user', content }))]
  const chat = await readBytes(chatCompletions, Buffer.from(JSON.stringify({ messages })), 'scope', reading)
  if (typeof chat === 'string') throw new Error(chat)
  return chat
}

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
    summaries: [],
    recapsBeside: false,
  },
  clips: [],
  thoughts: [],
})

/** Where a request was seen whose end is edited now: in this compaction, and in the older ones. */
async function seenIn(newest: Compaction, ...older: readonly Compaction[]) {
  const records = createRecords(
    openMemoryStore({ bytesMax: 100_000, lifetimeMs: 0 }),
    (_, work) => work(),
    () => {},
  )
  const chat = await chatWith('And now?')
  const found = await records.find(chat, place)
  for (const compaction of [...older, newest])
    await records.keep({ chat, place, remembered: found }, compaction)
  await records.see(chat, place, { ...found, compaction: newest })
  return { records, conversation: found.conversation }
}

test('a request with another end shares what was said before the last answer, and the compaction up to there', async () => {
  const { records, conversation } = await seenIn(folding(6))
  const chat = await chatWith('And then?')
  const found = await records.find(chat, place)
  expect(found).toMatchObject({ conversation, parent: null, sharedUntil: 9 })
  expect(found.compaction).toEqual({ ...folding(6), point: 9, latestUser: -1 })
  // From then on it is recorded there, for whoever shares as much.
  await records.see(chat, place, found)
  const next = await chatWith('Well?')
  const again = await records.find(next, place)
  expect(again.compaction).toEqual(found.compaction)
  expect((await records.find(next, place)).compaction).toBe(again.compaction)
})

test('of a compaction that folded what is edited now the one before it is followed', async () => {
  const { records, conversation } = await seenIn(folding(10), folding(4, 7), folding(2, 5))
  const found = await records.find(await chatWith('And then?'), place)
  expect(found).toMatchObject({ conversation, sharedUntil: 9, compaction: folding(4, 7) })
})

test('where there is none before it, none is followed, and the id is the same', async () => {
  const { records, conversation } = await seenIn(folding(10))
  const found = await records.find(await chatWith('And then?'), place)
  expect(found).toMatchObject({ conversation, sharedUntil: 9, compaction: null })
})

test('a request that goes on, or comes again, shares all of the one before', async () => {
  const { records, conversation } = await seenIn(folding(10))
  for (const chat of [await chatWith('And now?'), await chatWith('And now?', 'Hello?')]) {
    const found = await records.find(chat, place)
    expect(found).toMatchObject({ conversation, sharedUntil: null, compaction: folding(10) })
  }
})
