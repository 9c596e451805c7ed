import { describe, expect, test } from 'vitest'
import type { Compacted } from '../../src/compaction/compact.ts'
import { viewUnder } from '../../src/compaction/view/view.ts'
import { compact } from '../support/compacted.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import { outlineOf, passRanges, type MessageTreatment } from '../../src/compaction/report.ts'
import type { Subject } from '../../src/compaction/history/subject.ts'
import { finish } from '../../src/json/source.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import { standingSummary } from '../support/at-once.ts'
import { atFirstSight } from '../support/compacted.ts'
import { policyOf, subjectOf } from '../support/subject.ts'
import { assistant, prose, round, rounds, system, user } from './sending.ts'

const cache = createMadeCache({ bytesMax: 10_000_000 })

function compacted(subject: Subject, budgetTokens: number, policy = policyOf(), strict = false): Compacted {
  const room = { budgetTokens, aroundTokens: 3 + (subject.sizes[0] ?? 0) }
  const numbers = { ...atFirstSight(room), forced: false, prepared: null }
  return finish(compact(subject, cache, { policy, newest: null, strict, ...numbers }))
}

/** The view of this compaction. */
function refolded(subject: Subject, compaction: Compaction): Compacted {
  const view = finish(viewUnder(subject, cache, { policy: folding, strict: false, compaction }))
  return { compaction, view }
}

/** A view in which a summary by a model stands for what lies before `end`. */
function summarised(subject: Subject, { compaction }: Compacted, end: number): Compacted {
  const fold = compaction?.fold ?? null
  if (compaction === null || fold === null) throw new Error('nothing was folded')
  const range = { start: subject.structure.systemCount, end, except: [] }
  const summary = standingSummary(subject, range, { written: 'Much was done.', systemTokensMax: 0, note: '' })
  return refolded(subject, { ...compaction, fold: { ...fold, summaries: [summary] } })
}

/** What becomes of one result in a conversation that is far from its budget. */
function treatmentOf(result: string, profile: object): string | undefined {
  const subject = subjectOf([user('The task.'), ...round('a', result)])
  return outlineOf(subject, compacted(subject, 100_000, policyOf(profile)))[2]?.treatment
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
const folding = policyOf({ clear: { enabled: false } })

describe('the outline of a folded conversation', () => {
  const subject = subjectOf(conversation)
  const made = compacted(subject, 5000, folding)
  const outline = outlineOf(subject, made)

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

  test('tells what a summary stands for from what a recap does', () => {
    const rows = told(outlineOf(subject, summarised(subject, made, 10)))
    expect(rows.slice(2, 6)).toEqual([
      'folded',
      'summary of 1 to 10',
      'recap of 1 to 19',
      'kept, latest-user',
    ])
  })

  test('says that messages are dropped for which there is no room at all', () => {
    const compaction = made.compaction
    if (compaction?.fold == null) throw new Error('nothing was folded')
    const bare = { ...compaction, fold: { ...compaction.fold, beforeTokensMax: 1, afterTokensMax: 1 } }
    expect(told(outlineOf(subject, refolded(subject, bare)))).toEqual([
      'kept, system',
      'kept, task',
      'dropped',
      'kept, latest-user',
      'dropped',
      'kept',
      'kept, recent',
    ])
  })
})

test('under strict placement what is joined weighs nothing by itself', () => {
  const subject = subjectOf(conversation)
  const made = compacted(subject, 5000, folding, true)
  const outline = outlineOf(subject, made)
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

test('a treatment is what the message came out as: what rendering makes small enough is not previewed', () => {
  const always = { render: { at: 0 }, preview: { at: 0, threshold_tokens: 100, max_chars: 200 } }
  const bar = `${'10%\r'.repeat(400)}100%`
  const treatments = [prose('long', 300), 'short', bar].map((result) => treatmentOf(result, always))
  expect(treatments).toEqual(['previewed', 'kept', 'rendered'])
})

test('the ranges of a compaction say how far each of its passes reached', () => {
  const subject = subjectOf([user('The task.'), ...rounds('a', 30, 300)])
  const { compaction } = compacted(subject, 3000, folding)
  if (compaction === null) throw new Error('no compaction was made')
  const clip = { kind: 'content', of: 'kept', tokensMax: 10 } as const
  const clips = [50, 44].map((index) => ({ ...clip, index }))
  const reach = { render: 0, preview: 12, clear: 20 }
  expect(passRanges({ ...compaction, reach, clips }, 0)).toEqual([
    { pass: 'preview', start: 0, end: 12 },
    { pass: 'clear', start: 0, end: 20 },
    { pass: 'fold', start: 0, end: compaction.fold?.frontier },
    { pass: 'clip', start: 44, end: 51 },
  ])
})

test('what was not counted is kept, and weighs nobody knows what', () => {
  const { messages } = subjectOf([system('Be brief.'), user('The task.'), ...round('a', 'done')])
  const unknown = { kind: null, treatment: 'kept', receivedTokens: null, sentTokens: null, standsFor: null }
  expect(outlineOf({ messages, structure: finish(structureOf(messages)), sizes: null }, null)).toEqual([
    { index: 0, role: 'system', tool: null, pinned: 'system', ...unknown },
    { index: 1, role: 'user', tool: null, pinned: null, ...unknown },
    { index: 2, role: 'assistant', tool: 'read_file', pinned: null, ...unknown },
    { index: 3, role: 'tool', tool: 'read_file', pinned: null, ...unknown },
  ])
})
