import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { previewText } from '../../../src/compaction/passes/preview.ts'

const bounds = { maxChars: 1600, maxLines: 24 }
const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')

describe('a preview', () => {
  test('is the head and the tail, around a mark that states the original size', () => {
    const preview = previewText(lines(500), 2345, bounds).split('\n')
    expect(preview[0]).toBe('line 1')
    expect(preview.at(-1)).toBe('line 500')
    const mark = preview.findIndex((line) => line.startsWith('[preview'))
    expect(preview[mark]).toContain('2345 tokens')
    expect(preview.slice(0, mark)).toEqual(lines(500).split('\n').slice(0, mark))
    const tail = preview.slice(mark + 1)
    expect(tail).toEqual(lines(500).split('\n').slice(-tail.length))
  })

  test('shows more of the head than of the tail, and some of both', () => {
    const [head = '', tail = ''] = previewText(lines(500), 2345, bounds).split(/\n\[preview.*\]\n/)
    expect(head.length).toBeGreaterThan(tail.length)
    expect(tail.split('\n').length).toBeGreaterThan(4)
  })

  test('cuts at a line’s end where one is near', () => {
    const text = Array.from({ length: 80 }, (_, index) => `${index}`.padEnd(99, 'x')).join('\n')
    const preview = previewText(text, 2700, bounds).split('\n')
    const shown = preview.filter((line) => !line.startsWith('[preview'))
    expect(shown.map((line) => line.length)).toEqual(shown.map(() => 99))
  })

  test('cuts within a line where a line is all there is', () => {
    const preview = previewText('0123456789'.repeat(2000), 6667, bounds)
    expect(preview).toMatch(/^0123456789/)
    expect(preview).toMatch(/0123456789$/)
  })

  test('of a text within the bounds is that text', () => {
    expect(previewText('short', 2, bounds)).toBe('short')
    expect(previewText(lines(20), 60, bounds)).toBe(lines(20))
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

describe('whatever the text and the bounds, a preview', () => {
  test('keeps to the bounds in characters and lines', () => {
    fc.assert(
      fc.property(anyText, anyBounds, (text, { maxChars, maxLines }) => {
        const preview = previewText(text, 9999, { maxChars, maxLines })
        if (preview === text) return
        expect(preview.length).toBeLessThanOrEqual(maxChars)
        expect(preview.split('\n').length).toBeLessThanOrEqual(maxLines)
      }),
    )
  })

  test('is never larger than the text', () => {
    fc.assert(
      fc.property(anyText, anyBounds, (text, { maxChars, maxLines }) => {
        expect(previewText(text, 9999, { maxChars, maxLines }).length).toBeLessThanOrEqual(text.length)
      }),
    )
  })

  test('splits no character of two units', () => {
    fc.assert(
      fc.property(anyText, anyBounds, (text, { maxChars, maxLines }) => {
        expect(previewText(text, 9999, { maxChars, maxLines }).isWellFormed()).toBe(true)
      }),
    )
  })
})
