import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { openBareStore } from '../../../src/stores/open-store.ts'
import type { StoreLocation } from '../../../src/stores/open-store.ts'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import {
  membersAfter,
  OUTPUT_TOKENS,
  rawMessage,
  requestPoints,
  type Recording,
} from '../replay/recordings.ts'
import { createSubject } from '../replay/subject.ts'
import { longRun } from '../../support/conversations.ts'
import { agreementOf, type Figure } from './agreement.ts'

/** What is told of the requests of a coding agent's run in a window of 16,000 tokens. */
async function figuresOf(rounds: number, seed: number, location: StoreLocation): Promise<readonly Figure[]> {
  const { count } = await loadCounter('o200k_base')
  const messages = longRun(rounds, seed).map((message) => rawMessage(JSON.stringify(message)))
  const points = [...requestPoints(messages), messages.length]
  const recording: Recording = {
    file: 'made',
    id: `seed-${seed}`,
    messages,
    points,
    tools: '',
    before: '"model":"gpt-4o-walk"',
    after: membersAfter('', OUTPUT_TOKENS),
  }
  const counter = openPromptCounter(count)
  const subject = createSubject({ recording, variant: 'recorded', messages, points, counter })
  const store = await openBareStore(location, { ttl_days: 7, max_mb: 64 })
  return agreementOf({ subject, windowTokens: 16_000, store, count })
}

const disagreeing = (figures: readonly Figure[]) => figures.filter(({ agrees }) => !agrees)

const told = (figures: readonly Figure[], wanted: string): number =>
  Number((figures.find(({ name }) => name === wanted)?.journal ?? '').replaceAll(',', ''))

test('metrics, journal, pages and headers say of a long run what the upstream has counted', async () => {
  const figures = await figuresOf(60, 4, { kind: 'memory' })
  expect(disagreeing(figures)).toEqual([])
  // Figures that are all 0 would agree as well.
  expect(told(figures, 'requests')).toBe(61)
  expect(told(figures, 'compactions')).toBeGreaterThan(3)
  expect(told(figures, 'beyond the window')).toBeGreaterThan(20)
  expect(told(figures, 'money saved')).toBeGreaterThan(0)
})

test('and so they do of a short one, of which nothing was compacted, with SQLite', async () => {
  const path = join(await temporaryFolder(), 'store.sqlite')
  const figures = await figuresOf(8, 5, { kind: 'sqlite', path })
  expect(disagreeing(figures)).toEqual([])
  expect(told(figures, 'requests')).toBe(9)
  expect(told(figures, 'compactions')).toBe(0)
  expect(told(figures, 'tokens saved')).toBe(0)
})
