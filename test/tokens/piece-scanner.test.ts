import cl100k from 'js-tiktoken/ranks/cl100k_base'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { expect, test } from 'vitest'
import { grammarOf } from '../../src/tokens/piece-grammar.ts'
import { scanPieces } from '../../src/tokens/piece-scanner.ts'

// Nothing is assigned from U+33480 on but tags and variation selectors: of those planes one in 256 will do.
const codePoints = Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint).filter(
  (codePoint) =>
    codePoint < 0x3_4000 || (codePoint >= 0xe_0000 && codePoint < 0xe_0200) || codePoint % 256 === 0,
)
// Joined by a letter of either case, which every class of character treats in its own way.
const everyCharacter = codePoints.map((codePoint) => `${String.fromCodePoint(codePoint)}aA`).join('')

test.each([
  { name: 'o200k_base', file: o200k },
  { name: 'cl100k_base', file: cl100k },
])('$name: every character of Unicode is cut where the pattern cuts it', ({ file }) => {
  const grammar = grammarOf(file.pat_str)
  if (grammar === null) throw new Error('the pattern is not known')
  const pieces = scanPieces(everyCharacter, grammar)
  const differing: string[] = []
  for (const [expected] of everyCharacter.matchAll(new RegExp(file.pat_str, 'gu'))) {
    // A run of letters this long is read in several steps.
    while (pieces.step() === 'more');
    const found = everyCharacter.slice(pieces.start, pieces.end)
    if (found !== expected) differing.push(expected)
  }
  expect(differing).toEqual([])
  expect(pieces.step()).toBe('end')
})
