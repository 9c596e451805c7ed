import { describe, expect, test } from 'vitest'
import type { Headline } from '../../../src/activity/conversations/conversation-cards.ts'
import { headlineSection } from '../../../src/admin/page/headline.ts'
import { headlineWith } from './made-up.ts'
import { visibleText } from './visible-text.ts'

function told(headline: Partial<Headline>, hasPrices = true): string {
  const markup = headlineSection({
    headline: headlineWith({ requests: 100, ...headline }),
    hasPrices,
    clientUrl: 'http://127.0.0.1:3653/v1',
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
      beyondWindow: 1_431,
      savedTokens: 9_000,
      summaryTokens: 1_000,
      savedMoney: 5,
      summaryMoney: 0.5,
    })
    expect(text).toContain('1,431 requests would not have fit.')
    expect(text).toContain(
      '8,000 tokens and 4.50 in money saved, net of 1,000 tokens and 0.50 for summaries.',
    )
  })

  test('without summaries is told without them', () => {
    expect(told({ beyondWindow: 1, savedTokens: 9_000, savedMoney: 5 })).toContain(
      '1 request would not have fit. 9,000 tokens and 5.00 in money saved. ',
    )
  })

  test('in tokens that lost money says both', () => {
    expect(told({ savedTokens: 9_000, savedMoney: -1.25 })).toContain(
      '9,000 tokens saved, but that cost 1.25 in money more than it saved.',
    )
  })
})

describe('a loss', () => {
  test('is told as one', () => {
    const text = told({ savedTokens: 800, summaryTokens: 2_000, savedMoney: 0.1, summaryMoney: 0.3 })
    expect(text).toContain(
      'It cost 1,200 tokens and 0.20 in money more than it saved, 2,000 tokens and 0.30 for summaries included.',
    )
  })

  test('in tokens that gained money says both', () => {
    expect(told({ savedTokens: -300, savedMoney: 2 })).toContain(
      'It cost 300 tokens more than it saved, but saved 2.00 in money.',
    )
  })
})

describe('what is not known', () => {
  test('says that there are no prices, and where they are set', () => {
    const text = told({ savedTokens: 9_000 }, false)
    expect(text).toContain('9,000 tokens saved. What that is in money is not known.')
    expect(text).toContain('No prices are set, so money is not known. Set prices in foldgate.yaml.')
  })

  test('counts requests and summaries that have no price', () => {
    expect(told({ savedTokens: 9_000, savedMoney: 3, unknownRequests: 4, unknownSummaries: 1 })).toContain(
      '4 changed requests and 1 summary are not counted in money: the model has no price',
    )
    expect(told({ savedTokens: 9_000, unknownRequests: 1 })).toContain(
      '1 changed request cannot be counted in money',
    )
  })

  test('takes the money of unpriced summaries for unknown, not for nothing', () => {
    const text = told({
      savedTokens: 9_000,
      summaryTokens: 10,
      savedMoney: 3,
      summaryMoney: null,
      unknownSummaries: 1,
    })
    expect(text).toContain(
      '8,990 tokens saved, net of 10 tokens for summaries. What that is in money is not known.',
    )
  })

  test('is no promise that every request would have fit', () => {
    expect(told({})).toContain('Every request would have fit as it came. Nothing was saved or spent so far.')
    expect(told({ beyondUnknown: 3 })).toContain('No request is known that would not have fit.')
    expect(told({ beyondUnknown: 3 })).toContain('Of 3 requests it is not known whether they would have fit')
    expect(told({ beyondUnknown: 100 })).toContain('Whether every request would have fit is not known.')
  })
})
