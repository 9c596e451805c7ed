import { describe, expect, test } from 'vitest'
import { endOfAnyValue, scanArray, scanObject, skipWhitespace } from '../../src/conversation/json-scan.ts'

function entriesOf(text: string) {
  const scanned = scanObject(text, 0)
  return scanned?.entries.map(({ key, value }) => [
    text.slice(key.start, key.end),
    text.slice(value.start, value.end),
  ])
}

function elementsOf(text: string) {
  return scanArray(text, 0)?.elements.map(({ start, end }) => text.slice(start, end))
}

describe('scanObject', () => {
  test('delimits every key and value whatever stands between them', () => {
    expect(entriesOf('{"a":1 ,\t"b" : {"x":[1,"}"]},\r\n "c":"\\"}," }')).toEqual([
      ['"a"', '1'],
      ['"b"', '{"x":[1,"}"]}'],
      ['"c"', '"\\"},"'],
    ])
    expect(entriesOf('{ }')).toEqual([])
  })

  test('tells an escaped quote from one after an escaped backslash', () => {
    expect(entriesOf('{"a":"\\\\","b":"\\\\\\"","c":1}')?.map(([, value]) => value)).toEqual([
      '"\\\\"',
      '"\\\\\\""',
      '1',
    ])
  })

  test('ends after the closing brace, not after what follows it', () => {
    expect(scanObject('{"a":1}  x', 0)?.end).toBe(7)
  })

  test.each([
    '',
    '[]',
    '{',
    '{"a"',
    '{"a":',
    '{"a":}',
    '{"a":1',
    '{"a":1,}',
    '{,"a":1}',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '{"a":"x":"b":2}',
    '{"a":"open}',
    '{"a":[1}',
    '{a:1}',
    '{"a":x}',
    '{\u00a0"a":1}',
    '{"a":1 \u00a0}',
    '{"a":\u000b1}',
  ])('refuses %j', (text) => {
    expect(scanObject(text, 0)).toBeNull()
  })
})

describe('scanArray', () => {
  test('delimits every element', () => {
    expect(elementsOf('[ 1,"]" , [2,[3]],{"a":[]} ]')).toEqual(['1', '"]"', '[2,[3]]', '{"a":[]}'])
    expect(elementsOf('[\n]')).toEqual([])
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
