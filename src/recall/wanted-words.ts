/** Where in a text something was found. */
export type Found = { readonly start: number; readonly end: number }

/** Words that are searched for, whatever their case. */
export type WantedWords = {
  readonly count: number
  /** Where the words stand in a row, and how well: 0 as a name of their own, 1 as words of their own, 2 within words. */
  readonly phraseIn: (text: string) => (Found & { readonly looseness: number }) | null
  /** Where the word at `position` stands; as a word of its own if it does that anywhere. */
  readonly wordIn: (text: string, position: number) => (Found & { readonly isOwn: boolean }) | null
}

/** @param text the words, with single blanks between them. */
export function wantedWords(text: string): WantedWords {
  const words = [...new Set(text.split(' '))].slice(0, WORDS_MAX).map(escaped)
  const phrase = text
    .split(' ')
    .map(escaped)
    .join(String.raw`\s+`)
  const phrases = [within(phrase), asWord(phrase), asName(phrase)]
  const patterns = words.map((word) => ({ loose: within(word), own: asWord(word) }))
  return {
    count: words.length,
    phraseIn: (searched) => {
      let best: (Found & { readonly looseness: number }) | null = null
      for (const [position, pattern] of phrases.entries()) {
        const found = firstIn(searched, pattern)
        if (found === null) break
        best = { ...found, looseness: phrases.length - 1 - position }
      }
      return best
    },
    wordIn: (searched, position) => {
      const pattern = patterns[position]
      const loose = pattern === undefined ? null : firstIn(searched, pattern.loose)
      if (pattern === undefined || loose === null) return null
      const own = firstIn(searched, pattern.own)
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

function firstIn(text: string, pattern: RegExp): Found | null {
  const match = pattern.exec(text)
  return match === null ? null : { start: match.index, end: match.index + match[0].length }
}

function escaped(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}
