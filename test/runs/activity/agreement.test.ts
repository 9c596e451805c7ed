import { expect, test } from 'vitest'
import { openBareStore, type StoreLocation } from '../../../src/storage/open-store.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { longRun } from '../../support/conversations.ts'
import { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { madeRecording, rawMessage } from '../harness/recordings.ts'
import { createSubject } from '../harness/subject.ts'
import { agreementOf } from './figures.ts'

/** What is told of the requests of a coding agent's run in a window of 16,000 tokens, by the journal; and what disagrees. */
async function toldOf(rounds: number, seed: number, location: StoreLocation) {
  const { count } = await loadCounter('o200k_base')
  const messages = longRun(rounds, seed).map((message) => rawMessage(JSON.stringify(message)))
  const recording = madeRecording('made', `seed-${seed}`, messages)
  const subject = createSubject({ recording, counter: openPromptCounter(count) })
  const store = await openBareStore(location, { ttl_days: 7, max_mb: 64 })
  const figures = await agreementOf({ subject, windowTokens: 16_000, store, count })
  const journal = figures.map(({ name, cells }) => [name, Number((cells[2] ?? '').replaceAll(',', ''))])
  const told: Readonly<Record<string, number>> = Object.fromEntries(journal)
  return { told, disagreeing: figures.filter(({ agrees }) => !agrees) }
}

test('metrics, journal, pages and headers say of a long run what the upstream has counted', async () => {
  const { told, disagreeing } = await toldOf(60, 4, { kind: 'memory' })
  expect(disagreeing).toEqual([])
  // Figures that are all 0 would agree as well.
  expect(told['requests']).toBe(61)
  expect(told['compactions']).toBeGreaterThan(3)
  expect(told['beyond the window']).toBeGreaterThan(20)
  expect(told['money saved']).toBeGreaterThan(0)
})
