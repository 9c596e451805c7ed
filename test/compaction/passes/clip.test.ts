import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clipArguments, clipText } from '../../../src/compaction/passes/clip.ts'
import { previewText } from '../../../src/compaction/passes/preview.ts'
import { waterLevel } from '../../../src/conversation/sizes.ts'
import { runAtOnce, type Pausable } from '../../../src/json/source.ts'
import { countThirds, countThirdsSteps } from '../../support/subject.ts'
import { forAll } from '../../support/property-runs.ts'
import { times } from '../../support/times.ts'

const clip = (text: string, tokensMax: number): string =>
  runAtOnce(clipText(text, countThirds(text), tokensMax, countThirdsSteps))
const clipCall = (argumentsText: string, tokensMax: number): string =>
  runAtOnce(clipArguments(argumentsText, countThirds(argumentsText), tokensMax, countThirdsSteps))

const sizes = fc.array(fc.nat({ max: 5000 }), { minLength: 1, maxLength: 12 })
const cutTo = (level: number, some: readonly number[]): number =>
  some.reduce((sum, size) => sum + Math.min(size, level), 0)

describe('the water level', () => {
  test('leaves no more than is allowed, cannot be any higher, and does not depend on the order', () => {
    const allowances = fc.integer({ min: -500, max: 30_000 })
    forAll(300, sizes, allowances, fc.nat(200), (some, allowed, floor) => {
      const level = waterLevel(some, Math.max(0, allowed), 0)
      expect(cutTo(level, some)).toBeLessThanOrEqual(Math.max(0, allowed))
      const isAllWhole = level >= Math.max(...some)
      expect(isAllWhole || cutTo(level + 1, some) > allowed).toBe(true)
      expect(waterLevel(some.toReversed(), Math.max(0, allowed), 0)).toBe(level)
      expect(waterLevel(some, allowed, floor), 'never below the floor').toBeGreaterThanOrEqual(floor)
    })
  })

  test('cuts the largest first and leaves small ones whole', () => {
    expect(waterLevel([10, 900, 20, 700], 430, 0)).toBe(200)
    expect(waterLevel([10, 20, 30], 100, 0)).toBe(30)
    expect(waterLevel([], 100, 64)).toBe(64)
  })
})

/** Digits cost five times what letters cost. */
const countUnevenly = (text: string): number => Math.ceil(text.replace(/\D/g, '').length + text.length / 4)

function* countUnevenlySteps(text: string): Pausable<number> {
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

  test('is the text where that fits, and a word where nothing fits: some servers refuse empty content', () => {
    expect([clip('it fits', 3), clip('', 0)]).toEqual(['it fits', ''])
    for (const tokensMax of [-5, 0, 1, 5]) expect(clip('a long text '.repeat(50), tokensMax)).toBe('[cut]')
  })

  test('takes at most the tokens it may, or is that word, however they are spread', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 2000 })
    forAll(100, texts, fc.integer({ min: -5, max: 400 }), (text, tokensMax) => {
      const clipped = clip(text, tokensMax)
      expect(clipped === '[cut]' || countThirds(clipped) <= tokensMax).toBe(true)
      expect(clipped.isWellFormed()).toBe(true)
    })
    forAll(100, fc.nat(900), fc.nat(900), fc.nat(500), (digits, letters, tokensMax) => {
      const text = '7'.repeat(digits) + 'letters '.repeat(letters) + '7'.repeat(digits)
      const clipped = runAtOnce(clipText(text, countUnevenly(text), tokensMax, countUnevenlySteps))
      expect(clipped === '[cut]' || countUnevenly(clipped) <= tokensMax).toBe(true)
    })
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
    forAll(300, anyArguments, fc.integer({ min: -5, max: 200 }), (argumentsText, tokensMax) => {
      const clipped = clipCall(argumentsText, tokensMax)
      expect(clipped === '{}' || countThirds(clipped) <= tokensMax).toBe(true)
      if (clipped === argumentsText) return
      const value: unknown = JSON.parse(clipped)
      expect(value).toBeTypeOf('object')
      expect(Array.isArray(value) || value === null).toBe(false)
    })
  })

  test('keep their short fields whole and shorten the long one where it stands', () => {
    const given = { path: 'src/queue.ts', dry: true, text: 'line\n'.repeat(900) }
    expect(clipCall(JSON.stringify(given), 80)).toMatch(
      /^\{"path":"src\/queue\.ts","dry":true,"text":"line\\n[^"]*\[clipped: 1500 tokens in all\][^"]*"\}$/,
    )
    // Also the spelling of numbers that JavaScript cannot hold.
    const numbers = '"id":12345678901234567890,"limit":1e400'
    expect(clipCall(`{${numbers},"text":"${'word '.repeat(500)}"}`, 80)).toContain(`{${numbers},"text":"`)
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

const bounds = { maxChars: 1600, maxLines: 24 }
const lines = (count: number): string => times(count, (index) => `line ${index + 1}`).join('\n')

describe('a preview', () => {
  test('is the head and less of the tail, around a mark that states the original size', () => {
    const all = lines(500).split('\n')
    const preview = previewText(lines(500), 2345, bounds).split('\n')
    const mark = preview.findIndex((line) => line.startsWith('[preview'))
    expect(preview[mark]).toContain('2345 tokens')
    const [head, tail] = [preview.slice(0, mark), preview.slice(mark + 1)]
    expect(head).toEqual(all.slice(0, mark))
    expect(tail).toEqual(all.slice(-tail.length))
    expect(tail.length).toBeGreaterThan(4)
    expect(head.join('\n').length).toBeGreaterThan(tail.join('\n').length)
  })

  test('cuts at a line’s end where one is near, and within a line where that is all there is', () => {
    const text = times(80, (number) => `${number}`.padEnd(99, 'x')).join('\n')
    const shown = previewText(text, 2700, bounds).split('\n')
    expect(new Set(shown.filter((line) => !line.startsWith('[preview')).map(({ length }) => length))).toEqual(
      new Set([99]),
    )
    expect(previewText('0123456789'.repeat(2000), 6667, bounds)).toMatch(/^0123456789[^]*0123456789$/)
  })

  test('of a text within the bounds is that text', () => {
    for (const text of ['short', lines(20)]) expect(previewText(text, 60, bounds)).toBe(text)
  })
})

const anyText = fc.oneof(
  fc.array(fc.string({ unit: 'grapheme', maxLength: 90 }), { maxLength: 80 }).map((some) => some.join('\n')),
  fc.string({ unit: 'grapheme', minLength: 100, maxLength: 4000 }),
  fc.nat({ max: 2000 }).map((length) => '😀'.repeat(length)),
)
const anyBounds = fc.record({
  maxChars: fc.integer({ min: 120, max: 2000 }),
  maxLines: fc.integer({ min: 1, max: 40 }),
})

test('whatever the text and the bounds, a preview keeps to them, is no longer than the text and splits no character', () => {
  forAll(300, anyText, anyBounds, (text, { maxChars, maxLines }) => {
    const preview = previewText(text, 9999, { maxChars, maxLines })
    expect(preview.length).toBeLessThanOrEqual(text.length)
    expect(preview.isWellFormed()).toBe(true)
    if (preview === text) return
    expect(preview.length).toBeLessThanOrEqual(maxChars)
    expect(preview.split('\n').length).toBeLessThanOrEqual(maxLines)
  })
})
