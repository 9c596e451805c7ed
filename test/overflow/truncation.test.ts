import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSuspicions } from '../../src/overflow/suspicions.ts'
import { judgeReport, type ReportedPrompt } from '../../src/overflow/truncation.ts'

const honest = { hasCounted: true, cachedCounts: 5, constantTokens: null }
const unknown = { hasCounted: false, cachedCounts: 0, constantTokens: null }

type Other = Partial<Omit<ReportedPrompt, 'counted'>> & {
  readonly expectedTokens?: number
  readonly ownTextTokens?: number
  readonly ownMessageTokens?: readonly number[]
}

/** A prompt of 20,000 tokens that we have counted, unless the test says otherwise. */
function reported(promptTokens: number, other: Other = {}): ReportedPrompt {
  const {
    expectedTokens = 20_000,
    ownTextTokens = expectedTokens,
    ownMessageTokens = [500, 500, 500],
    ...rest
  } = other
  return {
    promptTokens,
    withCacheTokens: null,
    textBytes: expectedTokens * 4,
    counted: { expectedTokens, ownTextTokens, ratio: 1, ownMessageTokens },
    beginnings: [],
    addedTokens: [],
    habits: honest,
    ...rest,
  }
}

const suspect = (promptTokens: number, textBytes: number) => ({
  promptTokens,
  textBytes,
  ownTextTokens: null,
  windowTokens: 4096,
  hasCounted: false,
})

/** The same of a prompt that was not counted. */
function uncounted(promptTokens: number, textBytes: number, other: Other = {}): ReportedPrompt {
  return { ...reported(promptTokens, other), textBytes, counted: null }
}

/** A beginning that the provider counted, and what was added since at the least. */
const beginning = (promptTokens: number, addedTokensMin: number, looseTokens = 0) => [
  { promptTokens, addedTokensMin, looseTokens },
]

const cached = (promptTokens: number, withCacheTokens: number) =>
  judgeReport(reported(promptTokens, { withCacheTokens }))

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

  test('is one of which just the oldest messages are missing', () => {
    const grown = { expectedTokens: 4900, beginnings: beginning(3950, 700) }
    const messages = { ownMessageTokens: [800, 600, 300, 600, 700] }
    expect(judgeReport(reported(3500, { ...grown, ...messages }))).toMatchObject({
      kind: 'cut',
      window: { tokens: 4096, kind: 'total' },
    })
    // Another replica, which counts less: one message is more than is missing, ten would have had room for the tenth.
    for (const ownMessageTokens of [[2000, 700], Array.from({ length: 30 }, () => 140)]) {
      expect(judgeReport(reported(3500, { ...grown, ownMessageTokens })).kind).toBe('doubtful')
    }
  })

  test('has what fitted for its window where no common size lies between that and what did not', () => {
    const grown = reported(4400, {
      expectedTokens: 6100,
      ownMessageTokens: [1000, 700, 900, 700],
      beginnings: beginning(5200, 700),
    })
    expect(judgeReport(grown)).toMatchObject({ kind: 'cut', window: { tokens: 5200, kind: 'input' } })
  })

  test('is suspected where the report did not grow with it', () => {
    const flat = { expectedTokens: 4270, beginnings: beginning(4050, 180) }
    expect(judgeReport(reported(4060, flat)).kind).toBe('doubtful')
    expect(judgeReport(reported(4200, flat)).kind).toBe('whole')
  })

  test('shows against an older beginning where each request adds next to nothing', () => {
    // Turns of 60 tokens were cut for 42 requests: each was held against the one before, which had been cut as well.
    const older = [...beginning(4090, 50), ...beginning(4070, 100), ...beginning(4060, 300)]
    const little = { expectedTokens: 4150, beginnings: older }
    expect(judgeReport(reported(4096, little)).kind).toBe('doubtful')
    expect(judgeReport(reported(4096, { ...little, beginnings: older.slice(0, 1) })).kind).toBe('whole')
  })

  test('may leave next to nothing, where the largest message is what went', () => {
    const dropped = {
      expectedTokens: 4155,
      ownMessageTokens: [3900, 3, 50, 3, 50],
      beginnings: beginning(4087, 55),
    }
    expect(judgeReport(reported(242, dropped))).toMatchObject({
      kind: 'cut',
      window: { tokens: 4096, kind: 'total' },
      isRemainder: true,
    })
  })

  test('has a window at or above what was answered, and above nothing that no server has', () => {
    const tokens = fc.integer({ min: 20, max: 2_000_000 })
    fc.assert(
      fc.property(tokens, tokens, tokens, (promptTokens, expectedTokens, begun) => {
        const beginnings = beginning(begun, Math.max(0, expectedTokens - begun))
        const judgement = judgeReport(reported(promptTokens, { expectedTokens, beginnings }))
        if (!('window' in judgement)) return
        expect(judgement.window.tokens).toBeGreaterThanOrEqual(Math.max(1024, promptTokens, begun))
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
      expect(judgeReport(reported(promptTokens, added)).kind).toBe('partial')
    }
    // Caches hold whole blocks: up to 127 tokens of what they could have had are counted again.
    const short = { ...added, expectedTokens: 3000, beginnings: beginning(2200, 800) }
    expect(judgeReport(reported(1180, short)).kind).toBe('partial')
    expect(judgeReport(reported(1250, short)).kind).toBe('doubtful')
  })

  test('where a server that has lost its cache once says less than any cut leaves', () => {
    const recounted = { beginnings: beginning(12_000, 300), expectedTokens: 12_400 }
    expect(judgeReport(reported(500, recounted)).kind).toBe('partial')
  })

  test('where a server always says the same', () => {
    const constant = { ...honest, constantTokens: 1234 }
    expect(judgeReport(reported(1234, { habits: constant })).kind).toBe('constant')
    expect(judgeReport(reported(104, { habits: unknown })).kind).toBe('constant')
    const again = { habits: unknown, beginnings: beginning(4000, 300) }
    expect(judgeReport(reported(4000, again)).kind).toBe('constant')
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
    // Just the message with the thoughts seems to be missing.
    const short = { ...thoughts, expectedTokens: 9100, ownMessageTokens: [5200, 3900, 100] }
    expect(judgeReport(reported(3900, short)).kind).toBe('doubtful')
  })

  test('where another replica has a slightly terser template', () => {
    const other = { beginnings: beginning(20_000, 300), expectedTokens: 20_300 }
    expect(judgeReport(reported(20_150, other)).kind).toBe('whole')
    expect(judgeReport(reported(19_350, other)).kind).toBe('doubtful')
  })

  test('that one report shows of a prompt that nobody has counted', () => {
    expect(judgeReport(uncounted(4000, 60_000)).kind).toBe('doubtful')
    expect(judgeReport(uncounted(15_000, 60_000)).kind).toBe('whole')
    expect(judgeReport(uncounted(100, 4000)).kind).toBe('whole')
    expect(judgeReport(uncounted(10, 60_000)).kind).toBe('partial')
    expect(judgeReport(uncounted(4000, 60_000, { beginnings: beginning(3950, 50) })).kind).toBe('whole')
  })
})

const a = { calibrationName: 'm', conversation: 'a' }
const b = { calibrationName: 'm', conversation: 'b' }
const suspicions = () => createSuspicions({ conversationsMax: 10, lifetimeMs: 60_000 })

describe('a doubtful report', () => {
  test('is believed when a second one of the same conversation stays below the same cap', () => {
    const doubts = suspicions()
    expect(doubts.take(a, suspect(3700, 24_000))).toBe('first')
    expect(doubts.take(b, suspect(3800, 26_000))).toBe('first')
    expect(doubts.take(a, suspect(3800, 26_000))).toBe('confirmed')
  })

  test('is believed when the second one is the same, if that is a context size or the server does count', () => {
    const doubts = suspicions()
    doubts.take(a, suspect(4096, 24_000))
    expect(doubts.take(a, suspect(4096, 25_000))).toBe('confirmed')
    doubts.take(b, suspect(3700, 24_000))
    expect(doubts.take(b, suspect(3700, 25_000))).toBe('first')
    expect(doubts.take(b, { ...suspect(3700, 26_000), hasCounted: true })).toBe('confirmed')
  })

  test('has grown when the second one did so with its prompt', () => {
    const doubts = suspicions()
    doubts.take(a, suspect(3700, 24_000))
    expect(doubts.take(a, suspect(4090, 26_000))).toBe('grown')
    // Ten thousand bytes of common words: by their bytes they were to be 1,000 tokens, and a terse tokenizer has 900.
    const words = (promptTokens: number, textBytes: number, ownTextTokens: number) => ({
      ...suspect(promptTokens, textBytes),
      ownTextTokens,
    })
    doubts.take(b, words(2100, 24_000, 4000))
    expect(doubts.take(b, words(3000, 34_000, 5700))).toBe('grown')
  })

  test.each([
    ['is beyond the cap', 5000, 240_000],
    ['is about the same prompt', 3600, 24_000],
    ['is about a shorter prompt', 3600, 20_000],
  ])('is not believed when the second one %s', (_what, promptTokens, textBytes) => {
    const doubts = suspicions()
    doubts.take(a, suspect(3700, 24_000))
    expect(doubts.take(a, suspect(promptTokens, textBytes))).toBe('first')
  })

  test('asks for a count of its conversation, and is forgotten with that', () => {
    // One doubt had all 25 further requests of a conversation counted, and those after them.
    const doubts = suspicions()
    doubts.take(a, suspect(3700, 24_000))
    expect([doubts.wantsCount(a), doubts.wantsCount(b)]).toEqual([true, false])
    doubts.dispel(a)
    expect(doubts.wantsCount(a)).toBe(false)
    expect(doubts.take(a, suspect(3800, 26_000))).toBe('first')
  })
})
