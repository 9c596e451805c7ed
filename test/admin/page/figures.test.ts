import { expect, test } from 'vitest'
import type { Status } from '../../../src/telemetry/status.ts'
import type { Totals } from '../../../src/telemetry/conversations/totals.ts'
import {
  ago,
  boundedFigure,
  clock,
  duration,
  figure,
  moment,
  money,
  percent,
  plural,
} from '../../../src/admin/page/markup.ts'
import { gauge } from '../../../src/admin/page/conversation-table.ts'
import { headlineSection } from '../../../src/admin/page/home-page.ts'
import { before, cardWith, now, totalsWith, visibleText } from './made-up.ts'

test('what is not known is a dash, and a bound is no count', () => {
  const shown = [figure(null), figure(12_345.4), boundedFigure(900, true), boundedFigure(null, true)]
  expect(shown).toEqual(['–', '12,345', '≤ 900', '–'])
})

test.each([
  [0.699_9, '69%'],
  [0.7, '70%'],
  [0.29, '29%'],
  [0.999, '99%'],
  [3.4, '340%'],
  [12.5, '1,250%'],
])('a pressure of %s is %s: none is shown as having reached what it has not', (ratio, shown) => {
  expect(percent(ratio)).toBe(shown)
})

test.each([
  [21.4, '21.40'],
  [1_234.567, '1,234.57'],
  [0.004_21, '0.0042'],
  [-3, '-3.00'],
  [0, '0.00'],
])('an amount of %s is %s', (amount, shown) => {
  expect(money(amount)).toBe(shown)
})

test.each([
  [4, 'just now'],
  [-30, 'just now'],
  [60, '1 min ago'],
  [3_599, '59 min ago'],
  [7_200, '2 h ago'],
  [86_400, '19 Nov'],
])('%s seconds ago is %s', (seconds, shown) => {
  expect(ago(before(seconds), now)).toBe(shown)
})

test('times are in UTC, with the day where it is another', () => {
  expect(clock(before(38), now)).toBe('14:29:22')
  expect(clock(before(86_400), now)).toBe('19 Nov 14:30:00')
  expect(moment(before(0))).toBe('20 Nov 2026, 14:30 UTC')
  // What is no time is shown as it stands.
  for (const show of [ago, clock]) expect(show('yesterday', now)).toBe('yesterday')
  expect(moment('yesterday')).toBe('yesterday')
})

test('words and times have the form of their number', () => {
  expect([plural(1, 'request'), plural(1_200, 'token')]).toEqual(['1 request', '1,200 tokens'])
  expect([38.4, 1_440, 180_000, null].map(duration)).toEqual(['38 ms', '1.4 s', '3 min', '–'])
})

const gaugeOf = (pressure: number | null, sentPressure: number | null, status: number | null = 200): string =>
  gauge(cardWith({ pressure, sent_pressure: sentPressure, status })).toString()

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

test('one bar ends at what was sent, which is the number, the one behind it at what came; unmeasured is no empty one', () => {
  expect(placesIn(0.75, 0.5)).toEqual({ came: 72, sent: 48, budget: 96 })
  expect(placesIn(7.31, 0.5).came).toBe(120)
  expect(visibleText(gaugeOf(7.31, 0.5))).toBe('50%')
  expect(gaugeOf(7.31, 0.5)).toContain('aria-label="50% of the budget sent, of 731% that came"')
  expect(gaugeOf(0.5, 0.5)).toContain('aria-label="50% of the budget sent"')
  expect(visibleText(gaugeOf(null, null))).toBe('not measured')
})

const allWell: Status = { well: true, troubles: [] }

function told(totals: Partial<Totals>, hasPrices = true, status = allWell): string {
  const markup = headlineSection({
    totals: totalsWith({ requests: 100, ...totals }),
    hasPrices,
    clientUrl: 'http://127.0.0.1:3653/v1',
    unread: [],
    status,
  })
  return visibleText(markup)
}

const priced = { priced_requests: 1 }
const dear = { ...priced, priced_summaries: 1 }
const whole = { beyond_window: 1_431, saved_tokens: 9_000, summary_tokens: 1_000 }

test.each<[string, Partial<Totals>, string]>([
  [
    'a gain is what is left when summaries are paid',
    { ...whole, saved_money: 5, summary_money: 0.5, ...dear },
    '1,431 requests would not have fit. 8,000 tokens and 4.50 in money saved, net of 1,000 tokens and 0.50 for summaries.',
  ],
  [
    'a gain without summaries is told without them',
    { beyond_window: 1, saved_tokens: 9_000, saved_money: 5, ...priced },
    '1 request would not have fit. 9,000 tokens and 5.00 in money saved. ',
  ],
  [
    'a gain in tokens that lost money says both',
    { saved_tokens: 9_000, saved_money: -1.25, ...priced },
    '9,000 tokens saved, but that cost 1.25 in money more than it saved.',
  ],
  [
    'a loss is told as one',
    { saved_tokens: 800, summary_tokens: 2_000, saved_money: 0.1, summary_money: 0.3, ...dear },
    'It cost 1,200 tokens and 0.20 in money more than it saved, 2,000 tokens and 0.30 for summaries included.',
  ],
  [
    'a loss in tokens that gained money says both',
    { saved_tokens: -300, saved_money: 2, ...priced },
    'It cost 300 tokens more than it saved, but saved 2.00 in money.',
  ],
  [
    'requests and summaries that have no price are counted',
    { saved_tokens: 9_000, saved_money: 3, ...priced, unknown_requests: 4, unknown_summaries: 1 },
    'Not counted in money: 4 changed requests and 1 summary, since the model has no price',
  ],
  [
    'the money of unpriced summaries is unknown, not nothing',
    { saved_tokens: 9_000, summary_tokens: 10, saved_money: 3, ...priced, unknown_summaries: 1 },
    '8,990 tokens saved, net of 10 tokens for summaries.',
  ],
  ['before the first request', { requests: 0 }, 'Ready for a first request.'],
  ['and which base URL a client is given', { requests: 0 }, 'http://127.0.0.1:3653/v1'],
  ['there is no promise', {}, 'Every request would have fit as it came. Nothing was saved or spent so far.'],
  ['of three nobody knows', { beyond_unknown: 3 }, 'No request is known that would not have fit.'],
  ['and it is said', { beyond_unknown: 3 }, 'Of 3 requests it is not known whether they would have fit'],
  [
    'of what has failed there is none',
    { failed: 3 },
    'Every answered request would have fit as it came. Nothing was saved or spent so far. 100 requests since',
  ],
  ['nor is it unknown', { failed: 60, beyond_unknown: 40 }, 'Whether every request would have fit is not'],
  ['if all has failed', { failed: 100 }, 'No request was answered. Nothing was saved'],
  ['of none anybody knows', { beyond_unknown: 100 }, 'Whether every request would have fit is not known.'],
])('%s', (_, totals, words) => {
  expect(told(totals)).toContain(words)
})

// While the upstream was away, and every other request failed, the largest words of the page said that every request would have
// fit, and what was saved.
test('what is not well is told first, in short, and no success before it', () => {
  const trouble = {
    kind: 'upstream',
    what: '21 of the last 36 requests failed: default (http://127.0.0.1:9/v1) cannot be reached',
    since: '2026-11-29T12:00:00.000Z',
    advice: 'check that it runs',
  } as const
  const outage: Status = { well: false, troubles: [trouble, { ...trouble, what: 'the second' }] }
  const words = told({ failed: 21, saved_tokens: 9_000 }, true, outage)
  expect(words).toContain(
    'What Foldgate has done 21 of the last 36 requests failed. Every answered request would have fit as it came. 9,000 tokens',
  )
  expect(words).toContain('100 requests since 20 Nov 2026, 14:29 UTC 21 failed')
  const pressed = { ...trouble, what: 'records are kept in memory, and end with the process,' }
  expect(told({}, true, { well: false, troubles: [pressed] })).toContain(' Records are kept in memory. Every')
})

test('what is not known is no sentence about money; listed prices are dollars, and say as of when', () => {
  const unknown = told({ saved_tokens: 9_000, unknown_requests: 1 }, false)
  expect(unknown).toContain('9,000 tokens saved. ')
  expect(unknown).not.toMatch(/money|\$|price/)
  const listed = told({ saved_tokens: 9_000, saved_money: 4.5, priced_requests: 3 }, false)
  expect(listed).toContain('9,000 tokens and about $4.50 at list prices saved.')
  expect(listed).toContain('list prices of 10 November 2026')
})
