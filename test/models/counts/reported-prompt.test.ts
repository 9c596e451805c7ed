import { describe, expect, test } from 'vitest'
import type { SentPrompt } from '../../../src/models/counts/prompt.ts'
import {
  isConstant,
  isWhole,
  reportedPrompt,
  type ReportedPrompt,
} from '../../../src/models/counts/reported-prompt.ts'
import { sentPrompt } from './sent-prompt.ts'

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
  return reportedPrompt(5000, 5100, sent, [{ index: 0, answered }], 'm')
}

describe('what a report is held against', () => {
  test('is what the same model has counted of a beginning', () => {
    expect(reported({}).beginnings).toEqual([{ promptTokens: 4100, looseTokens: 0, addedTokensMin: 1000 }])
  })

  test('is not what another model counted', () => {
    expect(reported({ answeredBy: 'other' }).beginnings).toEqual([])
  })

  test('is no prompt with more around the conversation: tools that have been taken away since', () => {
    expect(reported({ aroundTokens: 3000 }).beginnings).toEqual([])
    expect(reported({ aroundTokens: 1050 }).beginnings).toHaveLength(1)
    expect(reported({ textBytes: 20_001 }).beginnings).toEqual([])
  })

  test('are bytes, if nothing was counted', () => {
    expect(reported({}, { counted: null }).beginnings).toEqual([
      { promptTokens: 4100, looseTokens: 0, addedTokensMin: 1000 },
    ])
  })
})

describe('a report counts the whole prompt', () => {
  const sent = { ...sentPrompt(10_000, { toolsTokens: 1000 }), textBytes: 40_000 }
  const of = (promptTokens: number, more: Partial<ReportedPrompt> = {}): boolean =>
    isWhole({ promptTokens, expectedTokens: 10_000, sent, beginnings: [], ...more })

  test('if it comes near to what the text has', () => {
    expect([of(10_000), of(14_000), of(5600)]).toEqual([true, true, true])
  })

  test('not if it has less than any tokenizer takes: the uncached part, or nothing', () => {
    expect([of(5000), of(300), of(1)]).toEqual([false, false, false])
  })

  test('not if it has not grown with its prompt', () => {
    const grown = { beginnings: [{ promptTokens: 8000, looseTokens: 0, addedTokensMin: 2000 }] }
    expect([of(9900, grown), of(8500, grown), of(8000, grown)]).toEqual([true, false, false])
  })

  test('also if thoughts were dropped since', () => {
    const grown = { beginnings: [{ promptTokens: 12_000, looseTokens: 5000, addedTokensMin: 1000 }] }
    expect(of(8200, grown)).toBe(true)
  })

  test('of which nothing was counted, unless few texts have so few tokens', () => {
    const bare = { sent: { ...sent, counted: null } }
    expect([of(8000, bare), of(6000, bare)]).toEqual([true, false])
  })
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
