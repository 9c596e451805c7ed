import wordLists from './word-lists.json' with { type: 'json' }

/** A word of a text, and where in a clause it stands. */
export type Word = {
  readonly word: string
  /** Whether a clause begins with it. */
  readonly isFirst: boolean
  /** Which clause of the text it stands in. */
  readonly clause: number
}

/** The cells of a row in a table. */
export function cellsOf(row: string): string[] {
  return row.split(' | ')
}

/** Spelt in one way: case, apostrophes, and the vowel signs of Arabic, which are mostly left out. */
export function evened(text: string): string {
  const lower = text.replaceAll('İ', 'i').toLowerCase().normalize('NFC')
  return lower.replace(/[’‘ʼ´`]/g, "'").replace(/[\u064b-\u0652\u0640]/g, '')
}

/** The words of a text that was evened. A clause begins behind a mark and after words such as "and" or "please". */
export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  let end = 0
  let clause = 0
  let isFirst = true
  for (const match of text.matchAll(wordPattern)) {
    const [word] = match
    if (words.length > 0 && clauseEnd.test(text.slice(end, match.index))) {
      clause += 1
      isFirst = true
    }
    words.push({ word, isFirst, clause })
    isFirst &&= openers.has(word)
    end = match.index + word.length
  }
  return words
}

/** Characters between which words have no blanks. */
export const runsTogether = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** What parts clauses. */
export const clauseEnd = /[,;:.!?()[\]{}"“”„«»…—–،؛؟¡¿*>|\n。！？、，；：।-]/u

/** How many words a sentence has; where no spaces stand between them, about. */
export function wordCount(sentence: string): number {
  let count = 0
  for (const [word] of sentence.matchAll(wordPattern))
    count += runsTogether.test(word) ? Math.ceil(word.length / UNSPACED_WORD_CHARS) : 1
  return count
}

// --- internal ---

/** Characters of a word where none are told apart, about. */
const UNSPACED_WORD_CHARS = 2

const wordPattern = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*/gu

/** What stands before the beginning of a clause and leaves it one: "and", "but", "please". */
const openers: ReadonlySet<string> = new Set(cellsOf(wordLists.openers))
