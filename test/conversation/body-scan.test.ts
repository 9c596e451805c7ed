import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyScanner } from '../../src/conversation/body-scan.ts'
import type { BodyLimits } from '../../src/conversation/body-spans.ts'
import { bodyLimits } from '../support/body-limits.ts'
import { sourceOf } from '../support/source.ts'
import { propertyRuns } from '../support/property-runs.ts'

const roomy: BodyLimits = { ...bodyLimits, keysMax: Infinity }

function scannerOf(text: string): BodyScanner {
  return new BodyScanner(sourceOf(text), { history: 'messages', content: null }, null, roomy)
}

/** Scans a text in steps of so many bytes; the scanner at its end. */
function scanned(text: string, stepBytes = 1_000): BodyScanner {
  const scanner = scannerOf(text)
  while (!scanner.isOver) scanner.scan(stepBytes)
  return scanner
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function elementsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner: readonly unknown[] = Object.values(value)
  return inner.reduce<number>((sum, each) => sum + 1 + elementsOf(each), 0)
}

const spaced = fc.json().chain((text) => {
  const value: unknown = JSON.parse(text)
  return fc.constantFrom(text, JSON.stringify(value, null, 2), ` ${JSON.stringify(value, null, '\t')}\n`)
})

test('all JSON is scanned to its end, whatever a step is, and its elements are counted', () => {
  fc.assert(
    fc.property(spaced, fc.integer({ min: 1, max: 40 }), (text, stepBytes) => {
      const { fault, elements } = scanned(text, stepBytes)
      expect([fault, elements]).toEqual([null, elementsOf(JSON.parse(text))])
    }),
    { numRuns: propertyRuns(300) },
  )
})

const pieces = fc.constantFrom(
  ...'{ } [ ] , : " "a" "\\u00e9" "\\u00g0" "\\x" \\ 0 01 - -1 1. .5 1.5 1e 1e+ 1E-5 true tru null false'.split(
    ' ',
  ),
  ' ',
  '\n',
  '"\t"',
  '\u0000',
  '\ufeff',
)

test('nothing else is: what the scanner takes for JSON is what JSON.parse takes for it', () => {
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
    fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom(...Array.from('{}[]",:\\ 0-.eEtu\u0000x')))
      .map(([text, at, put]) => text.slice(0, at % text.length) + put + text.slice((at % text.length) + 1)),
  )
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, stepBytes) => {
      expect(scanned(text, stepBytes).fault === null).toBe(isJson(text))
    }),
    { numRuns: propertyRuns(3_000) },
  )
})

test.each([
  ['512 levels', '['.repeat(512) + ']'.repeat(512), null],
  ['513 levels', '['.repeat(513) + ']'.repeat(513), 'too-deep'],
  ['objects that never close', '{"a":'.repeat(1_000_000), 'too-deep'],
  ['a million elements', `[${'1,'.repeat(999_999)}1]`, null],
  ['one more', `[${'1,'.repeat(1_000_000)}1]`, 'too-many-elements'],
  ['empty objects', `[${'{},'.repeat(1_500_000)}{}]`, 'too-many-elements'],
  ['a number of ten million digits', '1'.repeat(10_000_000), 'no-json'],
] as const)('%s', (_, text, fault) => {
  expect(scanned(text, 65_536).fault).toBe(fault)
})

test('a step ends within a string, and within white space', () => {
  for (const text of [`"${'x'.repeat(100_000)}"`, `${' '.repeat(100_000)}1`, `"${'\\n'.repeat(50_000)}"`]) {
    const scanner = scannerOf(text)
    let steps = 0
    for (; !scanner.isOver; steps += 1) scanner.scan(1_000)
    expect([scanner.fault, steps >= 99]).toEqual([null, true])
  }
})
