import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodySource, digest } from '../../../src/proxy/request/body-source.ts'

test('indexes in the scanned text are byte offsets of the body', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, after) => {
      const body = Buffer.from(`${before}|${after}`, 'utf8')
      const source = bodySource(body)
      const at = Buffer.byteLength(before)
      expect(source.length).toBe(body.length)
      expect(source.latin1(0, body.length)[at]).toBe('|')
      expect(source.latin1(at, at + 1)).toBe('|')
      expect(source.text(at + 1, body.length)).toBe(after)
    }),
  )
})

test('a digest of bytes is the digest of the text that they spell', () => {
  const source = bodySource(Buffer.from('xé😀y'))
  expect(source.hash(1, 7)).toBe(digest('é😀'))
  expect(source.hash(1, 7)).toMatch(/^[\w-]{43}$/)
  expect(source.hash(0, 1)).not.toBe(source.hash(7, 8))
})
