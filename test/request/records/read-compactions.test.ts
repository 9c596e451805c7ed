import { chatCompletions } from '../../../src/dialects/chat-completions/chat-completions.ts'
import { expect, test } from 'vitest'
import { FOLD_VERSION, type Compaction } from '../../../src/compaction/compaction.ts'
import { createFactsReader } from '../../../src/dialects/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { createRecords } from '../../../src/request/records/records.ts'
import { digest } from '../../../src/request/read/body-source.ts'
import { readBytes } from '../../../src/request/read/read-chat.ts'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'

const compaction: Compaction = {
  version: FOLD_VERSION,
  reason: 'trigger',
  point: 2,
  task: 0,
  latestUser: 0,
  reach: { render: 1, preview: 0, clear: 0 },
  fold: null,
  clips: [],
  thoughts: [],
}

// What was read stayed for as long as 256 others were not: that of a conversation that had been deleted, too.
test('a compaction is the same as often as it is read, until what was read is to be forgotten', async () => {
  const messages = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Yes?' },
    { role: 'user', content: 'Go on.' },
  ]
  const chat = await readBytes(chatCompletions, Buffer.from(JSON.stringify({ messages })), 'scope', {
    readFacts: createFactsReader(digest, { entriesMax: 10 }),
    limits: bodyLimits,
  })
  if (typeof chat === 'string') throw new Error(chat)
  const records = createRecords(
    openMemoryStore({ bytesMax: 100_000, lifetimeMs: 0 }),
    (_, work) => work(),
    () => {},
  )
  const place = { scope: 'scope', profile: 'default', model: 'm' }
  const kept = await records.keep(
    { chat, place, remembered: { conversation: 'c' } },
    { ...compaction, point: 3 },
  )
  const found = async () => (await records.find(chat, place)).compaction
  expect(await found()).toBe(kept)
  records.forgetRead()
  const anew = await found()
  expect(anew).toEqual(kept)
  expect(anew).not.toBe(kept)
})
