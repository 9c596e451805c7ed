import { describe, expect, test } from 'vitest'
import { figuresOf, type ObservedCall, type ObservedRequest } from './figures.ts'

test('tokens are summed, cached ones weigh a tenth, and the summary model’s stand apart', () => {
  const figures = figuresOf({
    requests: [
      request(0, { promptTokens: 1000 }),
      request(100, { promptTokens: 1500, cachedTokens: 1000 }),
      request(200, { promptTokens: 500, isCompaction: true, summary: 'ready', foldedTokens: 800 }),
    ],
    calls: [call(110, 150, 900), call(210, 220, 100)],
  })
  expect(figures).toMatchObject({
    requests: 3,
    compactions: 1,
    compactionsBy: { ready: 1 },
    promptTokens: 3000,
    weightedTokens: 2100,
    summaryCalls: 2,
    summaryPromptTokens: 1000,
    summaryCompletionTokens: 20,
    expiredTokens: 800,
    ratio: 1.25,
    // The second call was for a compaction that never fell.
    ratioOfCompactions: 900 / 800,
  })
  expect(figures.cachedShare).toBeCloseTo(1 / 3)
})

describe('a request has waited', () => {
  const slow = { acceptedMs: 1900, endedMs: 1910 }
  test.each([
    ['if a call ended while it was on its way', request(100, slow), call(50, 1890), 1],
    ['if one ran beside it for a second and more', request(100, slow), call(50, 9000), 1],
    ['not if a call ended by chance in its few milliseconds', request(100), call(50, 104), 0],
    ['not if the call was over before', request(100), call(50, 90), 0],
    ['not if the call went on in the background', request(100), call(50, 400), 0],
    ['not if the call came after it', request(100), call(106, 108), 0],
  ])('%s', (_, one, beside, waited) => {
    expect(figuresOf({ requests: [one], calls: [beside] }).waited).toBe(waited)
  })

  test('and how long is told', () => {
    const figures = figuresOf({ requests: [request(100, slow)], calls: [call(50, 1890), call(300, 400)] })
    expect(figures.waitedMsMost).toBe(1790)
  })
})

const request = (beganMs: number, given: Partial<ObservedRequest> = {}): ObservedRequest => ({
  beganMs,
  acceptedMs: beganMs + 5,
  endedMs: beganMs + 6,
  promptTokens: 0,
  cachedTokens: 0,
  isCompaction: false,
  summary: 'none',
  foldedTokens: 0,
  refused: 0,
  isReply: true,
  ...given,
})

const call = (beganMs: number, endedMs: number, promptTokens = 0): ObservedCall => ({
  beganMs,
  endedMs,
  promptTokens,
  completionTokens: 10,
})
