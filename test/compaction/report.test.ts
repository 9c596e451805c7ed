import { describe, expect, test } from 'vitest'
import type { Compacted } from '../../src/compaction/compact.ts'
import { compact } from '../support/compacted.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import { outlineOf, type MessageTreatment } from '../../src/compaction/outline.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import { atFirstSight } from '../support/compacted.ts'
import { profileOf, historyOf } from '../support/subject.ts'
import { assistant, round, rounds, system, user } from './sending.ts'

const cache = createMadeCache({ bytesMax: 10_000_000 })

function compacted(history: History, budgetTokens: number, profile = profileOf(), strict = false): Compacted {
  const room = { budgetTokens, aroundTokens: 3 + (history.sizes[0] ?? 0) }
  const numbers = { ...atFirstSight(room), forced: false, prepared: null }
  return runAtOnce(compact(history, cache, { profile, newest: null, strict, ...numbers }))
}

/** An outline in short: runs of what became of the client's messages, summaries with what they stand for. */
function told(outline: readonly MessageTreatment[]): string[] {
  const rows: string[] = []
  for (const { treatment, pinned, standsFor } of outline) {
    const range = standsFor === null ? '' : ` of ${standsFor.start} to ${standsFor.end}`
    const row = `${treatment}${pinned === null ? '' : `, ${pinned}`}${range}`
    if (row !== rows.at(-1)) rows.push(row)
  }
  return rows
}

const conversation = [
  system('Be brief.'),
  user('The task.'),
  ...rounds('a', 8, 300),
  assistant('Done.'),
  user('The latest.'),
  ...rounds('b', 20, 300),
]
const folding = profileOf({ clear: { enabled: false } })

describe('the outline of a folded conversation', () => {
  const history = historyOf(conversation)
  const made = compacted(history, 5000, folding)
  const outline = outlineOf(history, made)

  test('has recaps behind the messages that they stand for, and says what pins the others', () => {
    const frontier = made.compaction?.fold?.frontier ?? 0
    expect(told(outline)).toEqual([
      'kept, system',
      'kept, task',
      'folded',
      'recap of 1 to 19',
      'kept, latest-user',
      'folded',
      `recap of 20 to ${frontier}`,
      'kept',
      'kept, recent',
    ])
  })

  test('names the tool of each call and each result', () => {
    const named = outline.map(({ index, role, tool }) => [index, role, tool])
    for (const row of [
      [2, 'assistant', 'read_file'],
      [3, 'tool', 'read_file'],
      [18, 'assistant', null],
    ])
      expect(named).toContainEqual(row)
    expect(outline.find(({ treatment }) => treatment === 'recap')).toMatchObject({ index: null, tool: null })
  })
})

test('under strict placement what is joined weighs nothing by itself', () => {
  const history = historyOf(conversation)
  const made = compacted(history, 5000, folding, true)
  const outline = outlineOf(history, made)
  expect(told(outline).slice(1, 6)).toEqual([
    'kept, task',
    'folded',
    'recap of 1 to 19',
    'joined, latest-user',
    'folded',
  ])
  const base = outline.find(({ pinned }) => pinned === 'task')
  const joined = made.view.messages.find(({ index }) => index === 1)
  expect(base?.sentTokens).toBe(joined?.tokens)
  expect(joined?.joined.map(({ how }) => how)).toEqual(['kept', 'recap', 'kept', 'recap'])
  for (const { treatment, sentTokens } of outline) {
    if (treatment === 'recap' || treatment === 'joined') expect(sentTokens).toBe(0)
  }
})

test('what was not counted is kept, and weighs nobody knows what', () => {
  const { messages } = historyOf([system('Be brief.'), user('The task.'), ...round('a', 'done')])
  const unknown = { kind: null, treatment: 'kept', receivedTokens: null, sentTokens: null, standsFor: null }
  expect(outlineOf({ messages, structure: runAtOnce(structureOf(messages)), sizes: null }, null)).toEqual([
    { index: 0, role: 'system', tool: null, pinned: 'system', ...unknown },
    { index: 1, role: 'user', tool: null, pinned: null, ...unknown },
    { index: 2, role: 'assistant', tool: 'read_file', pinned: null, ...unknown },
    { index: 3, role: 'tool', tool: 'read_file', pinned: null, ...unknown },
  ])
})
