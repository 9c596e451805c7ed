import { english } from './english.ts'
import type { Form, FormKind } from './form.ts'
import { germanic } from './germanic.ts'
import { others } from './others.ts'
import { romance } from './romance.ts'
import { slavic } from './slavic.ts'
import { unspaced } from './unspaced.ts'
import { evened, wordsOf, type Word } from './words.ts'

/**
 * All that is known of how people say that something is to hold.
 *
 * @internal exported for tests
 */
export const forms: readonly Form[] = [...english, ...germanic, ...romance, ...slavic, ...others, ...unspaced]

/**
 * The phrases of a form, one by one.
 *
 * @internal exported for tests
 */
export function phrasesOf({ phrases }: Pick<Form, 'phrases'>): string[] {
  return phrases.split(',').map((phrase) => phrase.trim())
}

/** What stands in a sentence. */
export type Found = {
  readonly kinds: ReadonlySet<FormKind>
  /** Those that stand in a clause which begins as statements and errands do, and nowhere else: "I never saw that." */
  readonly stated: ReadonlySet<FormKind>
}

/** How many words of a text each language knows, by its code. */
export type Languages = ReadonlyMap<string, number>

/** The languages that a text may be in. */
export function languagesIn(text: string): Languages {
  return matchesIn(wordsOf(evened(text))).words
}

/**
 * The kinds of phrases that stand in a sentence, in the language that knows most of its words, and of the text around
 * it. Each word is looked up once for each length of what is known.
 */
export function formsIn(sentence: string, around: Languages = new Map()): Found {
  const text = evened(sentence)
  const language = unspacedLanguageOf(text)
  if (language !== null) return { kinds: unspacedKinds(text, language), stated: new Set() }
  const words = wordsOf(text)
  const { matches, words: known } = matchesIn(words)
  const languages = likeliest(known, around)
  const subjects = new Set<number | undefined>()
  for (const { language: one, kind, isOnlyFirst, index } of matches) {
    // "Could you never …" is no errand.
    const begins =
      words[index]?.isFirst === true && (kind === 'subject' || (kind === 'request' && isOnlyFirst))
    if (begins && languages.has(one)) subjects.add(words[index]?.clause)
  }
  const kinds = new Set<FormKind>()
  const directed = new Set<FormKind>()
  const isAsked = questionMark.test(text)
  for (const { language: one, kind, isOnlyFirst, index } of unexplained(matches)) {
    if (!languages.has(one)) continue
    const isLater = opensLater(words, index)
    // Further on "what" and "which" begin clauses that ask nothing, and verbs that are no errand.
    if (isLater && ((kind === 'question' && !isAsked) || (kind === 'request' && isOnlyFirst))) continue
    kinds.add(kind)
    if (!subjects.has(words[index]?.clause)) directed.add(kind)
  }
  return { kinds, stated: new Set([...kinds].filter((kind) => !directed.has(kind))) }
}

/** Whether a word of a text that was evened is itself one of the phrases, and so tells of no subject. */
export function isPhrase(word: string): boolean {
  return byWord.get(word)?.some(({ rest }) => rest.length === 0) === true
}

// --- internal ---

const questionMark = /[?？؟]/

/** After so many words a sentence has begun, and another clause does not say what it is. */
const BEGUN_WORDS = 2

function opensLater(words: readonly Word[], index: number): boolean {
  return (words[index]?.clause ?? 0) > 0 && index > BEGUN_WORDS
}

/** A phrase of words: what follows the first one, which may be part of a word. */
type Phrase = {
  readonly kind: FormKind
  readonly language: string
  readonly isOnlyFirst: boolean
  readonly isOnlyLast: boolean
  readonly rest: readonly string[]
}

type Match = Pick<Phrase, 'kind' | 'language' | 'isOnlyFirst'> & {
  /** Its first word, and how many there are. */
  readonly index: number
  readonly length: number
}

const byWord = new Map<string, Phrase[]>()
const byBeginning = new Map<string, Phrase[]>()
const byEnd = new Map<string, Phrase[]>()
/** Phrases of languages without spaces, by language and first character. */
const byCharacter = new Map<
  string,
  { readonly kind: FormKind; readonly text: string; isOnlyFirst: boolean }[]
>()

const unspacedLanguages = new Set(unspaced.map(({ language }) => language))

for (const form of forms) {
  for (const phrase of phrasesOf(form)) learn(form, phrase)
}

const beginningLengths = lengthsOf(byBeginning)
const endLengths = lengthsOf(byEnd)

function learn({ kind, language }: Form, phrase: string): void {
  const isOnlyFirst = phrase.startsWith('^')
  const isOnlyLast = phrase.endsWith('$')
  const text = evened(phrase.slice(isOnlyFirst ? 1 : 0, isOnlyLast ? -1 : undefined))
  if (unspacedLanguages.has(language)) {
    add(byCharacter, `${language}${text.charAt(0)}`, { kind, text, isOnlyFirst })
    return
  }
  const [first = '', ...rest] = text.split(' ')
  const learnt = { kind, language, isOnlyFirst, isOnlyLast, rest }
  if (first.endsWith('*')) add(byBeginning, first.slice(0, -1), learnt)
  else if (first.startsWith('*')) add(byEnd, first.slice(1), learnt)
  else add(byWord, first, learnt)
}

function add<Item>(map: Map<string, Item[]>, key: string, item: Item): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}

function lengthsOf(map: ReadonlyMap<string, unknown>): number[] {
  return [...new Set([...map.keys()].map((key) => key.length))]
}

function matchesIn(words: readonly Word[]): {
  readonly matches: readonly Match[]
  readonly words: Languages
} {
  const matches: Match[] = []
  const known = new Map<string, number>()
  for (const [index, { word, isFirst }] of words.entries()) {
    const languages = new Set<string>()
    for (const { kind, language, isOnlyFirst, isOnlyLast, rest } of beginningWith(word)) {
      if (isOnlyFirst && !isFirst) continue
      if (!rest.every((next, offset) => isLike(words[index + 1 + offset]?.word, next))) continue
      if (isOnlyLast && !endsClause(words, index + rest.length)) continue
      matches.push({ kind, language, isOnlyFirst, index, length: rest.length + 1 })
      languages.add(language)
    }
    for (const language of languages) known.set(language, (known.get(language) ?? 0) + 1)
  }
  return { matches, words: known }
}

function* beginningWith(word: string): Generator<Phrase, void, void> {
  yield* byWord.get(word) ?? []
  for (const length of beginningLengths)
    if (length <= word.length) yield* byBeginning.get(word.slice(0, length)) ?? []
  for (const length of endLengths) if (length < word.length) yield* byEnd.get(word.slice(-length)) ?? []
}

function endsClause(words: readonly Word[], index: number): boolean {
  return words[index]?.clause !== words[index + 1]?.clause
}

/** What tells of no directive. */
const explained: ReadonlySet<FormKind> = new Set<FormKind>(['telling', 'question', 'request'])

/** What no longer phrase of the same language explains: "was" tells of what happened, "I was wrong" does not. */
function unexplained(matches: readonly Match[]): readonly Match[] {
  const long = matches.filter(({ length }) => length > 1)
  return matches.filter(
    ({ kind, index, length, language }) =>
      !explained.has(kind) ||
      !long.some(
        (other) =>
          other.language === language &&
          other.length > length &&
          other.index <= index &&
          index + length <= other.index + other.length,
      ),
  )
}

function isLike(word: string | undefined, known: string): boolean {
  if (word === undefined) return false
  return known.endsWith('*') ? word.startsWith(known.slice(0, -1)) : word === known
}

/** Words that a sentence has to know of one language to outweigh all of the text around it. */
const AROUND_WORDS = 2

/** The languages that know most of the words of a sentence; the text around it decides between near ones. */
function likeliest(known: Languages, around: Languages): Set<string> {
  const most = Math.max(1, ...around.values())
  const weights = [...known].map(([language, words]): [string, number] => [
    language,
    words + (AROUND_WORDS * (around.get(language) ?? 0)) / most,
  ])
  const best = Math.max(0, ...weights.map(([, weight]) => weight))
  return new Set(weights.filter(([, weight]) => weight >= best).map(([language]) => language))
}

/** The language that a text is in whose words run together; null where its words stand apart. */
function unspacedLanguageOf(text: string): string | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  if (/\p{Script=Thai}/u.test(text)) return 'th'
  return /\p{Script=Han}/u.test(text) ? 'zh' : null
}

const isMark = /[\p{P}\p{S}]/u

function unspacedKinds(text: string, language: string): Set<FormKind> {
  const kinds = new Set<FormKind>()
  let isFirst = true
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    for (const phrase of byCharacter.get(language + character) ?? []) {
      if (phrase.isOnlyFirst && !isFirst) continue
      if (text.startsWith(phrase.text, at)) kinds.add(phrase.kind)
    }
    isFirst = isMark.test(character) || (isFirst && /\s/.test(character))
  }
  return kinds
}
