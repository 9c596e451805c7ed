import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fenced } from '../../src/archive/message-markdown.ts'
import { readArchive } from './read-archive.ts'

const fenceOf = (text: string): string => fenced(text).split('\n')[0] ?? ''

test('a text stands between two fences as it is', () => {
  expect(fenced('a\n  b\r\n')).toBe('```\na\n  b\r\n\n```\n')
})

test('a fence is longer than those within', () => {
  expect(fenceOf('```\ncode\n```')).toBe('~~~')
  expect(fenceOf('```\ncode\n```\n~~~~')).toBe('````')
  expect(fenceOf('a ````` b ~~~ c')).toBe('~~~~')
})

test('whatever a text says, it is read back word for word and ends where it ends', () => {
  const piece = fc.oneof(fc.constantFrom('`', '~', '\n', '# x\n', '```\n', '~~~~\n'), fc.string())
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, text, (one, other) => {
      const file = `## one\n\n${fenced(one)}\n## other\n\n${fenced(other)}`
      expect(readArchive(file)).toEqual([
        { heading: 'one', number: null, fences: [one] },
        { heading: 'other', number: null, fences: [other] },
      ])
    }),
  )
})

// A single line of two million backticks takes no longer than any other of that size.
test('a long run is no trouble', () => {
  expect(fenceOf('`'.repeat(2_000_000))).toBe('~~~')
})
