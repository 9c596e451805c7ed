import rows from './phrases.json' with { type: 'json' }
import { cellsOf, evened, wordsOf, type Word } from './words.ts'

/** What a phrase may tell of the sentence that it stands in, and how much that makes it one that is to hold. */
export const formWeights = {
  ever: 4, // how often, which in a statement is told and in an order ruled
  duty: 3, // what has to be
  subject: 0, // what statements begin with
  plain: 0, // words by which the language is told
  rule: 4, // an order that holds for good
  order: 2.5, // what may be a rule, an imperative of how to go about things
  wish: 1.5, // what is wanted or needed
  refusal: 3.5, // what is not
  limit: 2, // how far, or what alone
  standing: 3, // for how long or when it holds
  choice: 3, // what was decided
  preference: 3, // what is liked better
  correction: 2.5, // what was said before no longer holds
  agreement: 1, // yes or no to what was asked
  fact: 1.5, // what the user or the work is
  speech: 1, // it is about how to answer
  request: 0, // an errand that is done when it is done
  question: 0, // something is asked
  telling: 0, // something that happened is told
} as const

export type FormKind = keyof typeof formWeights

/**
 * How people say that something is to hold, in the languages that `npm run rules` asks for, by their codes. `^` before a
 * phrase: it counts only where a clause begins; `$` behind it: only where one ends; `*` at the end or the beginning of a
 * word: any ending or beginning. "^use *" finds "Use tabs", and not "they use tabs".
 *
 * @internal exported for tests
 */
export const forms = Object.entries(rows).map(([name, row]) => {
  const [language = '', kind = ''] = name.split(' ')
  if (!isKind(kind)) throw new Error(`phrases.json: ${name} is not a language and a kind`)
  const [sample = '', ...phrases] = cellsOf(row)
  return { language, kind, sample, phrases }
})

/** How many words of a text each language knows, by its code. */
export type Languages = ReadonlyMap<string, number>

/** The languages that a text may be in. */
export function languagesIn(text: string): Languages {
  return matchesIn(wordsOf(evened(text))).known
}

/**
 * The kinds of phrases in a sentence, in the language that knows most of its words, and of the text around it; `stated`:
 * those that stand in a clause which begins as statements and errands do, and nowhere else: "I never saw that."
 */
export function formsIn(sentence: string, around: Languages = new Map()) {
  const text = evened(sentence)
  const unspaced = unspacedLanguageOf(text)
  if (unspaced !== null) {
    const found = unspacedForms.filter(({ language, pattern }) => language === unspaced && pattern.test(text))
    return { kinds: new Set(found.map(({ kind }) => kind)), stated: new Set<FormKind>() }
  }
  const { matches, known } = matchesIn(wordsOf(text))
  const languages = likeliest(known, around)
  const likely = matches.filter(({ language }) => languages.has(language))
  // "Could you never …" is no errand.
  const begins = likely.filter(({ kind, isFirst }) => kind === 'subject' || (kind === 'request' && isFirst))
  const statedClauses = new Set(begins.flatMap(({ word }) => (word.isFirst ? [word.clause] : [])))
  const long = likely.filter(({ words }) => words.length > 1)
  const isAsked = /[?？؟]/.test(text)
  const counted = likely.filter((match) => !isExplained(match, long) && !isAside(match, isAsked))
  const kinds = new Set(counted.map(({ kind }) => kind))
  const directed = counted.filter(({ word }) => !statedClauses.has(word.clause))
  return { kinds, stated: kinds.difference(new Set(directed.map(({ kind }) => kind))) }
}

/** Whether a word of a text that was evened is itself one of the phrases, and so tells of no subject. */
export function isPhrase(word: string): boolean {
  return spacedPhrases.get(word)?.some(({ words }) => words.length === 1) === true
}

// --- internal ---

/** After so many words a sentence has begun, and another clause does not say what it is. */
const BEGUN_WORDS = 2

/** Words that a sentence has to know of one language to outweigh all of the text around it. */
const AROUND_WORDS = 2

/** No beginning or ending in the tables has more characters. */
const PART_CHARS_MAX = 16

type Phrase = {
  readonly language: string
  readonly kind: FormKind
  readonly words: readonly string[]
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** A phrase that stands in a text, from `word` on. */
type Match = Phrase & { readonly word: Word; readonly index: number }

function isKind(name: string): name is FormKind {
  return Object.hasOwn(formWeights, name)
}

const unspacedLanguages: ReadonlySet<string> = new Set(['zh', 'ja', 'ko'])

/** Behind a mark a clause begins. */
const clauseBegin = String.raw`(?<=(?:^|[\p{P}\p{S}])\s{0,9})`

const unspacedForms = forms
  .filter(({ language }) => unspacedLanguages.has(language))
  .map(({ language, kind, phrases }) => {
    const patterns = phrases.map((phrase) => evened(phrase).replace('^', () => clauseBegin))
    return { language, kind, pattern: new RegExp(patterns.join('|'), 'u') }
  })

/** Phrases by their first word, `*` included. */
const spacedPhrases = Map.groupBy(
  forms
    .filter(({ language }) => !unspacedLanguages.has(language))
    .flatMap(({ language, kind, phrases }) =>
      phrases.map((phrase): Phrase => {
        const words = evened(phrase.replace(/^\^|\$$/g, '')).split(' ')
        return { language, kind, words, isFirst: phrase.startsWith('^'), isLast: phrase.endsWith('$') }
      }),
    ),
  ({ words: [first = ''] }) => first,
)

function matchesIn(words: readonly Word[]): { readonly matches: Match[]; readonly known: Languages } {
  const matches: Match[] = []
  const known = new Map<string, number>()
  for (const [index, word] of words.entries()) {
    const found = phrasesLike(word.word).filter((phrase) => standsAt(phrase, words, index))
    for (const phrase of found) matches.push({ ...phrase, word, index })
    for (const language of new Set(found.map((phrase) => phrase.language)))
      known.set(language, (known.get(language) ?? 0) + 1)
  }
  return { matches, known }
}

/** The phrases that begin with a word, which is looked up whole, by its beginnings and by its ends. */
function phrasesLike(word: string): Phrase[] {
  const keys = [word]
  for (let chars = 1; chars <= Math.min(word.length, PART_CHARS_MAX); chars += 1)
    keys.push(`${word.slice(0, chars)}*`, `*${word.slice(-chars)}`)
  return keys.flatMap((key) => spacedPhrases.get(key) ?? [])
}

function standsAt({ words: phrase, isFirst, isLast }: Phrase, words: readonly Word[], at: number): boolean {
  if (isFirst && words[at]?.isFirst !== true) return false
  const end = at + phrase.length
  if (isLast && words[end - 1]?.clause === words[end]?.clause) return false
  return phrase.every((known, offset) => {
    const word = words[at + offset]?.word
    if (offset === 0 || word === undefined) return offset === 0
    return known.endsWith('*') ? word.startsWith(known.slice(0, -1)) : word === known
  })
}

/** Whether a longer phrase of the same language explains a match: "was" tells of what happened, "I was wrong" does not. */
function isExplained({ kind, index, words, language }: Match, long: readonly Match[]): boolean {
  // All other kinds tell of a directive.
  if (kind !== 'telling' && kind !== 'question' && kind !== 'request') return false
  return long.some(
    (other) =>
      other.language === language &&
      other.words.length > words.length &&
      other.index <= index &&
      index + words.length <= other.index + other.words.length,
  )
}

/** Further on "what" and "which" begin clauses that ask nothing, and verbs that are no errand. */
function isAside({ kind, word, index, isFirst }: Match, isAsked: boolean): boolean {
  const isLater = word.clause > 0 && index > BEGUN_WORDS
  return isLater && ((kind === 'question' && !isAsked) || (kind === 'request' && isFirst))
}

/** The languages that know most of the words of a sentence; the text around it decides between near ones. */
function likeliest(known: Languages, around: Languages): Set<string> {
  const most = Math.max(1, ...around.values())
  const weights = [...known].map(([language, words]) => ({
    language,
    weight: words + (AROUND_WORDS * (around.get(language) ?? 0)) / most,
  }))
  const best = Math.max(...weights.map(({ weight }) => weight))
  return new Set(weights.filter(({ weight }) => weight === best).map(({ language }) => language))
}

/** The language that a text is in whose words run together; null where its words stand apart. */
function unspacedLanguageOf(text: string): string | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  return /\p{Script=Han}/u.test(text) ? 'zh' : null
}
