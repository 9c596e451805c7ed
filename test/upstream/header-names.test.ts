import { expect, test } from 'vitest'
import { headerNameOf } from '../../src/upstream/header-names.ts'

test.each([
  ['Content-Type', { lower: 'content-type', isToken: true, stays: false }],
  ['x-request-id', { lower: 'x-request-id', isToken: true, stays: false }],
  ['CONNECTION', { lower: 'connection', isToken: true, stays: true }],
  ['Transfer-Encoding', { lower: 'transfer-encoding', isToken: true, stays: true }],
  ['Proxy-Authorization', { lower: 'proxy-authorization', isToken: true, stays: true }],
  ['X-Foldgate-Compact', { lower: 'x-foldgate-compact', isToken: true, stays: true }],
  ['x-foldgat', { lower: 'x-foldgat', isToken: true, stays: false }],
  ['two words', { lower: 'two words', isToken: false, stays: false }],
  ['line\r\nbreak', { lower: 'line\r\nbreak', isToken: false, stays: false }],
  ['', { lower: '', isToken: false, stays: false }],
])('%j', (name, expected) => {
  expect(headerNameOf(name)).toEqual(expected)
  expect(headerNameOf(name)).toEqual(expected)
})

test('however many names come, each is what it is', () => {
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 2_500; index += 1) {
      const long = 'n'.repeat(index % 100)
      expect(headerNameOf(`X-${long}-${index}`)).toEqual({
        lower: `x-${long}-${index}`,
        isToken: true,
        stays: false,
      })
    }
  }
  expect(headerNameOf('Connection').stays).toBe(true)
})
