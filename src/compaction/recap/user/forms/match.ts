import { forms, unspacedLanguages, type FormKind } from './forms.ts'
import { evened, wordsOf, type Word } from './words.ts'

/** What stands in a sentence. */
export type FormsFound = {
  readonly kinds: ReadonlySet<FormKind>
  /** Those that stand in a clause which begins as statements and errands do, and nowhere else: "I never saw that." */
  readonly stated: ReadonlySet<FormKind>
}

/** How many words of a text each language knows, by its code. */
export type Languages = ReadonlyMap<string, number>

/** The languages that a text may be in. */
export function languagesIn(text: string): Languages {
  return matchesIn(wordsOf(evened(text))).known
}

/**
 * The kinds of phrases that stand in a sentence, in the language that knows most of its words, and of the text around
 * it. Each word is looked up once for each length of what is known.
 */
export function formsIn(sentence: string, around: Languages = new Map()): FormsFound {
  const text = evened(sentence)
  const unspacedLanguage = unspacedLanguageOf(text)
  if (unspacedLanguage !== null) return { kinds: unspacedKinds(text, unspacedLanguage), stated: new Set() }

  const { matches, known } = matchesIn(wordsOf(text))
  const languages = likeliest(known, around)
  const likely = matches.filter(({ language }) => languages.has(language))
  const statedClauses = new Set<number>()
  for (const { kind, word, isOnlyFirst } of likely) {
    // "Could you never …" is no errand.
    const begins = kind === 'subject' || (kind === 'request' && isOnlyFirst)
    if (begins && word.isFirst) statedClauses.add(word.clause)
  }
  const kinds = new Set<FormKind>()
  const directed = new Set<FormKind>()
  const isAsked = /[?？؟]/.test(text)
  const long = likely.filter(({ length }) => length > 1)
  for (const match of likely) {
    const { kind, word, index, isOnlyFirst } = match
    if (isExplained(match, long)) continue
    // Further on "what" and "which" begin clauses that ask nothing, and verbs that are no errand.
    const isLater = word.clause > 0 && index > BEGUN_WORDS
    if (isLater && ((kind === 'question' && !isAsked) || (kind === 'request' && isOnlyFirst))) continue
    kinds.add(kind)
    if (!statedClauses.has(word.clause)) directed.add(kind)
  }
  return { kinds, stated: new Set([...kinds].filter((kind) => !directed.has(kind))) }
}

/** Whether a word of a text that was evened is itself one of the phrases, and so tells of no subject. */
export function isPhrase(word: string): boolean {
  return phrases.get(word)?.some(({ rest }) => rest.length === 0) === true
}

// --- internal ---

/** After so many words a sentence has begun, and another clause does not say what it is. */
const BEGUN_WORDS = 2

/** Words that a sentence has to know of one language to outweigh all of the text around it. */
const AROUND_WORDS = 2

type Phrase = {
  readonly kind: FormKind
  readonly language: string
  readonly isOnlyFirst: boolean
  readonly isOnlyLast: boolean
  /** The words behind the first one. */
  readonly rest: readonly string[]
}

/** A phrase that stands in a text, from `word` on. */
type Match = Pick<Phrase, 'kind' | 'language' | 'isOnlyFirst'> & {
  readonly word: Word
  readonly index: number
  /** In words. */
  readonly length: number
}

/** Phrases by their first word, `*` included. */
const phrases = new Map<string, Phrase[]>()
/** Phrases of languages without blanks, by language and first character. */
const unspacedPhrases = new Map<
  string,
  (Pick<Phrase, 'kind' | 'isOnlyFirst'> & { readonly text: string })[]
>()

for (const { language, kind, phrases: ofKind } of forms) {
  for (const phrase of ofKind) {
    const isOnlyFirst = phrase.startsWith('^')
    const isOnlyLast = phrase.endsWith('$')
    const text = evened(phrase.slice(isOnlyFirst ? 1 : 0, isOnlyLast ? -1 : undefined))
    const [first = '', ...rest] = text.split(' ')
    if (unspacedLanguages.has(language))
      add(unspacedPhrases, language + text.charAt(0), { kind, text, isOnlyFirst })
    else add(phrases, first, { kind, language, isOnlyFirst, isOnlyLast, rest })
  }
}

/** How many characters of a word's beginning or end may have to be looked up. */
const beginningLengths = lengthsOf(/^.+(?=\*$)/)
const endLengths = lengthsOf(/(?<=^\*).+$/)

function add<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}

function lengthsOf(part: RegExp): number[] {
  return [...new Set([...phrases.keys()].flatMap((first) => part.exec(first)?.[0].length ?? []))]
}

function matchesIn(words: readonly Word[]): { readonly matches: Match[]; readonly known: Languages } {
  const matches: Match[] = []
  const known = new Map<string, number>()
  for (const [index, word] of words.entries()) {
    const languages = new Set<string>()
    for (const { kind, language, isOnlyFirst, isOnlyLast, rest } of beginningWith(word.word)) {
      if (isOnlyFirst && !word.isFirst) continue
      if (!rest.every((next, offset) => isLike(words[index + 1 + offset]?.word, next))) continue
      const last = index + rest.length
      if (isOnlyLast && words[last]?.clause === words[last + 1]?.clause) continue
      matches.push({ kind, language, isOnlyFirst, word, index, length: rest.length + 1 })
      languages.add(language)
    }
    for (const language of languages) known.set(language, (known.get(language) ?? 0) + 1)
  }
  return { matches, known }
}

function beginningWith(word: string): readonly Phrase[] {
  const found = [...(phrases.get(word) ?? [])]
  for (const length of beginningLengths)
    if (length <= word.length) found.push(...(phrases.get(`${word.slice(0, length)}*`) ?? []))
  for (const length of endLengths)
    if (length < word.length) found.push(...(phrases.get(`*${word.slice(-length)}`) ?? []))
  return found
}

function isLike(word: string | undefined, known: string): boolean {
  if (word === undefined) return false
  return known.endsWith('*') ? word.startsWith(known.slice(0, -1)) : word === known
}

/** Whether a longer phrase of the same language explains a match: "was" tells of what happened, "I was wrong" does not. */
function isExplained({ kind, index, length, language }: Match, long: readonly Match[]): boolean {
  // All other kinds tell of a directive.
  if (kind !== 'telling' && kind !== 'question' && kind !== 'request') return false
  return long.some(
    (other) =>
      other.language === language &&
      other.length > length &&
      other.index <= index &&
      index + length <= other.index + other.length,
  )
}

/** The languages that know most of the words of a sentence; the text around it decides between near ones. */
function likeliest(known: Languages, around: Languages): Set<string> {
  const most = Math.max(1, ...around.values())
  let best = 0
  let languages = new Set<string>()
  for (const [language, words] of known) {
    const weight = words + (AROUND_WORDS * (around.get(language) ?? 0)) / most
    if (weight > best) languages = new Set()
    best = Math.max(best, weight)
    if (weight === best) languages.add(language)
  }
  return languages
}

/** The language that a text is in whose words run together; null where its words stand apart. */
function unspacedLanguageOf(text: string): string | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  return /\p{Script=Han}/u.test(text) ? 'zh' : null
}

const isMark = /[\p{P}\p{S}]/u

function unspacedKinds(text: string, language: string): Set<FormKind> {
  const kinds = new Set<FormKind>()
  let isFirst = true
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    for (const phrase of unspacedPhrases.get(language + character) ?? [])
      if ((isFirst || !phrase.isOnlyFirst) && text.startsWith(phrase.text, at)) kinds.add(phrase.kind)
    isFirst = isMark.test(character) || (isFirst && /\s/.test(character))
  }
  return kinds
}
