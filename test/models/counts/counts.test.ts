import { modelKeyOf } from '../../../src/models/model-record.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Counts } from '../../../src/models/counts/counts.ts'
import {
  type Anchor,
  type CountedPrompt,
  differenceTokens,
  expectedTokens,
} from '../../../src/models/counts/counted-prompt.ts'
import { freshCounts as fresh } from '../../support/models.ts'
import { forAll } from '../../support/property-runs.ts'

const modelOf = (model: string) => ({
  key: modelKeyOf('default', 'c', model, 'http://upstream'),
  encoding: 'o200k_base',
})
const a = modelOf('a')

const prompt = (ownTokens: number, promptTokens: number, other: Partial<Anchor> = {}): Anchor => ({
  ownTokens,
  promptTokens,
  aroundTokens: 500,
  looseTokens: 0,
  conversationTokens: ownTokens - 500,
  answeredBy: 'm',
  ...other,
})

/** Lets an answer to this prompt be learnt from. */
function observe(counts: Counts, prefix: string, sent: Anchor, since: Anchor | null): boolean {
  const { promptTokens, answeredBy, ...counted } = sent
  const textBytes = sent.ownTokens * 4
  return counts.observe(a, prefix, { textBytes, counted, promptTokens, answeredBy }, since)
}

/** A conversation that grows by `growth` own tokens a request, counted by `count`. */
function converse(counts: Counts, requests: number, growth: number, count: (own: number) => number): void {
  let since: Anchor | null = null
  for (let index = 1; index <= requests; index += 1) {
    const own = 600 + index * growth
    const sent = prompt(own, count(own))
    observe(counts, `p${index}`, sent, since)
    since = sent
  }
}

/** The beginnings of these names, as long as our count of them says. */
const beginnings = (...known: readonly (readonly [string, number])[]) =>
  known.map(([name, conversationTokens]) => ({ prompt: name, conversationTokens }))

const answered = (counted: CountedPrompt | null, textBytes: number) => ({
  textBytes,
  counted,
  promptTokens: null,
  answeredBy: null,
})

describe('the ratio of the provider’s count to ours', () => {
  test('is the family’s own before any answer', () => {
    const own = { ratio: 1.2, overheadTokens: 0, overheadDoubtTokens: Infinity }
    expect(fresh().rateOf(a, 1.2, 500)).toEqual(own)
  })

  test('is what conversations grow by, whatever the provider adds to each prompt', () => {
    const counts = fresh()
    converse(counts, 10, 3000, (own) => 2500 + Math.round(own * 1.4))
    const { ratio } = counts.rateOf(a, 1, 500)
    expect(ratio).toBeGreaterThan(1.37)
    expect(ratio).toBeLessThan(1.43)
  })

  test('is no matter of images and thoughts', () => {
    const counts = fresh()
    const before = prompt(5000, 5000)
    observe(counts, 'p1', before, null)
    const { ratio } = counts.rateOf(a, 1, 500)
    observe(counts, 'p2', prompt(7000, 30_000, { looseTokens: 1600 }), before)
    expect(counts.rateOf(a, 1, 500).ratio).toBe(ratio)
  })

  test('of one name is never learnt from another (P9)', () => {
    const counts = fresh()
    converse(counts, 10, 3000, (own) => own * 2)
    expect(counts.rateOf(modelOf('b'), 1.1, 500)).toEqual(fresh().rateOf(modelOf('b'), 1.1, 500))
    expect(counts.anchorAt(modelOf('b'), beginnings(['p1', 3100], ['p2', 6100]))).toBeNull()
    expect(['p1', 'p2'].map((each) => counts.answered(modelOf('b'), each))).toEqual([undefined, undefined])
  })

  test('stays within what tokenizers do, whatever a server reports', () => {
    const answer = fc.record({ grown: fc.integer({ min: 1, max: 200_000 }), promptTokens: fc.nat() })
    forAll(100, fc.array(answer, { maxLength: 30 }), (reports) => {
      const counts = fresh()
      let since: Anchor | null = null
      let own = 500
      for (const { grown, promptTokens } of reports) {
        own += grown
        const sent = prompt(own, promptTokens)
        observe(counts, String(own), sent, since)
        since = sent
      }
      const { ratio, overheadTokens } = counts.rateOf(a, 1.1, 500)
      expect(ratio).toBeGreaterThanOrEqual(1.1 * 0.8)
      expect(ratio).toBeLessThanOrEqual(3)
      expect(Number.isFinite(overheadTokens)).toBe(true)
    })
  })
})

describe('what the provider adds to each prompt', () => {
  test('is known in the next conversation with such surroundings: a clock in the system block changes it a little', () => {
    const counts = fresh()
    converse(counts, 10, 3000, (own) => 2500 + Math.round(own * 1.2))
    const expected = expectedTokens(800, counts.rateOf(a, 1, 500), null)
    expect(expected).toBeGreaterThan(2500)
    expect(expected).toBeLessThan(3800)
    const { overheadTokens } = counts.rateOf(a, 1, 500)
    expect(overheadTokens).toBeGreaterThan(1500)
    expect(counts.rateOf(a, 1, 520).overheadTokens).toBe(overheadTokens)
    expect(counts.rateOf(a, 1, 5000).overheadTokens).toBe(0)
  })

  test('is still known after many rounds', () => {
    // Each prompt pushed the smallest one out: after sixty the overhead was believed to be nothing.
    const counts = fresh()
    observe(counts, 'p0', prompt(12_000, 14_500), null)
    let since = prompt(12_000, 14_500)
    for (let round = 1; round <= 60; round += 1) {
      const own = 12_000 + round * 500
      const sent = prompt(own, own + 2500)
      observe(counts, `p${round}`, sent, since)
      since = sent
    }
    expect(counts.rateOf(a, 1, 500).overheadTokens).toBeGreaterThan(1000)
  })

  test.each<[string, (counts: Counts) => unknown]>([
    [
      'texts that are a little denser',
      (counts) => converse(counts, 10, 3000, (own) => Math.round(own * 1.05)),
    ],
    // Search results that were put in once made every later conversation of these surroundings 7,000 tokens too large.
    [
      'one odd report of a small prompt',
      (counts) =>
        [prompt(900, 7500), ...[950, 1000, 1100].map((own) => prompt(own, own))].map((sent) =>
          observe(counts, `p${sent.ownTokens}`, sent, null),
        ),
    ],
    [
      'thoughts that were not counted',
      (counts) => observe(counts, 'p1', prompt(20_000, 11_000, { looseTokens: 10_000 }), null),
    ],
  ])('is not made of %s', (_, teach) => {
    const counts = fresh()
    teach(counts)
    expect(counts.rateOf(a, 1, 500).overheadTokens).toBe(0)
  })
})

describe('of a prompt that begins with one that was counted', () => {
  const rate = { ratio: 1.25, overheadTokens: 0, overheadDoubtTokens: 0 }

  test('only the rest is estimated', () => {
    const counts = fresh()
    const counted = prompt(50_000, 61_234)
    observe(counts, 'p1', counted, null)
    const found = counts.anchorAt(a, beginnings(['p3', 60_000], ['p1', 49_500], ['p0', 9]))
    expect(found).toEqual(counted)
    expect(expectedTokens(50_000, rate, counted)).toBe(61_234)
    expect(expectedTokens(50_100, rate, counted)).toBe(61_234 + 125)
  })

  test('nothing is taken over where the beginning is not the same any more', () => {
    // A client that dropped the thoughts which the provider had never counted was believed to be far below its window.
    const counts = fresh()
    observe(counts, 'p1', prompt(50_000, 61_234), null)
    expect(counts.anchorAt(a, beginnings(['p1', 40_000]))).toBeNull()
  })

  test('the difference brings our count to the provider’s', () => {
    expect(differenceTokens(rate, prompt(40_000, 60_000), 100)).toBe(60_000 / 1.25 - 40_000 - 100)
    expect(differenceTokens(rate, prompt(40_000, 45_000), 0)).toBe(45_000 / 1.25 - 40_000)
  })
})

describe('a report that is no count', () => {
  test.each([
    ['below half of our texts', 20_000, 9000],
    ['beyond eight times ours', 2000, 20_000],
  ])('%s is refused', (_what, own, promptTokens) => {
    const counts = fresh()
    const sent = prompt(own, promptTokens)
    expect(observe(counts, 'p1', sent, null)).toBe(false)
    expect(counts.rateOf(a, 1, 500)).toEqual(fresh().rateOf(a, 1, 500))
    expect(counts.anchorAt(a, beginnings(['p1', own - 500]))).toBeNull()
    expect(counts.answered(a, 'p1')).toBeDefined()
  })

  test('never takes the place of one', () => {
    const counts = fresh()
    const { promptTokens: _, answeredBy: __, ...counted } = prompt(10_000, 0)
    observe(counts, 'p1', prompt(10_000, 11_000), null)
    counts.pass(a, 'p1', answered(counted, 40_000))
    expect(counts.anchorAt(a, beginnings(['p1', 9500]))?.promptTokens).toBe(11_000)
    counts.pass(a, 'p2', answered(null, 48_000))
    const found = ['p2', 'p1'].map((each) => counts.answered(a, each)?.promptTokens)
    expect(found).toEqual([null, 11_000])
  })
})

test('forgetting a model forgets its rate and its prompts, and nothing of others', () => {
  const counts = fresh()
  converse(counts, 4, 3000, (own) => own * 2)
  counts.pass(modelOf('other'), 'p1', answered(null, 40_000))
  counts.forget(a.key)
  expect(counts.rateOf(a, 1.1, 500)).toEqual(fresh().rateOf(a, 1.1, 500))
  expect(['p1', 'p2'].map((each) => counts.answered(a, each))).toEqual([undefined, undefined])
  expect(counts.answered(modelOf('other'), 'p1')).toBeDefined()
})
