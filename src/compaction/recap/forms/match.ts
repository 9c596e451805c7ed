import { english } from './english.ts'
import type { Form, FormKind } from './form.ts'
import { germanic } from './germanic.ts'
import { others } from './others.ts'
import { romance } from './romance.ts'
import { slavic } from './slavic.ts'
import { unspaced } from './unspaced.ts'

/** All that is known of how people say that something is to hold. */
export const forms: readonly Form[] = [...english, ...germanic, ...romance, ...slavic, ...others, ...unspaced]

/** The phrases of a form, one by one. */
export function phrasesOf({ phrases }: Pick<Form, 'phrases'>): string[] {
  return phrases.split(',').map((phrase) => phrase.trim())
}

/** The kinds of phrases that stand in a sentence. Each word is looked up once for each length of what is known. */
export function kindsIn(sentence: string): Set<FormKind> {
  const kinds = new Set<FormKind>()
  const text = evened(sentence)
  const words = wordsOf(text)
  for (const [index, { word, isFirst }] of words.entries()) {
    for (const phrase of beginningWith(word)) {
      if (kinds.has(phrase.kind) || (phrase.isOnlyFirst && !isFirst)) continue
      if (phrase.rest.every((next, offset) => isLike(words[index + 1 + offset]?.word, next)))
        kinds.add(phrase.kind)
    }
  }
  const language = unspacedLanguageOf(text)
  if (language !== null) addUnspaced(text, language, kinds)
  return kinds
}

/** How many words a sentence has; where no spaces stand between them, about. */
export function wordCount(sentence: string): number {
  let count = 0
  for (const [word] of sentence.matchAll(wordPattern))
    count += runsTogether.test(word) ? Math.ceil(word.length / UNSPACED_WORD_CHARS) : 1
  return count
}

/** Spelt in one way: case, apostrophes, and the vowel signs of Arabic, which are mostly left out. */
export function evened(text: string): string {
  return text
    .replaceAll('İ', 'i')
    .toLowerCase()
    .normalize('NFC')
    .replace(apostrophes, "'")
    .replace(vowelSigns, '')
}

/** The words of a text that was evened, each with whether a clause begins with it. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  let end = 0
  let isFirst = true
  for (const match of text.matchAll(wordPattern)) {
    const [word] = match
    isFirst ||= clauseEnd.test(text.slice(end, match.index))
    words.push({ word, isFirst })
    isFirst &&= openers.has(word)
    end = match.index + word.length
  }
  return words
}

/** Whether a word of a text that was evened is itself one of the phrases, and so tells of no subject. */
export function isPhrase(word: string): boolean {
  return byWord.get(word)?.some(({ rest }) => rest.length === 0) === true
}

// --- internal ---

type Word = { readonly word: string; readonly isFirst: boolean }

/** A phrase of words: what follows the first one, which may be part of a word. */
type Phrase = {
  readonly kind: FormKind
  readonly isOnlyFirst: boolean
  readonly rest: readonly string[]
}

/** Characters of a word where none are told apart, about. */
const UNSPACED_WORD_CHARS = 2

const wordPattern = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*/gu
const apostrophes = /[’‘ʼ´`]/g
const vowelSigns = /[\u064b-\u0652\u0640]/g
const clauseEnd = /[,;:.!?()[\]{}"“”„«»…—–、。，；：！？¡¿*>|\n-]/
const runsTogether = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** What stands before the beginning of a clause and leaves it one. */
const openers = new Set(
  `and but also so then please pls ok okay oh well hey hi just and or or again because cause plus
  und aber auch bitte also dann denn weil oder en maar ook dus och men et mais aussi donc alors y pero
  también entonces e mas também então ma anche quindi allora и но а также тогда і але також i ale też
  więc a takže ve ama و لكن ya dan tapi juga và nhưng और लेकिन`
    .split(/\s+/)
    .filter((word) => word !== ''),
)

const byWord = new Map<string, Phrase[]>()
const byBeginning = new Map<string, Phrase[]>()
const byEnd = new Map<string, Phrase[]>()
/** Phrases of languages without spaces, by language and first character. */
const byCharacter = new Map<
  string,
  { readonly kind: FormKind; readonly text: string; isOnlyFirst: boolean }[]
>()

for (const form of forms) {
  for (const phrase of phrasesOf(form)) learn(form, phrase)
}

const beginningLengths = lengthsOf(byBeginning)
const endLengths = lengthsOf(byEnd)

function learn({ kind, language }: Form, phrase: string): void {
  const isOnlyFirst = phrase.startsWith('^')
  const text = evened(isOnlyFirst ? phrase.slice(1) : phrase)
  if (unspaced.some((form) => form.language === language)) {
    add(byCharacter, `${language}${text.charAt(0)}`, { kind, text, isOnlyFirst })
    return
  }
  const [first = '', ...rest] = text.split(' ')
  const learnt = { kind, isOnlyFirst, rest }
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

function* beginningWith(word: string): Generator<Phrase, void, void> {
  yield* byWord.get(word) ?? []
  for (const length of beginningLengths)
    if (length <= word.length) yield* byBeginning.get(word.slice(0, length)) ?? []
  for (const length of endLengths) if (length < word.length) yield* byEnd.get(word.slice(-length)) ?? []
}

function isLike(word: string | undefined, known: string): boolean {
  if (word === undefined) return false
  return known.endsWith('*') ? word.startsWith(known.slice(0, -1)) : word === known
}

/** The language that a text is in whose words run together; null where its words stand apart. */
function unspacedLanguageOf(text: string): string | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  if (/\p{Script=Thai}/u.test(text)) return 'th'
  return /\p{Script=Han}/u.test(text) ? 'zh' : null
}

function addUnspaced(text: string, language: string, kinds: Set<FormKind>): void {
  let isFirst = true
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    for (const phrase of byCharacter.get(language + character) ?? []) {
      if (phrase.isOnlyFirst && !isFirst) continue
      if (text.startsWith(phrase.text, at)) kinds.add(phrase.kind)
    }
    isFirst = clauseEnd.test(character) || (isFirst && /\s/.test(character))
  }
}
