import { formsIn, type FormKind } from './forms.ts'
import placeRows from './places.json' with { type: 'json' }
import { sentencesOf } from './sentences.ts'
import wordLists from './word-lists.json' with { type: 'json' }
import { clauseEnd, cellsOf, evened, wordCount, wordsOf } from './words.ts'

/**
 * What a short answer refers to in the message before it, word for word: "the second one, please" the second item
 * of the list there, a few words the question with which that message ends; null where there is neither. `isAgreed`:
 * whether it is a rule by its form and says yes; then it agrees to the sentence with which the message ends.
 */
export function referredIn(answer: string, before: string, isAgreed = false): string | null {
  const place = placeNamed(answer)
  const isBare = wordCount(answer) <= (isAgreed ? AGREED_WORDS_MAX : BARE_WORDS_MAX)
  const found =
    (place === null ? null : itemAt(before, place)) ??
    (isBare || place !== null ? lastQuestion(before) : null) ??
    (isBare && isAgreed ? (lastSentences(before).at(-1) ?? null) : null)
  const line = found?.replace(/\s+/g, ' ').trim() ?? null
  return line !== null && line.length > REFERRED_CHARS_MAX ? `${line.slice(0, REFERRED_CHARS_MAX)}…` : line
}

/** The question with which a text ends, or nearly so; null where it ends otherwise. */
export function lastQuestion(text: string): string | null {
  const last = lastSentences(text).slice(-QUESTION_SENTENCES)
  return last.findLast((sentence) => /[?？؟]/.test(sentence.slice(-3))) ?? null
}

// --- internal ---

const REFERRED_CHARS_MAX = 120

/** An answer of more words says by itself what it is about, unless it names a place. */
const BARE_WORDS_MAX = 6
const AGREED_WORDS_MAX = 12

/** A question that stands farther from the end is not what was answered. */
const ENDING_CHARS = 600
const QUESTION_SENTENCES = 2

/** Of a longer message the end is looked at: the offer stands there. */
const LISTED_CHARS = 4000

/** The sentences with which a text ends, without the one that the end begins in. */
function lastSentences(text: string): string[] {
  const ending = text.slice(-ENDING_CHARS)
  const sentences = sentencesOf(ending).map(({ start, end }) => ending.slice(start, end))
  return sentences.slice(text.length > ENDING_CHARS ? 1 : 0)
}

/** A place in a list. */
type Place = {
  /** From 0 on, -1 for the last one. */
  readonly at: number
  /** The number or letter that is the whole answer and may mean something else: "Two." Else null. */
  readonly alone: string | null
}

/** The item of the last list of a text at a place; null where there is none. */
function itemAt(text: string, { at, alone }: Place): string | null {
  const ending = text.slice(-LISTED_CHARS)
  const items = [...ending.matchAll(listItem)]
  const item = items.at(at)
  if (item === undefined || items.length < 2) return null
  // A number or a letter alone names an item that is marked by it, where nobody asked for a number.
  const isMarked = alone === null || evened(item[1] ?? '') === (/^[a-h]$/.test(alone) ? alone : `${at + 1}`)
  const asksNumber = alone !== null && numberQuestion.test(lastQuestion(text) ?? '')
  return isMarked && !asksNumber ? item[0] : null
}

const listItem = /^[ \t]{0,8}(?:[-*•–+]|[*_(]{0,3}(?:[\p{L}]{3,12} )?(\d{1,2}|[A-Ha-h])[.):])[ \t*_][^\n]*/gmu

/** Questions for a number: "two" names no place then. */
const numberQuestion =
  /how (?:many|much|long|often|old|large|big)|wie ?(?:viel|lang|oft|groß)|combien|cuánt|quant|hoeveel|hur m|\bile\b|kolik|сколько|скільки|kaç|\bكم\b|कितन|berapa|bao nhiêu|mấy|几|幾|多少|いくつ|何|몇/iu

/**
 * The place in a list that an answer chooses; null where it names none beyond doubt: a wrong choice in the user's mouth
 * is worse than none. It is named beside a word for an option, or by hardly anything else. What is denied is no choice,
 * nor are two of them, nor is what is asked or ruled for good.
 */
function placeNamed(answer: string): Place | null {
  const text = evened(answer)
  const alone = aloneIn(wordsIn(text))
  if (alone !== null) return alone
  const { kinds } = formsIn(answer)
  if (rulesOrAsks.some((kind) => kinds.has(kind))) return null
  const clauses = text.split(clauseEnd).filter((clause) => wordsIn(clause).length > 0)
  let chosen: number | null = null
  for (const [index, clause] of clauses.entries()) {
    const { named, loosely } = placesIn(clause, clauses.length === 1)
    if (isDenied(clause)) {
      // "No, the second one" corrects, and "the second one, not the first" says it twice.
      const isPlainNo = index === 0 && wordsIn(clause).length === 1
      const isOther = chosen !== null && loosely.length > 0 && !loosely.includes(chosen)
      if (isPlainNo || isOther) continue
      return null
    }
    const [first] = named
    if (first === undefined && loosely.length > 0) return null
    chosen ??= first ?? null
    if ([...named, ...loosely].some((at) => at !== chosen)) return null
  }
  return chosen === null ? null : { at: chosen, alone: null }
}

/** "The last option in the menu must be Quit." */
const rulesOrAsks: readonly FormKind[] = ['ever', 'rule', 'duty', 'question']

function wordsIn(text: string): string[] {
  return wordsOf(evened(text)).map(({ word }) => word)
}

/** Stands beside a place that is chosen and says nothing of it. */
const courteous = new Set(wordsIn(wordLists.courtesies))
/** What takes a place out, in any language: it is better to miss a choice than to turn one round. */
const denying = new Set(wordsIn(wordLists.denials))
/** Nouns before a number that number anything: "Use port number 3." */
const numbering = new Set(wordsIn(wordLists.numberNouns))

/** How languages name a place in a list, a column each: a sample, ordinals, cardinals, and what stands around them. */
const languages = Object.values(placeRows).map((row) => cellsOf(row).map(wordsIn))

function wordsAt(column: number, of = languages): ReadonlySet<string> {
  return new Set(of.flatMap((columns) => columns[column] ?? []))
}

function placesAt(from: number, to: number): ReadonlyMap<string, number> {
  const places = languages.flatMap((columns) => [...columns.slice(from, to).entries()])
  return new Map(places.flatMap(([at, words]) => words.map((word) => [word, at] as const)))
}

/** Of the first four places, and as the fifth of the last one. */
const ordinals = placesAt(1, 6)
const LAST = 4
/** Of the first four. Most are other words elsewhere, so they count alone or behind a noun only. */
const cardinals = placesAt(6, 10)
/** Nouns that stand behind an ordinal: "the second one"; languages without any have those of the next column before it. */
const behindOrdinals = wordsAt(10)
const beforeOrdinals = wordsAt(
  11,
  languages.filter((columns) => columns[10]?.length === 0),
)
/** Nouns that stand before a number or a letter: "option two". */
const beforeNumbers = wordsAt(11)
const articles = wordsAt(12)
/** What else stands beside what is chosen: "let's go with the second". Without an article that tells of an order. */
const choosing = wordsAt(13)
const ordering = wordsAt(
  13,
  languages.filter((columns) => columns[12]?.length !== 0),
)

/** A number or a letter that is all of an answer but its courtesies. */
function aloneIn(words: readonly string[]): Place | null {
  const [only, ...others] = words.filter((word) => !courteous.has(word))
  if (only === undefined || others.length > 0 || words.slice(1).some((word) => denying.has(word))) return null
  const at = countedBy(only)
  return at === null ? null : { at, alone: only }
}

/** Where a word is a number or a letter, its place. */
function countedBy(word: string): number | null {
  if (/^\d{1,2}$/.test(word)) return Number(word) > 0 ? Number(word) - 1 : null
  return /^[a-h]$/.test(word) ? word.charCodeAt(0) - 'a'.charCodeAt(0) : (cardinals.get(word) ?? null)
}

/** The places that a clause names as a choice does, and those of all its ordinals, however they are meant. */
function placesIn(clause: string, isAll: boolean): { readonly named: number[]; readonly loosely: number[] } {
  const unspaced = unspacedPlaces.flatMap((pattern, at) => (pattern.test(clause) ? [at] : []))
  const words = wordsIn(clause)
  const named = new Set(unspaced)
  const loosely = new Set(unspaced)
  for (const [index, word] of words.entries()) {
    const ordinal = ordinals.get(word) ?? null
    // "Last week" is said of anything.
    if (ordinal !== null && ordinal !== LAST) loosely.add(ordinal)
    const isBeside = beforeOrdinals.has(words[index - 1] ?? '') || behindOrdinals.has(words[index + 1] ?? '')
    if (ordinal !== null && (isBeside || standsAlone(words, isAll)))
      named.add(ordinal === LAST ? -1 : ordinal)
    const counted = countedBy(word)
    if (counted !== null && isCounted(words, index)) named.add(counted)
  }
  return { named: [...named], loosely: [...loosely] }
}

/** "Option two". "Option a" and "number one" only where nothing follows: "the option a user picks". */
function isCounted(words: readonly string[], index: number): boolean {
  const word = words[index] ?? ''
  const nounAt = articles.has(words[index - 1] ?? '') ? index - 2 : index - 1
  const noun = words[nounAt] ?? ''
  if (!beforeNumbers.has(noun) || (numbering.has(noun) && !words.slice(0, nounAt).every(saysNothing)))
    return false
  return (word.length > 1 && word !== 'one') || /\d/.test(word) || index === words.length - 1
}

/** Whether an ordinal is all of a clause but for courtesies and what chooses: "I'll take the second". */
function standsAlone(words: readonly string[], isAll: boolean): boolean {
  if (words.filter((word) => !saysNothing(word)).length !== 1) return false
  // "First, run the tests" and "do it first" tell of an order; with an article they name a thing.
  return words.some((word) => articles.has(word)) || (isAll && !words.some((word) => ordering.has(word)))
}

function saysNothing(word: string): boolean {
  return courteous.has(word) || articles.has(word) || choosing.has(word)
}

/** The same where words run together. Without what follows they are parts of other things: "第二天", "二番目の引数". */
const unspacedPlaces: readonly RegExp[] = ['一一첫', '二二두', '三三세', '四四네'].map(
  ([chinese, japanese, korean], place) =>
    new RegExp(
      [
        `第${chinese}[个個种種项項條条]?(?:方案|选项|選項|办法|辦法|做法|选择|選擇|建议|建議|案)`,
        `第${chinese}[个個种種项項條条](?=[吧了]?(?:[\\s\\p{P}]|$))`,
        `[${japanese}${place + 1}](?:番目|つ目)(?:の(?:案|方法|選択肢|方|もの)|(?=でお願い|にし|を選|がいい|[\\s\\p{P}]|$))`,
        `${korean} ?번째(?: ?(?:것|걸|거|방법|안|옵션|선택)|(?=로 ?(?:하|해|가|갈|부탁)|[\\s\\p{P}]*$))`,
        `${place + 1}번(?=으로|[\\s\\p{P}]*$)`,
      ].join('|'),
      'u',
    ),
)

const unspacedDenial = /[不别別没沒非除无無]|以外|之外|ない|なく|ません|なし|말고|아니|않|빼|제외|싫|안 /u

function isDenied(clause: string): boolean {
  return (
    unspacedDenial.test(clause) ||
    wordsIn(clause).some((word) => denying.has(word) || word.endsWith("n't")) ||
    formsIn(clause).kinds.has('refusal')
  )
}
