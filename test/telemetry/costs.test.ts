import { describe, expect, test } from 'vitest'
import {
  createPriceList,
  promptCosts,
  summaryCost,
  type CountedReport,
  type Price,
} from '../../src/telemetry/costs.ts'
import { reportOf, unmeasured } from './told-request.ts'

const price: Price = { input: 10, cached_input: 1, cache_written_input: 12.5, output: 100 }

/** A prompt of so many tokens, of which so many were sent; `other`: what else is known of it. */
const sized = (received: number, sent: number, other: Partial<CountedReport> = {}): CountedReport => ({
  ...reportOf({ tokens_received: received, tokens_sent: sent }),
  ...other,
})

const usageOf = (
  promptTokens: number,
  cachedTokens: number | null,
  cacheWrittenTokens: number | null = null,
) => ({ promptTokens, cachedTokens, cacheWrittenTokens, completionTokens: 7 })

describe('where the settings have no prices', () => {
  const priceOf = createPriceList({})

  test.each([
    ['gpt-5-mini', 0.25],
    ['gpt-5-mini-2025-08-07', 0.25],
    ['openai/gpt-4.1', 2],
    ['claude-sonnet-4-5-20250929', 3],
    ['anthropic/claude-sonnet-4.5', 3],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 1],
    ['gpt-oss:20b', undefined],
    ['qwen3:8b', undefined],
    ['', undefined],
  ])('the maker’s list says of %j: %j', (model, input) => {
    expect(priceOf(model)?.input).toBe(input)
  })

  test('a prompt that is longer than its price reaches costs nobody knows what', () => {
    const listed = priceOf('gpt-5.4')
    expect(promptCosts(sized(300_000, 200_000), usageOf(200_000, 0), listed).whole).toBeNull()
    const within = promptCosts(sized(260_000, 200_000), usageOf(200_000, 0), listed)
    expect(within).toEqual({ sent: expect.closeTo(0.5), whole: expect.closeTo(0.65) })
    const beyond = promptCosts(sized(300_000, 280_000), usageOf(280_000, 0), listed)
    expect(beyond).toEqual({ sent: null, whole: null })
  })

  test('a single price of one’s own puts the list aside: it may be in another currency', () => {
    expect(createPriceList({ 'qwen*': price })('gpt-5-mini')).toBeNull()
  })
})

describe('the price of a model', () => {
  const at = (input: number): Price => ({ ...price, input })
  const list = createPriceList({ 'gpt-*': price, 'gpt-5': at(20), 'gpt-5-*': at(30) })

  test.each([
    ['gpt-5', 20],
    ['gpt-5-mini', 30],
    ['gpt-4', 10],
    ['claude', null],
    ['', null],
    ['__proto__', null],
  ])('of %j is the most specific pattern’s: %j', (model, input) => {
    for (let time = 0; time < 2; time += 1) expect(list(model)?.input ?? null).toBe(input)
  })

  test('is unknown where there are none', () => {
    expect(createPriceList({})('my-own-model')).toBeNull()
  })
})

describe('what a prompt cost, and would have cost whole', () => {
  const saving = sized(100_000, 40_000, { repeatedTokens: 90_000 })
  const loss = sized(100_000, 50_000, { repeatedTokens: 99_000 })
  const longer = sized(100_000, 50_000, { repeatedTokens: 80_000, ratio: 1.5 })
  const tiny = sized(1_000, 900, { repeatedTokens: 5_000 })
  const uncached = { ...price, cached_input: null }
  const sentWhole = { tokens_received: 900, tokens_sent: 900, tokens_are_bounds: true }

  test.each<[string, CountedReport, ReturnType<typeof usageOf>, Price, number, number]>([
    // What was sent from the cache and anew, against all of it with its beginning from the cache.
    ['a saving', saving, usageOf(40_000, 30_000), price, 0.1 + 0.03, 0.1 + 0.09],
    ['a loss: a compaction that breaks the cache', loss, usageOf(50_000, 0), price, 0.5, 0.01 + 0.099],
    // It counted 75,000; 75,000 more were not sent, and 120,000 would have come from the cache.
    ["in the provider's tokens: ours by the ratio", longer, usageOf(75_000, 0), price, 0.75, 0.3 + 0.12],
    ['without a cache at the provider', saving, usageOf(40_000, null), price, 0.4, 1],
    ['without a price for cached tokens', saving, usageOf(40_000, 30_000), uncached, 0.4, 1],
    ['sent whole', reportOf(sentWhole, { isSentBound: true }), usageOf(500, 400), price, 0.0014, 0.0014],
    // Writing costs more than reading anew at some providers: a compaction that spares it would look dearer than it is.
    // Of its 10,000 new tokens 1,000 stand behind the last mark, as now.
    ['with what is written to the cache', saving, usageOf(40_000, 30_000, 9_000), price, 0.1525, 0.2125],
    ['never more from the cache than there was', tiny, usageOf(900, 0), price, 0.009, 0.001],
  ])('%s', (_, size, usage, of, sent, whole) => {
    const costs = { sent: expect.closeTo(sent, 10), whole: expect.closeTo(whole, 10) }
    expect(promptCosts(size, usage, of)).toEqual(costs)
  })

  test.each([
    ['no price', sized(90_000, 50_000), usageOf(10, 0), null],
    ['no price for prompts', sized(90_000, 50_000), usageOf(10, 0), { ...price, input: null }],
    ['no usage', sized(90_000, 50_000), null, price],
  ])('is unknown with %s', (_, size, usage, ofModel) => {
    expect(promptCosts(size, usage, ofModel)).toEqual({ sent: null, whole: null })
  })

  test('whole is unknown where nobody counted what came', () => {
    const { sent, whole } = promptCosts(reportOf(unmeasured), usageOf(1_000, 0), price)
    expect([sent, whole]).toEqual([0.01, null])
    // Too long, and counted only when it was tightened.
    const bound = reportOf({ tokens_are_bounds: true })
    expect(promptCosts(bound, usageOf(1_000, 0), price).whole).toBeNull()
  })
})

// The page told of a loss where a client of the Messages API marks nothing for the cache: the whole prompt would not have
// been read from one either.
test('of a client that uses no cache, the whole prompt is reckoned without one', () => {
  const report = sized(30_000, 10_000, { repeatedTokens: 29_000 })
  expect(promptCosts(report, usageOf(10_000, 0, 0), price).whole).toBeCloseTo(0.3)
  expect(promptCosts(report, usageOf(10_000, 0, null), price).whole).toBeCloseTo(0.039)
})

describe('what summaries cost', () => {
  const spent = { promptTokens: 10_000, cachedTokens: 4_000, cacheWrittenTokens: 0, completionTokens: 1_000 }

  test('prompt, cache and reply together', () => {
    expect(summaryCost(spent, price)).toBeCloseTo(0.06 + 0.004 + 0.1, 10)
    expect(summaryCost(spent, { ...price, cached_input: null })).toBeCloseTo(0.2, 10)
    const writes = { ...spent, cacheWrittenTokens: 6_000 }
    expect(summaryCost(writes, price)).toBeCloseTo(0.075 + 0.004 + 0.1, 10)
    expect(summaryCost({ ...spent, promptTokens: 0, cachedTokens: 0, completionTokens: 0 }, price)).toBe(0)
  })

  test('is unknown where a price is', () => {
    for (const ofModel of [null, { ...price, input: null }, { ...price, output: null }]) {
      expect(summaryCost(spent, ofModel)).toBeNull()
    }
  })
})
