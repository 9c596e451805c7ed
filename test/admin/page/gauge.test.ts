import { expect, test } from 'vitest'
import { gauge } from '../../../src/admin/page/gauge.ts'
import { cardWith } from './made-up.ts'
import { visibleText } from './visible-text.ts'

function gaugeOf(pressure: number | null, sentPressure: number | null, status: number | null = 200): string {
  return gauge(cardWith({ pressure, sent_pressure: sentPressure, status })).toString()
}

/** Where the bars end, and where the budget stands. */
function placesIn(pressure: number, sentPressure: number) {
  const markup = gaugeOf(pressure, sentPressure)
  const at = (pattern: RegExp) => Number(pattern.exec(markup)?.[1])
  return {
    came: at(/class="came"[^>]*width="([\d.]+)"/),
    sent: at(/class="sent"[^>]*width="([\d.]+)"/),
    budget: at(/class="budget" x1="([\d.]+)"/),
  }
}

// A conversation of six times its window that was compacted and answered was shown in red, as one that failed.
test.each([
  [6.2, 0.8, 200, 'calm'],
  [0.97, 0.97, 200, 'calm'],
  [0.4, 0.4, 401, 'calm'],
  [1.1, 1.1, 200, 'high'],
  [1.1, 1.1, 400, 'critical'],
] as const)('%s that came and %s that was sent, answered with %s, is %s', (came, sent, status, level) => {
  expect(gaugeOf(came, sent, status)).toContain(`class="gauge ${level}"`)
})

test('one bar ends at what was sent, the one behind it at what came', () => {
  expect(placesIn(0.75, 0.5)).toEqual({ came: 72, sent: 48, budget: 96 })
})

test('the number is what was sent, and what came is told beside it', () => {
  expect(placesIn(7.31, 0.5).came).toBe(120)
  expect(visibleText(gaugeOf(7.31, 0.5))).toBe('50%')
  expect(gaugeOf(7.31, 0.5)).toContain('aria-label="50% of the budget sent, of 731% that came"')
  expect(gaugeOf(0.5, 0.5)).toContain('aria-label="50% of the budget sent"')
})

test('what was not measured is no empty gauge', () => {
  expect(visibleText(gaugeOf(null, null))).toBe('not measured')
})
