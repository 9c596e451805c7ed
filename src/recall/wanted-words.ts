import type { Steps } from '../json/source.ts'

/** Where in a text something was found. */
export type WordPlace = { readonly start: number; readonly end: number }

/** Words that are searched for, whatever their case. */
export type WantedWords = ReturnType<typeof wantedWords>

/** @param text the words, with single blanks between them. */
export function wantedWords(text: string) {
  const words = [...new Set(text.split(' '))].slice(0, WORDS_MAX).map(escaped)
  const phrase = text
    .split(' ')
    .map(escaped)
    .join(String.raw`\s+`)
  const phrases = [within(phrase), asWord(phrase), asName(phrase)]
  const patterns = words.map((word) => ({ loose: within(word), own: asWord(word) }))
  return {
    count: words.length,
    /** Where the words stand in a row, and how well: 0 as a name of their own, 1 as words of their own, 2 within words. */
    phraseIn: function* phraseIn(searched: string) {
      let best: (WordPlace & { readonly looseness: number }) | null = null
      for (const [position, pattern] of phrases.entries()) {
        const found = yield* firstIn(searched, pattern)
        if (found === null) break
        best = { ...found, looseness: phrases.length - 1 - position }
      }
      return best
    },
    /** Where the word at `position` stands; as a word of its own if it does that anywhere. */
    wordIn: function* wordIn(searched: string, position: number) {
      const pattern = patterns[position]
      const loose = pattern === undefined ? null : yield* firstIn(searched, pattern.loose)
      if (pattern === undefined || loose === null) return null
      const own = yield* firstIn(searched, pattern.own)
      return { ...(own ?? loose), isOwn: own !== null }
    },
  }
}

// --- internal ---

/** More words than these tell nothing more apart. */
const WORDS_MAX = 16

function within(pattern: string): RegExp {
  return new RegExp(pattern, 'iu')
}

/** Not a part of a longer word. */
function asWord(pattern: string): RegExp {
  return new RegExp(String.raw`(?<![\p{L}\p{N}_])${pattern}(?![\p{L}\p{N}_])`, 'iu')
}

/** Not a part of a longer path, address or number either. What ends a sentence belongs to no name. */
function asName(pattern: string): RegExp {
  const around = String.raw`\p{L}\p{N}_/@~+\-`
  return new RegExp(String.raw`(?<![${around}.])${pattern}(?![${around}]|\.[\p{L}\p{N}_])`, 'iu')
}

/** Window by window. What begins in one may reach into the next; no more than a few blanks stand between two words. */
function* firstIn(text: string, pattern: RegExp): Steps<WordPlace | null> {
  for (let start = 0; start < text.length; start += WINDOW_CHARS) {
    const from = Math.max(0, start - LOOKED_BACK_CHARS)
    const match = pattern.exec(text.slice(from, start + WINDOW_CHARS + REACHING_CHARS))
    if (match !== null && (text.length <= WINDOW_CHARS || from + match.index < start + WINDOW_CHARS))
      return { start: from + match.index, end: from + match.index + match[0].length }
    if (text.length > PAUSED_CHARS_MIN) yield
  }
  return null
}

/** What is searched between two pauses: some milliseconds. All that recorded conversations hold in one text. */
const WINDOW_CHARS = 262_144

/** A character, or the pair that is one. */
const LOOKED_BACK_CHARS = 2

/** More than the longest phrase takes. */
const REACHING_CHARS = 4_096

/** A shorter text is searched in a tenth of a millisecond. */
const PAUSED_CHARS_MIN = 16_384

function escaped(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}
