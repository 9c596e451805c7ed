import { isPhrase } from './forms/match.ts'
import { evened, wordsOf } from './forms/words.ts'

/** Something that the user directed, in its order. */
export type Directed = {
  readonly text: string
  /** Whether it says that what was said before no longer holds. */
  readonly isCorrection: boolean
}

/**
 * Which of some directives are the newest of several on one subject. Two are on one subject if they share words that
 * few others hold: half of those of the shorter one, or, where the later one corrects something, any of them.
 */
export function newestOnSubject(directed: readonly Directed[]): Set<number> {
  const words = directed.map(({ text }) => subjectWords(text))
  const holders = new Map<string, number>()
  for (const own of words) for (const word of own) holders.set(word, (holders.get(word) ?? 0) + 1)
  const few = Math.max(HOLDERS_MIN, directed.length * HOLDERS_SHARE)
  const telling = words.map((own) => new Set([...own].filter((word) => (holders.get(word) ?? 0) <= few)))
  const newest = new Set<number>()
  for (const [later, { isCorrection }] of directed.entries()) {
    const own = telling[later] ?? new Set()
    for (let earlier = 0; earlier < later; earlier += 1) {
      const other = telling[earlier] ?? new Set()
      const shared = [...own].filter((word) => other.has(word)).length
      const needed = isCorrection ? 1 : Math.max(2, Math.min(own.size, other.size) * SHARED_MIN)
      if (shared < needed) continue
      newest.delete(earlier)
      newest.add(later)
    }
  }
  return newest
}

// --- internal ---

/** A word that this many directives hold may still tell their subject … */
const HOLDERS_MIN = 3
/** … or this share of them. */
const HOLDERS_SHARE = 0.1

const SHARED_MIN = 0.5

const WORD_CHARS_MIN = 4

const unspacedRun = /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]{2,}/gu

/** What a directive may be about: its longer words without their endings; where words run together, pairs of characters. */
function subjectWords(text: string): Set<string> {
  const even = evened(text)
  const found = new Set<string>()
  for (const { word } of wordsOf(even)) {
    if (word.length >= WORD_CHARS_MIN && !isPhrase(word) && !/\p{Script=Han}/u.test(word))
      found.add(word.slice(0, STEM_CHARS))
  }
  for (const [run] of even.matchAll(unspacedRun))
    for (let at = 0; at + 1 < run.length; at += 1) found.add(run.slice(at, at + 2))
  return found
}

/** Beyond it endings begin, in most languages. */
const STEM_CHARS = 6
