import { describe, expect, onTestFinished, test } from 'vitest'
import { createTotalsKeeper } from '../../../src/activity/conversations/totals-keeper.ts'
import { totalsOfRow } from '../../../src/activity/conversations/totals.ts'
import type { UsageRow } from '../../../src/activity/journal/rows.ts'
import { atSecond, usageRow } from '../rows.ts'

/** The keeper of one process, and what it has written down. */
function keeperOf(process: string, periodMs = 60_000) {
  const written: string[] = []
  const keeper = createTotalsKeeper({ process, writeDown: (text) => void written.push(text), periodMs })
  onTestFinished(keeper.close)
  return { ...keeper, written }
}

const compacted: Partial<UsageRow> = {
  action: 'compacted',
  passes: ['fold'],
  compaction: 'trigger',
  beyond_window: true,
  tokens_received: 90_000,
  tokens_sent: 50_000,
  prompt_cost: 0.05,
  whole_prompt_cost: 0.09,
}

describe('the headline', () => {
  test('of nothing is nothing', () => {
    expect(keeperOf('here').headline()).toMatchObject({
      since: null,
      requests: 0,
      savedMoney: 0,
      summaryMoney: 0,
    })
  })

  test('adds up requests and summaries, losses too', () => {
    const keeper = keeperOf('here')
    keeper.addRow(usageRow({ ...compacted, time: atSecond(4) }))
    keeper.addRow(usageRow({ ...compacted, time: atSecond(2), action: 'recovered', whole_prompt_cost: 0.03 }))
    keeper.addRow(usageRow({ time: atSecond(6), beyond_window: false }))
    keeper.addSummary({ tokens: 1_200, cost: 0.01 }, atSecond(7))
    const headline = keeper.headline()
    expect(headline).toMatchObject({
      since: atSecond(2),
      requests: 3,
      beyondWindow: 2,
      beyondUnknown: 0,
      compactions: 2,
      recoveries: 1,
      savedTokens: 80_000,
      summaryTokens: 1_200,
      summaryMoney: 0.01,
      unknownRequests: 0,
      unknownSummaries: 0,
    })
    // Four hundredths saved, two lost.
    expect(headline.savedMoney).toBeCloseTo(0.02, 10)
  })

  test('takes no bound for a count, and says what it does not know', () => {
    const keeper = keeperOf('here')
    keeper.addRow(
      usageRow({ tokens_received: 900, tokens_sent: 400, tokens_are_bounds: true, beyond_window: null }),
    )
    keeper.addRow(usageRow({ ...compacted, prompt_cost: null, whole_prompt_cost: null }))
    keeper.addSummary({ tokens: 10, cost: null }, atSecond(1))
    expect(keeper.headline()).toMatchObject({
      beyondUnknown: 1,
      savedTokens: 40_000,
      // With nothing known it is not zero.
      savedMoney: null,
      summaryMoney: null,
      unknownRequests: 1,
      unknownSummaries: 1,
    })
    keeper.addRow(usageRow(compacted))
    keeper.addSummary({ tokens: 10, cost: 0.5 }, atSecond(1))
    expect(keeper.headline().savedMoney).toBeCloseTo(0.04, 10)
    expect(keeper.headline()).toMatchObject({ summaryMoney: 0.5, unknownRequests: 1, unknownSummaries: 1 })
  })

  test('may say that more was sent than came', () => {
    expect(totalsOfRow(usageRow({ ...compacted, tokens_received: 100, tokens_sent: 130 })).saved_tokens).toBe(
      -30,
    )
  })
})

describe('what is written down', () => {
  test('is what came since it was last, once, and nothing where nothing came', () => {
    const { written, ...keeper } = keeperOf('here')
    keeper.write()
    expect(written).toEqual([])
    keeper.addRow(usageRow())
    keeper.addRow(usageRow())
    keeper.write()
    keeper.write()
    keeper.addSummary({ tokens: 5, cost: null }, atSecond(1))
    keeper.close()
    expect(written.map((text) => JSON.parse(text) as unknown)).toMatchObject([
      { process: 'here', requests: 2, summary_tokens: 0 },
      { process: 'here', requests: 0, summary_tokens: 5 },
    ])
  })

  test('happens by itself', async () => {
    const { written, ...keeper } = keeperOf('here', 5)
    keeper.addRow(usageRow())
    await expect.poll(() => written.length).toBe(1)
  })

  test('comes to the same after a restart, and in every process on one store: nothing is counted twice', () => {
    const [first, second] = [keeperOf('first'), keeperOf('second')]
    first.addRow(usageRow({ ...compacted, process: 'first', time: atSecond(1) }))
    second.addRow(usageRow({ ...compacted, process: 'second', time: atSecond(2) }))
    second.addSummary({ tokens: 10, cost: 0.5 }, atSecond(3))
    first.write()
    second.write()
    first.addRow(usageRow({ process: 'first', time: atSecond(4) }))
    first.write()
    const journal = [...first.written, ...second.written]
    const restarted = keeperOf('third')
    for (const keeper of [first, second, restarted]) {
      for (const text of journal) keeper.addWritten(text)
      expect(keeper.headline()).toMatchObject({
        since: atSecond(1),
        requests: 3,
        compactions: 2,
        savedTokens: 80_000,
        summaryMoney: 0.5,
      })
      keeper.write()
    }
    // What others have written down is not written down again.
    expect([...first.written, ...second.written, ...restarted.written]).toEqual(journal)
  })

  test('in another form is passed over', () => {
    const keeper = keeperOf('here')
    for (const text of ['', 'no JSON', '[]', '{"process":"there","requests":"many"}']) keeper.addWritten(text)
    expect(keeper.headline().requests).toBe(0)
  })
})
