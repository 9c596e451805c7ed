import { describe, expect, test } from 'vitest'
import type { Totals } from '../../../src/activity/conversations/totals.ts'
import { headlineSection } from '../../../src/admin/page/headline.ts'
import { totalsWith } from './made-up.ts'
import { visibleText } from './visible-text.ts'

function told(totals: Partial<Totals>, hasPrices = true): string {
  const markup = headlineSection({
    totals: totalsWith({ requests: 100, ...totals }),
    hasPrices,
    clientUrl: 'http://127.0.0.1:3653/v1',
    statefulDialect: null,
  })
  return visibleText(markup)
}

test('before the first request, it says which base URL a client is given', () => {
  const text = told({ requests: 0 })
  expect(text).toContain('Ready for a first request.')
  expect(text).toContain('http://127.0.0.1:3653/v1')
})

describe('a gain', () => {
  test('is what is left when summaries are paid', () => {
    const text = told({
      beyond_window: 1_431,
      saved_tokens: 9_000,
      summary_tokens: 1_000,
      saved_money: 5,
      priced_requests: 1,
      summary_money: 0.5,
      priced_summaries: 1,
    })
    expect(text).toContain('1,431 requests would not have fit.')
    expect(text).toContain(
      '8,000 tokens and 4.50 in money saved, net of 1,000 tokens and 0.50 for summaries.',
    )
  })

  test('without summaries is told without them', () => {
    expect(told({ beyond_window: 1, saved_tokens: 9_000, saved_money: 5, priced_requests: 1 })).toContain(
      '1 request would not have fit. 9,000 tokens and 5.00 in money saved. ',
    )
  })

  test('in tokens that lost money says both', () => {
    expect(told({ saved_tokens: 9_000, saved_money: -1.25, priced_requests: 1 })).toContain(
      '9,000 tokens saved, but that cost 1.25 in money more than it saved.',
    )
  })
})

describe('a loss', () => {
  test('is told as one', () => {
    const text = told({
      saved_tokens: 800,
      summary_tokens: 2_000,
      saved_money: 0.1,
      priced_requests: 1,
      summary_money: 0.3,
      priced_summaries: 1,
    })
    expect(text).toContain(
      'It cost 1,200 tokens and 0.20 in money more than it saved, 2,000 tokens and 0.30 for summaries included.',
    )
  })

  test('in tokens that gained money says both', () => {
    expect(told({ saved_tokens: -300, saved_money: 2, priced_requests: 1 })).toContain(
      'It cost 300 tokens more than it saved, but saved 2.00 in money.',
    )
  })
})

describe('what is not known', () => {
  test('is no sentence about money', () => {
    const text = told({ saved_tokens: 9_000, unknown_requests: 1 }, false)
    expect(text).toContain('9,000 tokens saved. ')
    expect(text).not.toMatch(/money|\$|price/)
  })

  test('of a currency is none where the prices are listed ones: dollars, and as of when', () => {
    const text = told({ saved_tokens: 9_000, saved_money: 4.5, priced_requests: 3 }, false)
    expect(text).toContain('9,000 tokens and about $4.50 at list prices saved.')
    expect(text).toContain('list prices of 10 November 2026')
  })

  test('counts requests and summaries that have no price', () => {
    expect(
      told({
        saved_tokens: 9_000,
        saved_money: 3,
        priced_requests: 1,
        unknown_requests: 4,
        unknown_summaries: 1,
      }),
    ).toContain('4 changed requests and 1 summary are not counted in money: the model has no price')
  })

  test('takes the money of unpriced summaries for unknown, not for nothing', () => {
    const text = told({
      saved_tokens: 9_000,
      summary_tokens: 10,
      saved_money: 3,
      priced_requests: 1,
      unknown_summaries: 1,
    })
    expect(text).toContain('8,990 tokens saved, net of 10 tokens for summaries.')
  })

  test('is no promise that every request would have fit', () => {
    expect(told({})).toContain('Every request would have fit as it came. Nothing was saved or spent so far.')
    expect(told({ beyond_unknown: 3 })).toContain('No request is known that would not have fit.')
    expect(told({ beyond_unknown: 3 })).toContain('Of 3 requests it is not known whether they would have fit')
    expect(told({ beyond_unknown: 100 })).toContain('Whether every request would have fit is not known.')
  })
})
