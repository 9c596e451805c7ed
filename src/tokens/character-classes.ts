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

const pageSize = 256
const astralStart = 0x10000

// Looked up by code unit. Pages of 256 are filled when first met: most of Unicode never is.
const basicClasses = new Uint8Array(astralStart)
const astralPages: (Uint8Array | undefined)[] = []

/**
 * The classes of the code units below 0x10000, 0 where `classOf` has not filled the page yet.
 * For the one loop that is too hot for a call per character.
 */
export const knownClasses: Readonly<Uint8Array> = basicClasses

/**
 * The class of a code point. Lone surrogates are signs, as they are to a regular expression with `u`; they are never
 * entered in the table, where the halves of a pair would be found instead of the pair.
 */
export function classOf(codePoint: number): number {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return sign
  const page = pageOf(codePoint)
  const index = codePoint < astralStart ? codePoint : codePoint % pageSize
  const known = page[index]
  if (known !== undefined && known !== 0) return known
  const within = codePoint % pageSize
  for (let offset = 0; offset < pageSize; offset++) {
    page[index - within + offset] = classify(codePoint - within + offset)
  }
  return classify(codePoint)
}

// --- internal ---

function pageOf(codePoint: number): Uint8Array {
  if (codePoint < astralStart) return basicClasses
  const number = Math.floor(codePoint / pageSize)
  const known = astralPages[number]
  if (known !== undefined) return known
  const page = new Uint8Array(pageSize)
  astralPages[number] = page
  return page
}

// The engine's own tables decide, as they do in js-tiktoken, so that a newer Unicode changes both alike.
function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  if (character === ' ') return blank
  if (character === '/') return slash
  if (character === '\n' || character === '\r') return newline
  if (/[\p{Lu}\p{Lt}]/u.test(character)) return upper
  if (/\p{Ll}/u.test(character)) return lower
  if (/[\p{Lm}\p{Lo}]/u.test(character)) return either
  if (/\p{M}/u.test(character)) return mark
  if (/\p{N}/u.test(character)) return digit
  if (/\s/u.test(character)) return otherSpace
  return sign
}
