import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodySource, digest } from '../../../src/pipeline/read/read-chat.ts'
import { collectGarbage } from '../../support/eventually.ts'
import { forAll } from '../../support/property-runs.ts'

test('indexes in the scanned text are byte offsets of the body', () => {
  forAll(100, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, after) => {
    const body = Buffer.from(`${before}|${after}`, 'utf8')
    const source = bodySource(body)
    const at = Buffer.byteLength(before)
    expect(source.length).toBe(body.length)
    expect(source.latin1(0, body.length)[at]).toBe('|')
    expect(source.latin1(at, at + 1)).toBe('|')
    expect(source.text(at + 1, body.length)).toBe(after)
  })
})

test('a digest of bytes is the digest of the text that they spell', () => {
  const source = bodySource(Buffer.from('xé😀y'))
  expect(source.hash(1, 7)).toBe(digest('é😀'))
  expect(source.hash(1, 7)).toMatch(/^[\w-]{43}$/)
  expect(source.hash(0, 1)).not.toBe(source.hash(7, 8))
})

// Texts were slices of the whole body for a while: what a compaction had made of a few words kept sixty kilobytes, and with
// them what somebody had said, long after the answer.
test('a text that is kept keeps nothing of the body beside it', () => {
  collectGarbage()
  const beforeBytes = process.memoryUsage().heapUsed
  const kept = Array.from({ length: 100 }, (_, index) =>
    bodySource(Buffer.from(`${index} ${'word '.repeat(12_000)}`)).text(0, 100),
  )
  collectGarbage()
  expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(4_000_000)
  expect(kept).toHaveLength(100)
})
