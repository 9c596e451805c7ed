/**
 * What the split patterns of the encodings tell apart. Zero is kept free for "not looked up yet".
 * The names are those of the patterns: `\p{Lu}\p{Lt}` is upper, `\p{Ll}` lower, `\p{Lm}\p{Lo}` either, `\p{M}` mark.
 */
export const upper = 1
export const lower = 2
export const either = 3
export const mark = 4
export const digit = 5
export const newline = 6
export const blank = 7
export const otherSpace = 8
export const slash = 9
export const sign = 10
export const classCount = 11

/**
 * The classes by code point, 0 where `classOf` was not asked yet: for the one loop that is too hot for a call a character.
 * Surrogates stay 0, or the halves of a pair would be found instead of the pair.
 */
export const knownClasses = new Uint8Array(0x11_0000)

/** The class of a code point. Lone surrogates are signs, as they are to a regular expression with `u`. */
export function classOf(codePoint: number): number {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return sign
  const known = knownClasses[codePoint] ?? 0
  if (known !== 0) return known
  const found = classify(String.fromCodePoint(codePoint))
  knownClasses[codePoint] = found
  return found
}

// --- internal ---

// The engine's own tables decide, as they do in js-tiktoken, so that a newer Unicode changes both alike.
function classify(character: string): number {
  if (character === ' ') return blank
  if (character === '/') return slash
  if (character === '\n' || character === '\r') return newline
  if (/[\p{Lu}\p{Lt}]/u.test(character)) return upper
  if (/\p{Ll}/u.test(character)) return lower
  if (/[\p{Lm}\p{Lo}]/u.test(character)) return either
  if (/\p{M}/u.test(character)) return mark
  if (/\p{N}/u.test(character)) return digit
  return /\s/u.test(character) ? otherSpace : sign
}
