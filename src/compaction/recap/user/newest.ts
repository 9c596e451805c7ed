import { isPhrase } from './forms/match.ts'
import { evened, wordsOf } from './forms/words.ts'
import type { UserMessage, UserWords } from './user-words.ts'

/**
 * Of the directives in these messages those that are the newest of several on one subject. Two are on one subject if they
 * share words that few others hold: half of those of the shorter one, or, where the later one corrects something, any.
 */
export function newestOnSubject(messages: readonly UserMessage[]): Set<UserWords> {
  const directed = messages.flatMap(({ speaker, text, words }) =>
    words
      .filter(({ isDirective }) => isDirective)
      .map((one) => ({ one, speaker, words: subjectWords(text.slice(one.start, one.end)) })),
  )
  const holders = new Map<string, number>()
  for (const { words } of directed) for (const word of words) holders.set(word, (holders.get(word) ?? 0) + 1)
  const few = Math.max(HOLDERS_MIN, directed.length * HOLDERS_SHARE)
  for (const { words } of directed)
    for (const word of words) if ((holders.get(word) ?? 0) > few) words.delete(word)
  const newest = new Set<UserWords>()
  for (const [place, later] of directed.entries()) {
    for (const earlier of directed.slice(0, place)) {
      // What one has laid down no other takes back.
      if (earlier.speaker !== later.speaker) continue
      const shared = later.words.intersection(earlier.words).size
      const fewest = Math.min(later.words.size, earlier.words.size)
      if (shared < (later.one.isCorrection ? 1 : Math.max(2, fewest * SHARED_MIN))) continue
      newest.delete(earlier.one)
      newest.add(later.one)
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
