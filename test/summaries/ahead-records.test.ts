import { expect, test, vi } from 'vitest'
import { openMemoryStore } from '../../src/stores/memory-store.ts'
import { createAheadRecords } from '../../src/summaries/ahead-records.ts'
import { longRun } from '../support/conversations.ts'
import { subjectOf } from '../support/subject.ts'

const place = { scope: 'a', profile: 'default', model: 'gpt' }
const fold = { frontier: 2, kept: [], ranges: [], systemTokensMax: 0 }

/** The beginning of a long conversation, with names for its prefixes. */
function conversationOf(all: readonly object[], length: number) {
  const { messages, structure } = subjectOf(all.slice(0, length))
  return { messages, structure, keys: Array.from({ length: length + 1 }, (_, index) => `key ${index}`) }
}

// After 256 requests it was not found any more: another summary was asked for, at another frontier.
test('a fold is found however many requests come before its compaction, by a few hundred keys at most', async () => {
  const store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  const getFirst = vi.spyOn(store, 'getFirst')
  const ahead = createAheadRecords(store, (_, work) => work())
  const all = longRun(700, 1)
  const requests = subjectOf(all).structure.recordPoints.filter((_, index) => index % 100 === 10)
  const [first = 0, ...later] = requests
  await ahead.keep(conversationOf(all, first), place, fold, 'conversation')
  expect(later.length).toBeGreaterThan(4)
  for (const length of later)
    expect(await ahead.find(conversationOf(all, length), place, 1, 'conversation')).toEqual(fold)
  for (const [keys] of getFirst.mock.calls) expect(keys.length).toBeLessThanOrEqual(256)
})

test('a fold of before the last compaction is not found', async () => {
  const store = openMemoryStore({ bytesMax: 1_000_000, lifetimeMs: 0 })
  const ahead = createAheadRecords(store, (_, work) => work())
  const all = longRun(100, 1)
  await ahead.keep(conversationOf(all, 19), place, fold, 'conversation')
  expect(await ahead.find(conversationOf(all, 60), place, 30, 'conversation')).toBeNull()
})
