import { eastAsianWidth } from 'get-east-asian-width'

/** How many columns a character takes behind `before`: two for CJK and emoji, none for what joins it. */
export function columnsOf(character: string, before: string): 0 | 1 | 2 {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (joinsEmoji(character, code, before)) return 0
  const known = columnsKnown[code]
  if (known !== undefined && known !== UNKNOWN) return known === 0 || known === 2 ? known : 1
  const columns = joins.test(character) ? 0 : eastAsianWidth(code)
  columnsKnown[code] = columns
  return columns
}

// --- internal ---

/** The columns of the characters below U+10000 that were met so far: two tables for each letter of a text are slow. */
const columnsKnown = new Uint8Array(0x1_0000).fill(0xff)
const UNKNOWN = 0xff

/**
 * Marks drawn over the character before (Mn, Me), joiners and direction marks that show nothing, variation
 * selectors, and the vowels and finals of Hangul syllables: what wcwidth counts as zero. The soft hyphen is
 * not among them: terminals show it.
 */
const joins = /^[\p{Mn}\p{Me}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2064}\u{feff}\u{1160}-\u{11ff}]/u

const ZERO_WIDTH_JOINER = '\u200d'

/** A family is several emoji with joiners between them, a skin tone follows its hand: one picture of two columns. */
function joinsEmoji(character: string, code: number, before: string): boolean {
  if (before === ZERO_WIDTH_JOINER) return /^\p{Extended_Pictographic}/u.test(character)
  return code >= 0x1f3fb && code <= 0x1f3ff && /^\p{Emoji_Modifier_Base}/u.test(before)
}
