import { describe, expect, onTestFinished, test } from 'vitest'
import { savingsCsv } from '../../../src/admin/page/savings-page.ts'
import { createTotalsKeeper } from '../../../src/telemetry/conversations/totals.ts'
import type { UsageRow } from '../../../src/telemetry/journal/rows.ts'
import { usageRow } from '../rows.ts'

function keeperOf(process: string) {
  const written: string[] = []
  const keeper = createTotalsKeeper({ process, writeDown: (sum) => void written.push(JSON.stringify(sum)) })
  onTestFinished(keeper.close)
  return { ...keeper, written }
}

const now = new Date('2026-11-29T12:00:00Z')
const compacted: Partial<UsageRow> = {
  time: '2026-11-29T10:00:00Z',
  action: 'compacted',
  passes: ['clear'],
  saved_tokens: 4_000,
  prompt_tokens: 5_100,
  cached_tokens: 1_000,
  prompt_cost: 0.02,
  whole_prompt_cost: 0.03,
}

describe('what was saved', () => {
  test('is summed by day, client, model and profile, and nothing is saved where nothing was changed', () => {
    const keeper = keeperOf('here')
    keeper.addRow(usageRow(compacted))
    keeper.addRow(usageRow({ ...compacted, model: 'other', time: '2026-11-28T23:59:59Z' }))
    const relayed = { ...compacted, passes: [], action: 'relayed', saved_tokens: 0 }
    keeper.addRow(usageRow(relayed))
    const [today, yesterday, ...rest] = keeper.savings(2, now)
    expect(rest).toEqual([])
    expect(today).toMatchObject({
      day: '2026-11-29',
      requests: 2,
      changed: 1,
      saved_tokens: 4_000,
      prompt_tokens: 10_200,
    })
    expect(today?.saved_money).toBeCloseTo(0.01, 10)
    expect(yesterday).toMatchObject({ day: '2026-11-28', model: 'other', requests: 1, saved_tokens: 4_000 })
    expect(keeper.savings(1, now).map(({ day }) => day)).toEqual(['2026-11-29'])
  })

  test('is the same after it was written down, and whoever reads it counts it once', () => {
    const [keeper, reader] = [keeperOf('here'), keeperOf('there')]
    keeper.addRow(usageRow(compacted))
    const before = keeper.savings(7, now)
    keeper.write()
    keeper.addRow(usageRow(compacted))
    keeper.write()
    expect(keeper.savings(7, now)).toMatchObject([{ requests: 2, saved_tokens: 8_000 }])
    expect(before).toMatchObject([{ requests: 1, saved_tokens: 4_000 }])
    for (const text of keeper.written) {
      reader.addWritten(text)
      keeper.addWritten(text)
    }
    expect(reader.savings(7, now)).toEqual(keeper.savings(7, now))
  })

  // Ten thousand names of models in a day, and all days before were gone; one more, and that day as well.
  test('of a day is not driven out by the names that clients give their models', () => {
    const keeper = keeperOf('here')
    for (let day = 1; day <= 28; day += 1)
      keeper.addRow(usageRow({ ...compacted, time: `2026-11-${String(day).padStart(2, '0')}T10:00:00Z` }))
    for (let number = 0; number < 2_000; number += 1)
      keeper.addRow(usageRow({ ...compacted, model: `m${number}` }))
    keeper.write()
    const all = keeper.savings(30, now)
    expect(new Set(all.map(({ day }) => day)).size).toBe(29)
    expect(all.reduce((sum, { requests }) => sum + requests, 0)).toBe(2_028)
    expect(all.length).toBeLessThan(400)
  })

  test('of what had no price says nothing in money', () => {
    const keeper = keeperOf('here')
    keeper.addRow(usageRow({ ...compacted, whole_prompt_cost: null }))
    expect(keeper.savings(1, now)[0]?.saved_money).toBeNull()
    keeper.addRow(usageRow(compacted))
    expect(keeper.savings(1, now)[0]?.saved_money).toBeCloseTo(0.01, 10)
  })

  // Clients name themselves, and whoever opens the table in a spreadsheet would run what they wrote.
  test('is a table that no client writes a formula into', () => {
    const keeper = keeperOf('here')
    keeper.addRow(usageRow({ ...compacted, client: '=HYPERLINK("http://x","a, b")', model: 'a\r\nb' }))
    const [head, ...lines] = savingsCsv(keeper.savings(1, now)).split(/\r\n(?=2026|$)/)
    expect(head).toMatch(/^day,client,model,profile,requests/)
    expect(lines[0]).toMatch(/^2026-11-29,"'=HYPERLINK\(""http:\/\/x"",""a, b""\)","a\r\nb",/)
  })
})
