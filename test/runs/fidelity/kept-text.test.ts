import { expect, test } from 'vitest'
import { keptInside, keptText } from './kept-text.ts'

const original = 'first line\nsecond line\nthird line\nfourth line\nlast line'

test('of a clipped text head and tail are kept, whatever the mark says', () => {
  const { pieces, ownCharacters } = keptText(original, 'first line\nseco[41 more]line')
  expect(pieces).toEqual(['first line\nseco', 'line'])
  expect(ownCharacters).toBe('[41 more]'.length)
})

test('a preview that was clipped keeps lines between its two marks as well', () => {
  const { pieces } = keptText(original, 'first line\n[cut]\nthird line\n[preview]\nlast line')
  expect(pieces).toEqual(['first line\n', 'third line', '\nlast line'])
})

test('lines between the marks count in the order of the original, and once', () => {
  const { pieces } = keptText(
    original,
    'first line\n[cut]\nfourth line\nsecond line\nfourth line\n[cut]\nlast line',
  )
  expect(pieces).toEqual(['first line\n', 'fourth line', '\nlast line'])
})

test('head and tail never count the same characters twice', () => {
  expect(keptText('aaaa', 'aa').pieces).toEqual(['aa'])
  expect(keptText('aa', 'aaaa')).toEqual({ pieces: ['aa'], ownCharacters: 2 })
})

test('a bare mark keeps nothing', () => {
  expect(keptText(original, '[cut]')).toEqual({ pieces: [], ownCharacters: 5 })
})

test('inside a longer text, the whole of it or its head and tail are found', () => {
  expect(keptInside(original, `before\n\n${original}\n\nafter`).pieces).toEqual([original])
  expect(keptInside(original, 'before\n\nfirst line\nse[cut]t line\n\nafter').pieces).toEqual([
    'first line\nse',
    't line',
  ])
})
