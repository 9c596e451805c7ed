import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTotalsKeeper } from '../../../src/telemetry/conversations/totals.ts'
import type { UsageRow } from '../../../src/telemetry/journal/rows.ts'
import { atSecond, usageRow } from '../rows.ts'

/** The keeper of one process, and what it has written down. */
function keeperOf(process: string) {
  const written: string[] = []
  const writeDown = (sum: object) => void written.push(JSON.stringify(sum))
  const keeper = createTotalsKeeper({ process, writeDown })
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
  saved_tokens: 40_000,
  prompt_cost: 0.05,
  whole_prompt_cost: 0.09,
}

describe('what all requests come to', () => {
  test('is nothing before the first, and of what is written in another form', () => {
    const keeper = keeperOf('here')
    expect(keeper.all()).toBeNull()
    for (const text of ['', 'no JSON', '[]', '{"process":"there","requests":"many"}']) keeper.addWritten(text)
    expect(keeper.all()).toBeNull()
  })

  test('adds up requests and summaries, losses too', () => {
    const keeper = keeperOf('here')
    keeper.addRow(usageRow({ ...compacted, time: atSecond(4) }))
    keeper.addRow(usageRow({ ...compacted, time: atSecond(2), action: 'recovered', whole_prompt_cost: 0.03 }))
    keeper.addRow(usageRow({ time: atSecond(6), beyond_window: false }))
    keeper.addSummary({ tokens: 1_200, cost: 0.01 }, atSecond(7))
    const all = keeper.all()
    const requests = { requests: 3, beyond_window: 2, beyond_unknown: 0, compactions: 2, recoveries: 1 }
    const tokens = { saved_tokens: 80_000, summary_tokens: 1_200, summary_money: 0.01 }
    const unknown = { unknown_requests: 0, unknown_summaries: 0 }
    expect(all).toMatchObject({ since: atSecond(2), ...requests, ...tokens, ...unknown })
    // Four hundredths saved, two lost.
    expect(all?.saved_money).toBeCloseTo(0.02, 10)
    // And more may be sent than came.
    keeper.addRow(usageRow({ ...compacted, saved_tokens: -100_030 }))
    expect(keeper.all()?.saved_tokens).toBe(-20_030)
  })

  // 39 of 49 requests had been refused as too long, and the page said that 139,600 tokens were saved.
  test('is the number alone of what has failed: nothing was saved by it, and it did not fit', () => {
    const keeper = keeperOf('here')
    keeper.addRow(usageRow(compacted))
    keeper.addRow(usageRow({ ...compacted, status: 400, prompt_cost: null }))
    keeper.addRow(usageRow({ ...compacted, outcome: 'broken-off' }))
    keeper.addRow(usageRow({ action: 'refused', reason: 'upstream_unreachable', status: 502 }))
    keeper.addRow(usageRow({ action: 'left', status: null }))
    const told = { requests: 5, failed: 3, beyond_window: 1, beyond_unknown: 0, compactions: 3 }
    expect(keeper.all()).toMatchObject({ ...told, saved_tokens: 40_000, unknown_requests: 0 })
    const [day] = keeper.savings(1, new Date(atSecond(9)))
    expect(day).toMatchObject({ requests: 5, changed: 1, saved_tokens: 40_000 })
  })

  test('takes no bound for a count, and says what it does not know', () => {
    const keeper = keeperOf('here')
    const bounds = { tokens_received: 900, tokens_sent: 400, tokens_are_bounds: true }
    keeper.addRow(usageRow({ ...bounds, beyond_window: null }))
    keeper.addRow(usageRow({ ...compacted, prompt_cost: null, whole_prompt_cost: null }))
    keeper.addSummary({ tokens: 10, cost: null }, atSecond(1))
    const unpriced = { priced_requests: 0, priced_summaries: 0, unknown_requests: 1, unknown_summaries: 1 }
    expect(keeper.all()).toMatchObject({ beyond_unknown: 1, saved_tokens: 40_000, ...unpriced })
    keeper.addRow(usageRow(compacted))
    keeper.addSummary({ tokens: 10, cost: 0.5 }, atSecond(1))
    expect(keeper.all()?.saved_money).toBeCloseTo(0.04, 10)
    expect(keeper.all()).toMatchObject({ summary_money: 0.5, unknown_requests: 1, unknown_summaries: 1 })
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

  test('happens by itself', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { written, ...keeper } = keeperOf('here')
    keeper.addRow(usageRow())
    vi.advanceTimersByTime(59_999)
    expect(written).toEqual([])
    vi.advanceTimersByTime(1)
    expect(written).toHaveLength(1)
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
      const sums = { requests: 3, compactions: 2, saved_tokens: 80_000, summary_money: 0.5 }
      expect(keeper.all()).toMatchObject({ since: atSecond(1), ...sums })
      keeper.write()
    }
    // What others have written down is not written down again.
    expect([...first.written, ...second.written, ...restarted.written]).toEqual(journal)
  })
})
