/** Spelt in one way: case, apostrophes, and the vowel signs of Arabic, which are mostly left out. */
export function evened(text: string): string {
  const lower = text.replaceAll('İ', 'i').toLowerCase().normalize('NFC')
  return lower.replace(/[’‘ʼ´`]/g, "'").replace(/[\u064b-\u0652\u0640]/g, '')
}

/** The words of a text. */
export function wordsOf(text: string): string[] {
  return text.match(wordPattern) ?? []
}

/** Characters between which words have no blanks. */
export const runsTogether = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** How many words a sentence has; where no spaces stand between them, about. */
export function wordCount(sentence: string): number {
  return wordsOf(sentence).reduce(
    (count, word) => count + (runsTogether.test(word) ? Math.ceil(word.length / UNSPACED_WORD_CHARS) : 1),
    0,
  )
}

// --- internal ---

/** Characters of a word where none are told apart, about. */
const UNSPACED_WORD_CHARS = 2

const wordPattern = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*/gu
