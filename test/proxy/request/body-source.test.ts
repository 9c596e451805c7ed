import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodySource, digest } from '../../../src/proxy/request/body-source.ts'

test('indexes in the scanned text are byte offsets of the body', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, after) => {
      const body = Buffer.from(`${before}|${after}`, 'utf8')
      const source = bodySource(body)
      const at = Buffer.byteLength(before)
      expect(source?.latin1.length).toBe(body.length)
      expect(source?.latin1[at]).toBe('|')
      expect(source?.text(at + 1, body.length)).toBe(after)
    }),
  )
})

test('a body that is not UTF-8 is nobody’s to read', () => {
  expect(bodySource(Buffer.from([0x7b, 0xff, 0x7d]))).toBeNull()
  expect(bodySource(Buffer.from([0xed, 0xa0, 0x80]))).toBeNull()
})

test('a digest of bytes is the digest of the text that they spell', () => {
  const source = bodySource(Buffer.from('xé😀y'))
  expect(source?.hash(1, 7)).toBe(digest('é😀'))
  expect(source?.hash(1, 7)).toMatch(/^[\w-]{43}$/)
  expect(source?.hash(0, 1)).not.toBe(source?.hash(7, 8))
})
