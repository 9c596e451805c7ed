import { expect, test } from 'vitest'
import { gauge } from '../../../src/admin/page/gauge.ts'
import { visibleText } from './visible-text.ts'

/** Where the bars end, and where budget and marker stand. */
function placesIn(pressure: number, sentPressure: number) {
  const markup = gauge(pressure, sentPressure).toString()
  const at = (pattern: RegExp) => Number(pattern.exec(markup)?.[1])
  return {
    came: at(/class="came"[^>]*width="([\d.]+)"/),
    sent: at(/class="sent"[^>]*width="([\d.]+)"/),
    budget: at(/class="budget" x1="([\d.]+)"/),
    marker: at(/class="marker" d="M([\d.]+)/),
  }
}

test.each([
  [0, 'calm'],
  [0.699, 'calm'],
  [0.7, 'high'],
  [0.899, 'high'],
  [0.9, 'critical'],
  [7.3, 'critical'],
] as const)('a pressure of %s is %s', (pressure, level) => {
  expect(gauge(pressure, null).toString()).toContain(`class="gauge ${level}"`)
})

test('the bar ends at what came, and the marker stands at what was sent', () => {
  expect(placesIn(0.75, 0.5)).toEqual({ came: 72, sent: 48, budget: 96, marker: 48 })
})

test('what exceeds the drawing is told by the number', () => {
  expect(placesIn(7.31, 0.5).came).toBe(120)
  expect(visibleText(gauge(7.31, 0.5))).toBe('731%')
  expect(gauge(7.31, 0.5).toString()).toContain('aria-label="Pressure 731% as it came, 50% as sent"')
})

test('where more was sent than came, the bar still ends at what came', () => {
  expect(placesIn(0.5, 0.6)).toMatchObject({ came: 48, sent: 48, marker: 57.6 })
})

test('what was not measured is no empty gauge', () => {
  expect(visibleText(gauge(null, null))).toBe('not measured')
})
