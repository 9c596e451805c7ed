import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainClassification, type Classification } from '../../src/overflow/classification.ts'
import { nextAttempt, type RefusedAttempt } from '../../src/overflow/tighten.ts'
import { forAll } from '../support/property-runs.ts'

const total = (tokens: number) => ({ tokens, kind: 'total' as const })
const overflow: Classification = plainClassification('overflow', 'compact')

const refused = (changes: Partial<RefusedAttempt>): RefusedAttempt => ({
  attempt: 1,
  attemptsMax: 3,
  classification: overflow,
  sentTokens: 10_000,
  budgetTokens: 12_000,
  keepRecent: 10,
  minRecent: 4,
  outputLimitTokens: null,
  outputLeastTokens: 1,
  outputReserveTokens: 1000,
  window: null,
  ratio: 1,
  clampOutput: 'when_impossible',
  ...changes,
})

/** What follows a refusal that differs so from that one. */
const after = (changes: Partial<RefusedAttempt>) => nextAttempt(refused(changes))

const exactly = (promptTokens: number, window: Classification['window']): Classification => ({
  ...overflow,
  window,
  promptTokens: { tokens: promptTokens, exact: true },
})

const compacted = {
  kind: 'compact',
  smallest: false,
  clampOutputTokens: null,
  outputTokensBeside: null,
}

describe('with exact numbers', () => {
  test('the budget is scaled by own count over stated count, a little lower, and the recent messages stay', () => {
    const next = after({ classification: exactly(12_500, total(9000)) })
    expect(next).toEqual({
      ...compacted,
      budgetTokens: Math.floor(8000 * 0.8 * 0.98),
      fills: false,
      keepRecent: 10,
    })
  })

  const classification = exactly(10_000, total(11_000))
  const sum = { ...overflow, window: total(8000), totalTokens: 13_000 }
  test.each<[string, Partial<RefusedAttempt>, number]>([
    [
      'an input window keeps nothing free',
      { classification: exactly(10_000, { tokens: 8000, kind: 'input' }) },
      7840,
    ],
    ['the request’s own limit is kept free', { classification, outputLimitTokens: 3000 }, 7840],
    ['or what the server names', { classification: { ...classification, completionTokens: 2000 } }, 8820],
    [
      'a sum is as good where the request said its limit',
      { classification: sum, outputLimitTokens: 3000 },
      4900,
    ],
    ['counts of another prompt are not followed', { classification: exactly(500_000, total(9000)) }, 5000],
  ])('%s', (_, changes, budgetTokens) => {
    expect(after(changes)).toMatchObject({ budgetTokens, keepRecent: budgetTokens === 5000 ? 5 : 10 })
  })
})

describe('without them', () => {
  test('half of what was sent and half of the recent messages, not below the minimum', () => {
    expect(after({})).toEqual({ ...compacted, budgetTokens: 5000, fills: true, keepRecent: 5 })
    expect(after({ keepRecent: 6 })).toMatchObject({ keepRecent: 4 })
    expect(after({ keepRecent: 2 })).toMatchObject({ keepRecent: 2 })
    // A conversation that is not compacted ahead may have been sent at any size: half of the budget was a third of it.
    expect(after({ sentTokens: 16_000, budgetTokens: 10_000 })).toMatchObject({ budgetTokens: 8000 })
    expect(after({ sentTokens: 40_000, budgetTokens: 10_000 })).toMatchObject({ budgetTokens: 9999 })
  })
})

describe('with a stated window and a prompt that was not counted to its end', () => {
  const window = total(9000)
  const atLeast = (tokens: number) => ({
    classification: { ...overflow, window, promptTokens: { tokens, exact: false } },
  })
  const whole = { budgetTokens: 7200, fills: true, keepRecent: 10 }
  const second = { attempt: 2, sentTokens: 7200, budgetTokens: 7200 }

  test.each<[string, Partial<RefusedAttempt>, object]>([
    ['the window says how much, with room for error', { classification: { ...overflow, window } }, whole],
    ['also with a bound', atLeast(8001), whole],
    ['by the ratio that was known before', { ...atLeast(8001), ratio: 1.25 }, { budgetTokens: 5760 }],
    [
      'and by no other than the server’s count allows',
      { ...atLeast(10_000), sentTokens: 8000 },
      { budgetTokens: 5760 },
    ],
    [
      'one below half of what was sent',
      { classification: { ...overflow, window: total(4000) } },
      { budgetTokens: 2700 },
    ],
    // One token over, every time: our own count was no help.
    [
      'a second refusal is halved',
      { ...atLeast(8001), ...second },
      { budgetTokens: 3600, fills: true, keepRecent: 5 },
    ],
    ['a bound that cannot be about this prompt', atLeast(500_000), { budgetTokens: 5000 }],
  ])('%s', (_, changes, expected) => {
    expect(after(changes)).toMatchObject({ kind: 'compact', ...expected })
  })
})

describe('a request made impossible by its own output limit', () => {
  test('with the own count, and room for its error, where the server stopped counting', () => {
    const classification = {
      ...overflow,
      window: total(65_536),
      promptTokens: { tokens: 1537, exact: false },
    }
    expect(after({ classification, outputLimitTokens: 64_000 })).toEqual({
      kind: 'clamp',
      outputTokens: 65_536 - 11_000,
    })
  })

  // Anthropic's models up to Claude 4 count the limit beside the prompt. Folding the prompt in its place lost what had fitted.
  test('where the server says that less is enough, as long as that leaves a reply its room', () => {
    const told = {
      ...exactly(188_059, total(200_000)),
      completionTokens: 20_000,
      remedy: 'less-output',
    } as const
    const sizes = { outputLimitTokens: 20_000, sentTokens: 188_059, budgetTokens: 190_000 }
    expect(after({ classification: told, ...sizes })).toEqual({
      kind: 'clamp',
      outputTokens: 11_941,
    })
    const full = { ...told, ...exactly(199_500, total(200_000)), remedy: 'less-output' } as const
    expect(after({ classification: full, ...sizes })).toMatchObject({
      kind: 'compact',
      clampOutputTokens: null,
      outputTokensBeside: 500,
    })
    // Thoughts were given 16,000: with less the request would be refused for that.
    expect(after({ classification: told, ...sizes, outputLeastTokens: 16_001 })).toMatchObject({
      kind: 'compact',
    })
    expect(after({ classification: told, ...sizes, clampOutput: 'never' })).toMatchObject({
      kind: 'compact',
      outputTokensBeside: null,
    })
  })

  test('a limit that the client did not set is not lowered', () => {
    const classification = { ...exactly(1000, total(4000)), completionTokens: 3500 }
    expect(after({ classification, sentTokens: 1000, budgetTokens: 3000 })).toMatchObject({
      kind: 'compact',
      budgetTokens: 490,
      clampOutputTokens: null,
      outputTokensBeside: null,
    })
  })

  test('a cap of the model’s own is the client’s to respect', () => {
    const cap = plainClassification('output_too_large', 'clamp')
    expect(after({ classification: cap, outputLimitTokens: 100_000 })).toEqual({ kind: 'give-up' })
  })
})

test('whatever an upstream states, budgets and limits only ever shrink and the attempts end', () => {
  const tokens = fc.integer({ min: 1, max: 2_000_000 })
  const window = fc.option(fc.record({ tokens, kind: fc.constantFrom('total' as const, 'input' as const) }))
  const answers = fc.record({
    class: fc.constantFrom('overflow' as const, 'output_too_large' as const, 'payload_too_large' as const),
    window,
    promptTokens: fc.option(fc.record({ tokens, exact: fc.boolean() })),
    completionTokens: fc.option(tokens),
    totalTokens: fc.option(tokens),
    remedy: fc.constantFrom('compact' as const, 'less-output' as const),
    afterOutput: fc.constant(false),
  })
  const start = fc.record({
    sentTokens: tokens,
    budgetTokens: tokens,
    outputLimitTokens: fc.option(tokens),
    window,
  })
  forAll(100, start, fc.array(answers, { minLength: 6, maxLength: 6 }), (from, classifications) => {
    const state = refused(from)
    for (const [index, classification] of classifications.entries()) {
      Object.assign(state, { attempt: index + 1, classification })
      const next = nextAttempt(state)
      if (next.kind === 'give-up') return
      const limit = next.kind === 'clamp' ? next.outputTokens : next.clampOutputTokens
      const budget = next.kind === 'compact' ? next.budgetTokens : state.budgetTokens
      expect(limit ?? 1).toBeGreaterThanOrEqual(1)
      expect(limit ?? 0).toBeLessThan(state.outputLimitTokens ?? 1)
      expect(budget).toBeGreaterThanOrEqual(1)
      expect(next.kind === 'clamp' || budget < Math.min(state.budgetTokens, state.sentTokens)).toBe(true)
      expect(next.kind === 'clamp' || next.smallest === (index + 1 === 3)).toBe(true)
      Object.assign(state, {
        budgetTokens: budget,
        sentTokens: Math.min(state.sentTokens, budget),
        outputLimitTokens: limit ?? state.outputLimitTokens,
      })
    }
    expect.unreachable('attempts must end')
  })
})
