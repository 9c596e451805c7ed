import * as fc from 'fast-check'
import { expect, test, describe } from 'vitest'
import { BodyScanner } from '../../src/json/body-scan.ts'
import type { BodyLimits } from '../../src/json/body-spans.ts'
import { bodyLimits } from '../support/body-limits.ts'
import { sourceOf } from '../support/source.ts'
import { forAll } from '../support/property-runs.ts'
import { endOfAnyValue, scanArray, scanObject, skipWhitespace } from '../../src/json/json-scan.ts'

const roomy: BodyLimits = { ...bodyLimits, keysMax: Infinity }

const scannerOf = (text: string): BodyScanner =>
  new BodyScanner(sourceOf(text), { history: 'messages', content: null }, null, roomy)

/** Scans a text in steps of so many bytes; the scanner at its end. */
function scannedAll(text: string, stepBytes = 1_000): BodyScanner {
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
  forAll(300, spaced, fc.integer({ min: 1, max: 40 }), (text, stepBytes) => {
    const { fault, elements } = scannedAll(text, stepBytes)
    expect([fault, elements]).toEqual([null, elementsOf(JSON.parse(text))])
  })
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
  forAll(3_000, texts, fc.integer({ min: 1, max: 9 }), (text, stepBytes) => {
    expect(scannedAll(text, stepBytes).fault === null).toBe(isJson(text))
  })
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
  expect(scannedAll(text, 65_536).fault).toBe(fault)
})

test('a step ends within a string, and within white space', () => {
  for (const text of [`"${'x'.repeat(100_000)}"`, `${' '.repeat(100_000)}1`, `"${'\\n'.repeat(50_000)}"`]) {
    const scanner = scannerOf(text)
    let steps = 0
    for (; !scanner.isOver; steps += 1) scanner.scan(1_000)
    expect([scanner.fault, steps >= 99]).toEqual([null, true])
  }
})

function textsOfObject(text: string) {
  const scanned = scanObject(text, 0)
  return scanned?.entries.map(({ key, value }) => [
    text.slice(key.start, key.end),
    text.slice(value.start, value.end),
  ])
}

const textsOfArray = (text: string) =>
  scanArray(text, 0)?.elements.map(({ start, end }) => text.slice(start, end))

describe('scanObject', () => {
  test('delimits every key and value whatever stands between them', () => {
    expect(textsOfObject('{"a":1 ,\t"b" : {"x":[1,"}"]},\r\n "c":"\\"}," }')).toEqual([
      ['"a"', '1'],
      ['"b"', '{"x":[1,"}"]}'],
      ['"c"', '"\\"},"'],
    ])
    expect(textsOfObject('{ }')).toEqual([])
  })

  test('tells an escaped quote from one after an escaped backslash', () => {
    expect(textsOfObject('{"a":"\\\\","b":"\\\\\\"","c":1}')?.map(([, value]) => value)).toEqual([
      '"\\\\"',
      '"\\\\\\""',
      '1',
    ])
  })

  test('ends after the closing brace, not after what follows it', () => {
    expect(scanObject('{"a":1}  x', 0)?.end).toBe(7)
  })

  test.each([
    ...'[] { {"a" {"a": {"a":} {"a":1 {"a":1,} {,"a":1} {"a":"x":"b":2} {"a":"open} {"a":[1} {a:1} {"a":x}'.split(
      ' ',
    ),
    '',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '{\u00a0"a":1}',
    '{"a":1 \u00a0}',
    '{"a":\u000b1}',
  ])('refuses %j', (text) => {
    expect(scanObject(text, 0)).toBeNull()
  })
})

describe('scanArray', () => {
  test('delimits every element', () => {
    expect(textsOfArray('[ 1,"]" , [2,[3]],{"a":[]} ]')).toEqual(['1', '"]"', '[2,[3]]', '{"a":[]}'])
    expect(textsOfArray('[\n]')).toEqual([])
  })

  test.each(['', '{}', '[', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '["]', '[[1]', '[,]', '["x":2]'])(
    'refuses %j',
    (text) => {
      expect(scanArray(text, 0)).toBeNull()
    },
  )
})

test('depth costs no stack', () => {
  const depth = 200_000
  const text = '['.repeat(depth) + ']'.repeat(depth)
  expect(endOfAnyValue(text, 0)).toBe(text.length)
  expect(endOfAnyValue(text.slice(0, -1), 0)).toBe(-1)
})

test('a long run of backslashes or of quotes is read in one pass', () => {
  const backslashes = `"${'\\\\'.repeat(500_000)}"`
  const quotes = `"${'\\"'.repeat(500_000)}"`
  expect(endOfAnyValue(backslashes, 0)).toBe(backslashes.length)
  expect(endOfAnyValue(quotes, 0)).toBe(quotes.length)
})

test('only JSON whitespace is skipped', () => {
  expect(skipWhitespace(' \t\r\n\u00a0', 0)).toBe(4)
  expect(skipWhitespace('  ', 0)).toBe(2)
})
