import { modelKeyOf } from '../../src/models/model-key.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createBookkeeping } from '../../src/activity/bookkeeping.ts'
import { createChanges } from '../../src/activity/changes.ts'
import { createBoard } from '../../src/activity/conversations/board.ts'
import { createHeldContent } from '../../src/activity/conversations/held-content.ts'
import { createTotalsKeeper } from '../../src/activity/conversations/totals-keeper.ts'
import type { JournalEvent, UsageRow } from '../../src/activity/journal/rows.ts'
import { createPriceList } from '../../src/activity/prices/price-list.ts'
import { FoldgateError } from '../../src/errors.ts'
import type { Written } from '../../src/summaries/write-summary.ts'
import { beganMs, endOf, reportOf } from './tracing/told-request.ts'

/** Books of true parts, but for the journal, of which is kept what it was given. */
function openBooks() {
  const events: JournalEvent[] = []
  const rows: UsageRow[] = []
  const changed: (string | null)[] = []
  const board = createBoard()
  const totals = createTotalsKeeper({ process: 'here', writeDown: () => {} })
  onTestFinished(totals.close)
  const changes = createChanges()
  changes.listen((conversation) => changed.push(conversation))
  let nowMs = beganMs
  const books = createBookkeeping({
    journal: { writeEvent: (event) => events.push(event), writeUsage: (row) => rows.push(row) },
    board,
    held: createHeldContent({ showsContent: false }),
    totals,
    prices: createPriceList({ 'gpt-5-2026*': { input: 10, cached_input: 1, output: 100 } }),
    changes,
    process: 'here',
    nowMs: () => nowMs,
  })
  const pass = (milliseconds: number) => (nowMs += milliseconds)
  return { books, events, rows, changed, board, totals, pass }
}

const written: Written = {
  kind: 'written',
  text: 'PLANTED-TEXT',
  tokens: 70,
  calls: 1,
  promptTokens: 10_000,
  cachedTokens: 0,
  completionTokens: 1_000,
  sentTokens: 9_000,
  learntWindowTokens: null,
}

describe('a request', () => {
  test('is in the list from its beginning, and in the journal and the totals from its end', () => {
    const { books, events, rows, changed, board, totals } = openBooks()
    const ended = books.reports.begin(reportOf())
    expect(board.card('c0ffee')).toMatchObject({ answering: true, requests: 0, pressure: 0.9 })
    expect(events.map(({ type }) => type)).toEqual(['compaction'])
    expect([rows.length, totals.headline().requests, changed]).toEqual([0, 0, ['c0ffee']])
    ended(endOf())
    expect(board.card('c0ffee')).toMatchObject({ answering: false, requests: 1 })
    expect([rows.length, totals.headline().requests, changed]).toEqual([1, 1, ['c0ffee', 'c0ffee']])
    expect(board.rows('c0ffee')).toEqual(rows)
  })

  test('for a model without a price costs what the one that answered costs', () => {
    const { books, rows } = openBooks()
    books.reports.begin(reportOf({ model: 'alias' }))(endOf({ answeredBy: 'gpt-5-2026-08-07' }))
    books.reports.begin(reportOf({ model: 'alias' }))(endOf({ answeredBy: 'unpriced' }))
    books.reports.begin(reportOf({ model: 'alias' }))(endOf({ answeredBy: null }))
    // Of 50,100 tokens 40,000 came from the cache.
    expect(rows[0]?.prompt_cost).toBeCloseTo(0.141, 10)
    expect(rows.map((row) => row.prompt_cost === null)).toEqual([false, true, true])
  })

  test('without a conversation is counted, and is in no list', () => {
    const { books, rows, board, totals } = openBooks()
    books.reports.begin(reportOf({ conversation: null, held: null, compactions: [] }))(endOf())
    expect([rows.length, totals.headline().requests, board.cards()]).toEqual([1, 1, []])
  })
})

describe('what else happens', () => {
  test('a summary: with its cost, without its text', () => {
    const { books, events, changed, totals } = openBooks()
    const job = { group: 'c0ffee', key: 'summary:scope:name-of-it', model: 'gpt-5-2026-08-07' }
    books.summaryWritten(job, written, 12.3)
    expect(events).toMatchObject([
      {
        type: 'summary',
        conversation: 'c0ffee',
        summary_key: 'name-of-it',
        milliseconds: 12,
        details: { cost: 0.2 },
      },
    ])
    expect(totals.headline()).toMatchObject({ summaryTokens: 11_000, summaryMoney: 0.2 })
    expect(changed).toEqual(['c0ffee'])
    expect(JSON.stringify(events)).not.toContain('PLANTED')
  })

  test('a window, a failure, what the operator asks for', () => {
    const { books, events, changed } = openBooks()
    const key = modelKeyOf('default', 'PLANTED-CREDENTIAL', 'gpt-5')
    books.learnt({ key, window: { tokens: 8_192, kind: 'total' }, by: 'refusal', conversation: null })
    books.failed({ part: 'store', error: 'Error', reason: 'full' }, 4)
    books.compactRequested('c0ffee')
    expect(events.map(({ type, reason, details }) => [type, reason, details])).toEqual([
      ['window', 'refusal', { window_tokens: 8_192, kind: 'total', upstream: 'default' }],
      ['failure', 'store', { error: 'Error', reason: 'full', times: 4 }],
      ['compact-requested', 'operator', {}],
    ])
    expect(changed).toEqual(['c0ffee'])
    expect(JSON.stringify(events)).not.toContain('PLANTED')
  })

  // Whoever has no key could drive everything else out of the journal, by asking again and again.
  test('requests that are turned away: the first at once, then how many, now and then', () => {
    const { books, events, pass } = openBooks()
    const refuse = () => books.turnedAway(new FoldgateError('client_key_required', 'No.'))
    for (let time = 0; time < 1_000; time += 1) refuse()
    books.turnedAway(new FoldgateError('path_not_allowed', 'No.'))
    pass(10_000)
    refuse()
    expect(events.map(({ reason, details }) => [reason, details['times']])).toEqual([
      ['client_key_required', 1],
      ['path_not_allowed', 1],
      ['client_key_required', 1_000],
    ])
  })
})

test('changes are told to all who listen, until they listen no more', () => {
  const changes = createChanges()
  const told: string[] = []
  const stop = changes.listen((conversation) => {
    told.push(`one ${conversation}`)
    // While it is being told.
    if (told.length > 2) stop()
  })
  changes.listen((conversation) => told.push(`two ${conversation}`))
  for (const conversation of ['a', null, 'c']) changes.tell(conversation)
  expect(told).toEqual(['one a', 'two a', 'one null', 'two null', 'two c'])
  expect(changes.listeners()).toBe(1)
})
