import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SentCount, SentPrompt } from '../../../src/models/counts/counted-prompt.ts'
import {
  cutBounds,
  isConstant,
  isWhole,
  narrowed,
  reportedPrompt,
  type ReportedPrompt,
  windowWithin,
} from '../../../src/models/counts/reported-prompt.ts'
import type { CutBounds } from '../../../src/models/suspicions.ts'
import { forAll } from '../../support/property-runs.ts'

/** A prompt of so many of our tokens, counted as the provider counts. */
function sentPrompt(ownTokens: number, given: Partial<SentCount> = {}): SentPrompt {
  const counted = {
    ownTokens,
    aroundTokens: 0,
    looseTokens: 0,
    conversationTokens: ownTokens,
    toolsTokens: 0,
    messageTokens: [],
    ratio: 1,
    ratioMin: 1,
    anchor: null,
    ...given,
  }
  return { prompt: 'p', encoding: 'e', beginnings: [], textBytes: ownTokens * 4, counted }
}

/** What is known of a prompt of 20,000 bytes, whose beginning of 16,000 a model has answered. */
function reported(
  then: { aroundTokens?: number; answeredBy?: string; textBytes?: number },
  now: Partial<SentPrompt> = {},
): ReportedPrompt {
  const { aroundTokens = 1000, answeredBy = 'm', textBytes = 16_000 } = then
  const { counted } = sentPrompt(4000, { aroundTokens })
  const answered = { textBytes, counted, promptTokens: 4100, answeredBy }
  const beginnings = [{ prompt: 'p1', counted: { addedTextTokens: 1000, looseTokens: 0 } }]
  const sent = { ...sentPrompt(5000, { aroundTokens: 1000 }), beginnings, ...now }
  return reportedPrompt(5000, 5100, sent, () => answered, 'm')
}

test.each<[string, Parameters<typeof reported>, number]>([
  ['what the same model has counted of a beginning', [{}], 1],
  ['not what another model counted', [{ answeredBy: 'other' }], 0],
  [
    'no prompt with more around the conversation: tools that were taken away since',
    [{ aroundTokens: 3000 }],
    0,
  ],
  ['one with a little more', [{ aroundTokens: 1050 }], 1],
  ['no longer one', [{ textBytes: 20_001 }], 0],
  ['its bytes, if nothing was counted', [{}, { counted: null }], 1],
])('a report is held against %s', (_, [then, now], count) => {
  const beginning = { promptTokens: 4100, looseTokens: 0, addedTokensMin: 1000 }
  expect(reported(then, now).beginnings).toEqual(count === 0 ? [] : [beginning])
})

const sent = { ...sentPrompt(10_000, { toolsTokens: 1000 }), textBytes: 40_000 }
const bare = { sent: { ...sent, counted: null } }
const grown = { beginnings: [{ promptTokens: 8000, looseTokens: 0, addedTokensMin: 2000 }] }
const thoughtless = { beginnings: [{ promptTokens: 12_000, looseTokens: 5000, addedTokensMin: 1000 }] }

test.each<[string, Partial<ReportedPrompt>, readonly number[], readonly number[]]>([
  [
    'if it comes near to what the text has, not with less than any tokenizer takes',
    {},
    [10_000, 14_000, 5600],
    [5000, 300, 1],
  ],
  ['not if it has not grown with its prompt', grown, [9900], [8500, 8000]],
  ['also if thoughts were dropped since', thoughtless, [8200], []],
  ['of which nothing was counted, unless few texts have so few tokens', bare, [8000], [6000]],
])('a report counts the whole prompt %s', (_, more, whole, parts) => {
  const isOf = (promptTokens: number): boolean =>
    isWhole({ promptTokens, expectedTokens: 10_000, sent, beginnings: [], ...more })
  expect([whole.filter(isOf), parts.filter(isOf)]).toEqual([whole, []])
})

const constantOf = (promptTokens: number, addedTokensMin: number): boolean =>
  isConstant({
    promptTokens,
    expectedTokens: promptTokens,
    sent: { ...sentPrompt(10_000), counted: null },
    beginnings: [{ promptTokens: 5000, looseTokens: 0, addedTokensMin }],
  })

test('a number that was reported of a shorter prompt as well is no count', () => {
  expect([constantOf(5000, 900), constantOf(5000, 10), constantOf(5001, 900)]).toEqual([true, false, false])
})

/** What a server with this window reports of messages, all of them counted as we count: it drops the oldest. */
function boundsOf(windowTokens: number, messages: readonly number[]): CutBounds | null {
  const all = messages.reduce((sum, each) => sum + each, 0)
  let left = all
  for (const each of messages.slice(0, -1)) {
    if (left <= windowTokens) break
    left -= each
  }
  return cutBounds({
    promptTokens: Math.min(left, windowTokens),
    expectedTokens: all,
    sent: sentPrompt(all, { messageTokens: messages }),
    beginnings: [],
  })
}

const sizes = fc.array(fc.integer({ min: 50, max: 1500 }), { minLength: 12, maxLength: 40 })
const windowTokens = fc.constantFrom(4096, 6000, 8192, 10_000, 12_000)

describe('what a cut prompt says of the window', () => {
  test('bounds it from both sides', () => {
    forAll(100, windowTokens, sizes, (window, messages) => {
      const bounds = boundsOf(window, messages)
      if (bounds === null) return
      expect(bounds.fitsTokens).toBeLessThanOrEqual(window)
      expect(bounds.exceedsTokens).toBeGreaterThan(window)
    })
  })

  test('is nothing, if nothing is missing', () => {
    expect(boundsOf(8192, [1000, 2000, 3000])).toBeNull()
  })

  test('is the window itself, if the newest message alone exceeds it', () => {
    const bounds = boundsOf(4096, [200, 9000])
    expect(bounds === null ? null : windowWithin(bounds)).toEqual({ tokens: 4096, kind: 'total' })
  })
})

test('a window is guessed within its bounds, and the rounder number before the nearer', () => {
  expect(windowWithin({ fitsTokens: 3700, exceedsTokens: 4300, cuts: 1 })?.tokens).toBe(4096)
  expect(windowWithin({ fitsTokens: 5700, exceedsTokens: 6100, cuts: 1 })?.tokens).toBe(6000)
  expect(windowWithin({ fitsTokens: 9500, exceedsTokens: 10_100, cuts: 1 })?.tokens).toBe(10_000)
  expect(windowWithin({ fitsTokens: 5311, exceedsTokens: 5312, cuts: 1 })).toEqual({
    tokens: 5311,
    kind: 'input',
  })
  forAll(100, fc.integer({ min: 1024, max: 200_000 }), fc.integer({ min: 1, max: 5000 }), (fits, more) => {
    const tokens = windowWithin({ fitsTokens: fits, exceedsTokens: fits + more, cuts: 3 })?.tokens ?? 0
    expect(tokens).toBeGreaterThanOrEqual(fits)
    expect(tokens).toBeLessThan(fits + more)
  })
})

test('bounds that lie far apart say nothing before a second prompt was cut', () => {
  const wide = { fitsTokens: 4100, exceedsTokens: 8300 }
  expect([1, 2].map((cuts) => windowWithin({ ...wide, cuts })?.tokens ?? null)).toEqual([null, 8192])
})

test('two cut prompts say more than one, and the newer is right if they contradict each other', () => {
  const one = { fitsTokens: 3000, exceedsTokens: 5000, cuts: 1 }
  expect(narrowed(one, { fitsTokens: 3900, exceedsTokens: 6000, cuts: 1 })).toEqual({
    fitsTokens: 3900,
    exceedsTokens: 5000,
    cuts: 2,
  })
  const now = { fitsTokens: 7000, exceedsTokens: 8500, cuts: 1 }
  expect(narrowed(one, now)).toEqual(now)
})
