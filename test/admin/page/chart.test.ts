import { describe, expect, test } from 'vitest'
import { chart, chartBottom, chartGeometry, chartTop, chartWidth } from '../../../src/admin/page/chart.ts'
import { agentRows, now, rowWith } from './made-up.ts'

const plain = { window_tokens: null, budget_tokens: null }

describe('where things lie', () => {
  test('each request has a band of the same width, and its point in the middle of it', () => {
    const { band, received } = chartGeometry([rowWith(plain), rowWith(plain), rowWith(plain), rowWith(plain)])
    expect(band).toBe(chartWidth / 4)
    expect(received.flat().map(({ x }) => x)).toEqual([125, 375, 625, 875])
  })

  test('nothing is at the bottom, and the largest tick at the top', () => {
    const row = rowWith({ ...plain, tokens_received: 40_000, tokens_sent: 0 })
    const { ticks, received, sent } = chartGeometry([row])
    expect(ticks.map(({ tokens }) => tokens)).toEqual([0, 10_000, 20_000, 30_000, 40_000])
    expect([ticks[0]?.y, ticks.at(-1)?.y]).toEqual([chartBottom, chartTop])
    expect([received[0]?.[0]?.y, sent[0]?.[0]?.y]).toEqual([chartTop, chartBottom])
  })

  test('a line breaks where nothing is known, instead of making something up', () => {
    const counts = [10, 20, null, 30]
    const { received } = chartGeometry(counts.map((tokens) => rowWith({ ...plain, tokens_received: tokens })))
    expect(received.map((piece) => piece.length)).toEqual([2, 1])
  })

  test('compactions and cache hits stand at their requests', () => {
    const { compactions, cached } = chartGeometry([
      rowWith({ cached_tokens: 500 }),
      rowWith({ compaction: 'trigger', cached_tokens: 0 }),
    ])
    expect(compactions).toEqual([750])
    expect(cached.map(({ x }) => x)).toEqual([250])
  })

  test('a window that changes is a line with a step', () => {
    const windows = [2_000, 2_000, null, 1_500]
    const { window } = chartGeometry(windows.map((tokens) => rowWith({ ...plain, window_tokens: tokens })))
    expect(window?.tokens).toBe(1_500)
    expect(window?.pieces.map((piece) => piece.map(({ x }) => x))).toEqual([
      [0, 500],
      [750, 1_000],
    ])
  })

  test('a window far above the data is left out, or the data would lie flat', () => {
    const rows = [rowWith({ window_tokens: 1_000_000, budget_tokens: 2_500 })]
    const { window, budget, ticks } = chartGeometry(rows)
    expect([window, budget?.tokens]).toEqual([null, 2_500])
    expect(ticks.at(-1)?.tokens).toBeLessThan(5_000)
    expect(chart({ rows, firstNumber: 1, now }).toString()).toContain('window 1,000,000, above the chart')
  })

  test.each([
    ...[0, 1, 2, 500].map((count) => [count, agentRows(count)] as const),
    ['uncounted', [rowWith({ ...plain, tokens_received: null, tokens_sent: null })]] as const,
  ])('%s requests are drawn within the drawing, without a number that is none', (_, rows) => {
    const { received, sent, cached, marks } = chartGeometry(rows)
    for (const { x, y } of [...received.flat(), ...sent.flat(), ...cached]) {
      expect(x === Math.min(Math.max(x, 0), chartWidth)).toBe(true)
      expect(y === Math.min(Math.max(y, chartTop), chartBottom)).toBe(true)
    }
    expect(marks.length).toBeLessThanOrEqual(5)
    expect(chart({ rows, firstNumber: 1, now }).toString()).not.toMatch(/NaN|Infinity|undefined/)
  })
})

test('the chart says in words what it draws', () => {
  const markup = chart({ rows: agentRows(64), firstNumber: 8, now }).toString()
  expect(markup).toMatch(
    /aria-label="Requests 8 to 71\. Tokens in went from [\d,]+ to [\d,]+, tokens sent from/,
  )
  expect(markup).toContain('Compaction: pressure reached the trigger')
})
