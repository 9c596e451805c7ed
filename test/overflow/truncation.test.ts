import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSuspicious, judgeReport, type ReportedPrompt } from '../../src/overflow/truncation.ts'

function reported(promptTokens: number, other: Partial<ReportedPrompt> = {}): ReportedPrompt {
  const expectedTokens = other.expectedTokens ?? 20_000
  return {
    promptTokens,
    expectedTokens,
    expectedTextTokens: expectedTokens,
    isCalibrated: false,
    beginningTokens: null,
    addedTokens: null,
    ...other,
  }
}

test('a prompt of which a fifth was counted was cut, to the smallest common size that it fits', () => {
  expect(judgeReport(reported(3900))).toEqual({
    kind: 'truncated',
    window: { tokens: 4096, kind: 'total' },
  })
})

test('tokenizers may differ by a third while nothing is known of the model', () => {
  expect(judgeReport(reported(14_000)).kind).toBe('whole')
  expect(judgeReport(reported(14_000, { isCalibrated: true })).kind).toBe('truncated')
})

test('a prompt that grew and is reported smaller than its own beginning was cut', () => {
  const grown = reported(3700, { expectedTokens: 4700, beginningTokens: 3950, isCalibrated: true })
  expect(judgeReport(grown)).toEqual({ kind: 'truncated', window: { tokens: 4096, kind: 'total' } })
})

test('where no common size lies between what fitted and what did not, what fitted is the window', () => {
  const grown = reported(4900, { expectedTokens: 6100, beginningTokens: 5200, isCalibrated: true })
  expect(judgeReport(grown)).toEqual({ kind: 'truncated', window: { tokens: 5200, kind: 'input' } })
})

test('a server that reports only what it had not cached has cut nothing', () => {
  const uncached = reported(810, { beginningTokens: 19_200, addedTokens: 800, isCalibrated: true })
  expect(judgeReport(uncached).kind).toBe('partial')
  expect(judgeReport(reported(3)).kind).toBe('partial')
})

test('a report too small for any window may come from a server that always says the same', () => {
  expect(judgeReport(reported(500)).kind).toBe('doubtful')
})

test('thoughts and images that a provider counts otherwise are no truncation', () => {
  const thoughts = reported(6000, { expectedTextTokens: 5000, isCalibrated: true, beginningTokens: 9000 })
  expect(judgeReport(thoughts).kind).toBe('whole')
})

test('a window that was found lies at or above what was answered, and below what was cut', () => {
  const tokens = fc.integer({ min: 20, max: 2_000_000 })
  fc.assert(
    fc.property(tokens, tokens, fc.boolean(), (promptTokens, expectedTokens, isCalibrated) => {
      const judgement = judgeReport(reported(promptTokens, { expectedTokens, isCalibrated }))
      if (!('window' in judgement)) return
      expect(judgement.window.tokens).toBeGreaterThanOrEqual(promptTokens)
      expect(judgement.window.tokens).toBeLessThan(expectedTokens)
    }),
  )
})

test('a report far below what the bytes can mean asks for a count, small bodies do not', () => {
  expect(isSuspicious(4000, 60_000)).toBe(true)
  expect(isSuspicious(15_000, 60_000)).toBe(false)
  expect(isSuspicious(100, 4000)).toBe(false)
  expect(isSuspicious(10, 60_000)).toBe(false)
})
