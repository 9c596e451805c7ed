import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clipArguments, clipText } from '../../../src/compaction/passes/clip.ts'
import { waterLevel } from '../../../src/conversation/water-level.ts'
import { finish, type Steps } from '../../../src/conversation/source.ts'
import { countThirds, countThirdsSteps } from '../../support/subject.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const clip = (text: string, tokensMax: number): string =>
  finish(clipText(text, countThirds(text), tokensMax, countThirdsSteps))
const clipCall = (argumentsText: string, tokensMax: number): string =>
  finish(clipArguments(argumentsText, countThirds(argumentsText), tokensMax, countThirdsSteps))

const sizes = fc.array(fc.nat({ max: 5000 }), { minLength: 1, maxLength: 12 })
const cutTo = (level: number, some: readonly number[]): number =>
  some.reduce((sum, size) => sum + Math.min(size, level), 0)

describe('the water level', () => {
  test('leaves no more than is allowed', () => {
    fc.assert(
      fc.property(sizes, fc.nat({ max: 30_000 }), (some, allowed) => {
        expect(cutTo(waterLevel(some, allowed, 0), some)).toBeLessThanOrEqual(allowed)
      }),
    )
  })

  test('cannot be any higher', () => {
    fc.assert(
      fc.property(sizes, fc.nat({ max: 30_000 }), (some, allowed) => {
        const level = waterLevel(some, allowed, 0)
        const isAllWhole = level >= Math.max(...some)
        expect(isAllWhole || cutTo(level + 1, some) > allowed).toBe(true)
      }),
    )
  })

  test('is never below the floor, even where nothing is allowed', () => {
    fc.assert(
      fc.property(
        sizes,
        fc.integer({ min: -500, max: 3000 }),
        fc.nat({ max: 200 }),
        (some, allowed, floor) => {
          expect(waterLevel(some, allowed, floor)).toBeGreaterThanOrEqual(floor)
        },
      ),
    )
  })

  test('does not depend on the order', () => {
    fc.assert(
      fc.property(sizes, fc.nat({ max: 30_000 }), (some, allowed) => {
        expect(waterLevel(some.toReversed(), allowed, 0)).toBe(waterLevel(some, allowed, 0))
      }),
    )
  })

  test('cuts the largest first and leaves small ones whole', () => {
    expect(waterLevel([10, 900, 20, 700], 430, 0)).toBe(200)
    expect(waterLevel([10, 20, 30], 100, 0)).toBe(30)
    expect(waterLevel([], 100, 64)).toBe(64)
  })
})

/** Digits cost five times what letters cost. */
const countUnevenly = (text: string): number => Math.ceil(text.replace(/\D/g, '').length + text.length / 4)

function* countUnevenlySteps(text: string): Steps<number> {
  yield
  return countUnevenly(text)
}

describe('a clipped text', () => {
  test('keeps its head and tail around a mark that states the original size', () => {
    const clipped = clip(`the first words ${'and more '.repeat(500)}the last words`, 60)
    expect(clipped).toMatch(/^the first words/)
    expect(clipped).toMatch(/the last words$/)
    expect(clipped).toContain('[clipped: 1510 tokens in all]')
  })

  test('is the text where that fits', () => {
    expect(clip('it fits', 3)).toBe('it fits')
    expect(clip('', 0)).toBe('')
  })

  test('is a word where nothing fits: some servers refuse empty content', () => {
    for (const tokensMax of [-5, 0, 1, 5]) expect(clip('a long text '.repeat(50), tokensMax)).toBe('[cut]')
  })

  test('takes at most the tokens it may, or is that word', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 2000 }),
        fc.integer({ min: -5, max: 400 }),
        (text, tokensMax) => {
          const clipped = clip(text, tokensMax)
          expect(clipped === '[cut]' || countThirds(clipped) <= tokensMax).toBe(true)
          expect(clipped.isWellFormed()).toBe(true)
        },
      ),
    )
  })

  test('takes no more where the tokens are not spread evenly', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 900 }),
        fc.nat({ max: 900 }),
        fc.nat({ max: 500 }),
        (digits, letters, tokensMax) => {
          const text = '7'.repeat(digits) + 'letters '.repeat(letters) + '7'.repeat(digits)
          const clipped = finish(clipText(text, countUnevenly(text), tokensMax, countUnevenlySteps))
          expect(clipped === '[cut]' || countUnevenly(clipped) <= tokensMax).toBe(true)
        },
      ),
    )
  })
})

const anyArguments = fc.oneof(
  fc.json(),
  fc.string({ maxLength: 600 }),
  fc
    .dictionary(
      fc.string({ maxLength: 12 }),
      fc.oneof(fc.string({ maxLength: 900 }), fc.integer(), fc.boolean()),
    )
    .map((value) => JSON.stringify(value)),
)

describe('clipped arguments', () => {
  test('stay a JSON object within their tokens, `{}` at least', () => {
    fc.assert(
      fc.property(anyArguments, fc.integer({ min: -5, max: 200 }), (argumentsText, tokensMax) => {
        const clipped = clipCall(argumentsText, tokensMax)
        expect(clipped === '{}' || countThirds(clipped) <= tokensMax).toBe(true)
        if (clipped === argumentsText) return
        const value: unknown = JSON.parse(clipped)
        expect(value).toBeTypeOf('object')
        expect(Array.isArray(value) || value === null).toBe(false)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  test('keep their short fields whole and shorten the long one where it stands', () => {
    const clipped = clipCall(
      JSON.stringify({ path: 'src/queue.ts', dry: true, text: 'line\n'.repeat(900) }),
      80,
    )
    expect(clipped).toMatch(
      /^\{"path":"src\/queue\.ts","dry":true,"text":"line\\n[^"]*\[clipped: 1500 tokens in all\][^"]*"\}$/,
    )
  })

  test('keep the spelling of numbers that JavaScript cannot hold', () => {
    const argumentsText = `{"id":12345678901234567890,"limit":1e400,"text":"${'word '.repeat(500)}"}`
    const clipped = clipCall(argumentsText, 80)
    expect(clipped).toContain('"id":12345678901234567890')
    expect(clipped).toContain('"limit":1e400')
  })

  test('that are no object become one with a single text', () => {
    for (const argumentsText of ['{"path": "src/que', `["${'x'.repeat(900)}"]`, `"${'x'.repeat(900)}"`]) {
      const longer = argumentsText + ' '.repeat(300)
      const clipped = clipCall(longer, 60)
      expect(clipped).toMatch(/^\{"clipped":".*\[clipped: \d+ tokens in all\].*"\}$/)
      expect(() => void JSON.parse(clipped)).not.toThrow()
    }
  })
})
