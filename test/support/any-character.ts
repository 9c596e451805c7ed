import fc from 'fast-check'

/**
 * Any code point that is no half of a pair: what fast-check's own `unit: 'binary'` draws, without the table of a million
 * of them that it makes, which takes a second in each process and stays.
 */
export const anyCharacter = fc
  .nat({ max: 0x10_ffff - 0x800 })
  .map((place) => String.fromCodePoint(place < 0xd800 ? place : place + 0x800), placeOf)

/** For `fc.string`: where a string of its own choice has a character that can be drawn, so that it can be made shorter. */
function placeOf(character: unknown): number {
  const point = typeof character === 'string' ? (character.codePointAt(0) ?? -1) : -1
  if (point < 0 || String.fromCodePoint(point) !== character || (point >= 0xd800 && point < 0xe000))
    throw new Error('not one character')
  return point < 0xd800 ? point : point - 0x800
}
