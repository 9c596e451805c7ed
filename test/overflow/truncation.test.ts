import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSuspicions } from '../../src/overflow/suspicions.ts'
import { judgeReport, type ReportedPrompt } from '../../src/overflow/truncation.ts'

const honest = { hasCounted: true, countsCached: true, constantTokens: null }
const unknown = { hasCounted: false, countsCached: false, constantTokens: null }

function reported(promptTokens: number, other: Partial<ReportedPrompt> = {}): ReportedPrompt {
  const expectedTokens = other.expectedTokens ?? 20_000
  return {
    promptTokens,
    withCacheTokens: null,
    expectedTokens,
    ownTextTokens: expectedTokens,
    textBytes: expectedTokens * 4,
    beginnings: [],
    addedTokens: [],
    habits: honest,
    ...other,
  }
}

/** A beginning that the provider counted, and what was added since at the least. */
const beginning = (promptTokens: number, addedTokensMin: number, looseTokens = 0) => [
  { promptTokens, addedTokensMin, looseTokens },
]

const cached = (promptTokens: number, withCacheTokens: number) =>
  judgeReport(reported(promptTokens, { withCacheTokens }))

const report = (promptTokens: number, expectedTokens: number) => ({
  promptTokens,
  expectedTokens,
  windowTokens: 4096,
  countsCached: false,
})

const uncounted = (promptTokens: number, textBytes: number, other: Partial<ReportedPrompt> = {}) =>
  judgeReport(reported(promptTokens, { ownTextTokens: null, textBytes, ...other })).kind

describe('a prompt that came out cut', () => {
  test('is one of which a fifth was counted: the smallest common size that it fits is the window', () => {
    expect(judgeReport(reported(3900))).toMatchObject({
      kind: 'cut',
      window: { tokens: 4096, kind: 'total' },
    })
  })

  test('is believed at first sight of a server only where the number is a context size', () => {
    expect(judgeReport(reported(4096, { habits: unknown })).kind).toBe('cut')
    expect(judgeReport(reported(3900, { habits: unknown })).kind).toBe('doubtful')
  })

  test('is one that grew and is reported far smaller than its own beginning', () => {
    const grown = reported(3500, { expectedTokens: 4900, beginnings: beginning(3950, 600) })
    expect(judgeReport(grown)).toMatchObject({ kind: 'cut', window: { tokens: 4096, kind: 'total' } })
  })

  test('has what fitted for its window where no common size lies between that and what did not', () => {
    const grown = reported(4400, { expectedTokens: 6100, beginnings: beginning(5200, 600) })
    expect(judgeReport(grown)).toMatchObject({ kind: 'cut', window: { tokens: 5200, kind: 'input' } })
  })

  test('is suspected where it did not grow with what little was added', () => {
    const flat = { expectedTokens: 4270, beginnings: beginning(4050, 140) }
    expect(judgeReport(reported(4096, flat)).kind).toBe('doubtful')
  })

  test('shows against an older beginning where each request adds next to nothing', () => {
    // Turns of 60 tokens were cut for 42 requests: each was held against the one before, which had been cut as well.
    const older = [...beginning(4090, 40), ...beginning(4070, 90), ...beginning(4060, 300)]
    expect(judgeReport(reported(4096, { expectedTokens: 4150, beginnings: older })).kind).toBe('doubtful')
    expect(judgeReport(reported(4096, { expectedTokens: 4150, beginnings: older.slice(0, 1) })).kind).toBe(
      'whole',
    )
  })

  test('is certain where a server that does count reports next to nothing of what it had counted', () => {
    const dropped = { expectedTokens: 4155, beginnings: beginning(4087, 55) }
    expect(judgeReport(reported(242, dropped))).toMatchObject({
      kind: 'cut',
      window: { tokens: 4096, kind: 'total' },
    })
  })

  test('has a window at or above what was answered, and below what was sent', () => {
    const tokens = fc.integer({ min: 20, max: 2_000_000 })
    fc.assert(
      fc.property(tokens, tokens, fc.boolean(), (promptTokens, expectedTokens, isKnown) => {
        const habits = isKnown ? honest : unknown
        const judgement = judgeReport(reported(promptTokens, { expectedTokens, habits }))
        if (!('window' in judgement)) return
        expect(judgement.window.tokens).toBeGreaterThanOrEqual(promptTokens)
        expect(judgement.window.tokens).toBeLessThan(expectedTokens)
      }),
    )
  })
})

describe('nothing was cut', () => {
  test('where a tokenizer takes a third less for a text than ours', () => {
    expect(judgeReport(reported(12_500))).toEqual({ kind: 'whole', promptTokens: 12_500 })
  })

  test('where a server reports only what it had not cached, with the reply before it or without', () => {
    // A chat of short turns got a window of 2,048: the reply was in the server's cache as well.
    const added = { addedTokens: [800, 350], beginnings: beginning(19_200, 500), habits: unknown }
    for (const promptTokens of [810, 345, 1100, 3]) {
      expect(judgeReport(reported(promptTokens, added)).kind).toBe('useless')
    }
  })

  test('where a server always says the same', () => {
    const constant = { ...honest, constantTokens: 1234 }
    expect(judgeReport(reported(1234, { habits: constant })).kind).toBe('useless')
    // Small numbers that do not grow are no size of anything.
    expect(judgeReport(reported(104, { habits: unknown }))).toMatchObject({ kind: 'doubtful', isSize: false })
  })

  test('where a gateway leaves what was cached out of the prompt, and states it beside it', () => {
    expect(cached(5000, 19_500)).toEqual({ kind: 'whole', promptTokens: 19_500 })
    // Half of it was cached, and the half was taken for all that had been left.
    expect(cached(13_000, 19_900)).toEqual({ kind: 'whole', promptTokens: 19_900 })
    expect(cached(19_800, 29_000)).toEqual({ kind: 'whole', promptTokens: 19_800 })
  })

  test('where a template drops the thoughts of earlier turns', () => {
    const thoughts = { ownTextTokens: 5000, beginnings: beginning(9000, 100, 5000) }
    expect(judgeReport(reported(4600, thoughts)).kind).toBe('whole')
  })

  test('where another replica has a slightly terser template', () => {
    const other = { beginnings: beginning(20_000, 100), expectedTokens: 20_300 }
    expect(judgeReport(reported(20_000, other)).kind).toBe('whole')
    expect(judgeReport(reported(19_350, other)).kind).toBe('doubtful')
  })
})

describe('a doubtful report', () => {
  test('is believed when a second one stays below the same cap although the prompt grew', () => {
    const suspicions = createSuspicions({ namesMax: 10 })
    expect(suspicions.take('a', report(3700, 6000))).toBe('first')
    expect(suspicions.take('b', report(3800, 7000))).toBe('first')
    expect(suspicions.take('a', report(3800, 7000))).toBe('confirmed')
  })

  test('is believed when the second one is the same, if that is a context size or the server does count', () => {
    const suspicions = createSuspicions({ namesMax: 10 })
    suspicions.take('a', report(4096, 6000))
    expect(suspicions.take('a', report(4096, 6200))).toBe('confirmed')
    suspicions.take('b', report(3700, 6000))
    expect(suspicions.take('b', report(3700, 6200))).toBe('first')
    const counting = { ...report(3700, 6400), countsCached: true }
    expect(suspicions.take('b', counting)).toBe('confirmed')
  })

  test('is taken for a count after all when the second one grew with its prompt', () => {
    const suspicions = createSuspicions({ namesMax: 10 })
    suspicions.take('a', report(3700, 6000))
    expect(suspicions.take('a', report(4090, 6500))).toBe('refuted')
    expect(suspicions.take('a', report(4090, 6500))).toBe('first')
  })

  test.each([
    ['is beyond the cap', 5000, 30_000],
    ['is about the same prompt', 3600, 6000],
  ])('is not believed when the second one %s', (_what, promptTokens, expectedTokens) => {
    const suspicions = createSuspicions({ namesMax: 10 })
    suspicions.take('a', report(3700, 6000))
    expect(suspicions.take('a', report(promptTokens, expectedTokens))).toBe('first')
  })

  test('is forgotten once a larger prompt was counted whole', () => {
    const suspicions = createSuspicions({ namesMax: 10 })
    suspicions.take('a', report(3700, 6000))
    suspicions.dispel('a', 4000)
    suspicions.dispel('a', 5000)
    expect(suspicions.take('a', report(3800, 7000))).toBe('first')
  })

  test('of more models than are remembered pushes the oldest out', () => {
    const suspicions = createSuspicions({ namesMax: 2 })
    for (const name of ['a', 'b', 'c']) suspicions.take(name, report(3700, 6000))
    expect(suspicions.take('c', report(3800, 7000))).toBe('confirmed')
    expect(suspicions.take('a', report(3800, 7000))).toBe('first')
  })
})

test('a report far below what the bytes can mean is doubted where nothing was counted', () => {
  expect(uncounted(4000, 60_000)).toBe('doubtful')
  expect(uncounted(15_000, 60_000)).toBe('whole')
  expect(uncounted(100, 4000)).toBe('whole')
  expect(uncounted(10, 60_000)).toBe('useless')
  expect(uncounted(4000, 60_000, { beginnings: beginning(3900, 50) })).toBe('whole')
})
