import { columnsOf, type FormKind } from './forms/forms.ts'
import { formsIn } from './forms/match.ts'
import placeRows from './forms/places.json' with { type: 'json' }
import wordLists from './forms/word-lists.json' with { type: 'json' }
import { evened, wordsOf } from './forms/words.ts'

/** A place in a list. */
export type Place = {
  /** From 0 on, -1 for the last one. */
  readonly at: number
  /** The number or letter that is the whole answer and may mean something else: "Two." Else null. */
  readonly alone: string | null
}

/**
 * The place in a list that an answer chooses; null where it names none beyond doubt: a wrong choice in the user's mouth
 * is worse than none. It is named beside a word for an option, or by hardly anything else. What is denied is no choice,
 * nor are two of them, nor is what is asked or ruled for good.
 */
export function placeNamed(answer: string): Place | null {
  const text = evened(answer)
  const alone = aloneIn(wordsIn(text))
  if (alone !== null) return alone
  const { kinds } = formsIn(answer)
  if (rulesOrAsks.some((kind) => kinds.has(kind))) return null

  const clauses = text.split(clauseEnd).filter((clause) => hasLetter.test(clause))
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
    for (const at of [...named, ...loosely]) {
      if (chosen !== null && chosen !== at) return null
      if (named.length > 0) chosen = at
    }
    if (named.length === 0 && loosely.length > 0) return null
  }
  return chosen === null ? null : { at: chosen, alone: null }
}

// --- internal ---

/** "The last option in the menu must be Quit." */
const rulesOrAsks: readonly FormKind[] = ['ever', 'rule', 'duty', 'question']

const clauseEnd = /[,;:.!?()[\]{}"“”„«»…—–،؛؟¡¿*>|\n。！？、，；：।]/u
const hasLetter = /[\p{L}\p{N}]/u

function wordsIn(text: string): string[] {
  return wordsOf(text).map(({ word }) => word)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(wordsIn(evened(words)))
}

/** Stands beside a place that is chosen and says nothing of it. */
const courteous = setOf(wordLists.courtesies)
/** What takes a place out, in any language: it is better to miss a choice than to turn one round. */
const denying = setOf(wordLists.denials)
/** Nouns before a number that number anything. */
const numbering = setOf(wordLists.numberNouns)

/**
 * How each language names a place in a list: a sample, the ordinals of the first four places and the last one, the
 * cardinals of the first four, and the words around them.
 */
const languages = Object.values(placeRows).map((row) => {
  const columns = columnsOf(row).map(setOf)
  const [behind, before, articles, choosing] = columns.slice(10)
  if (behind === undefined || before === undefined || articles === undefined || choosing === undefined)
    throw new Error(`places.json: ${row} has a column too few`)
  return {
    ordinals: columns.slice(1, 6),
    /** Most are other words elsewhere, so they count alone or behind a noun only. */
    cardinals: columns.slice(6, 10),
    /** Nouns that stand behind an ordinal: "the second one"; with none of them it stands behind those of `before`. */
    behind,
    /** Nouns that stand before a number or a letter: "option two". */
    before,
    articles,
    /** What stands beside an ordinal that is chosen: "let's go with the second". */
    choosing,
  }
})

/** The same where words run together. Without what follows they are parts of other things: "第二天", "二番目の引数". */
const unspacedPlaces: readonly RegExp[] = (
  [
    ['一', '一1', '첫'],
    ['二', '二2', '두'],
    ['三', '三3', '세'],
    ['四', '四4', '네'],
  ] as const
).map(
  ([chinese, japanese, korean], place) =>
    new RegExp(
      [
        `第${chinese}[个個种種项項条條]?(?:方案|选项|選項|办法|辦法|做法|选择|選擇|建议|建議|案)`,
        `第${chinese}[个個种種项項条條](?=[吧了]?(?:[\\s\\p{P}]|$))`,
        `[${japanese}](?:番目|つ目)(?:の(?:案|方法|選択肢|方|もの)|(?=でお願い|にし|を選|がいい|[\\s\\p{P}]|$))`,
        `${korean} ?번째(?: ?(?:것|걸|거|방법|안|옵션|선택)|(?=로 ?(?:하|해|가|갈|부탁)|[\\s\\p{P}]*$))`,
        `${place + 1}번(?=으로|[\\s\\p{P}]*$)`,
      ].join('|'),
      'u',
    ),
)

const unspacedDenial = /[不别別没沒非除无無]|以外|之外|ない|なく|ません|なし|말고|아니|않|빼|제외|싫|안 /u

type Language = (typeof languages)[number]

/** A number or a letter that is all of an answer but its courtesies. */
function aloneIn(words: readonly string[]): Place | null {
  const rest = words.filter((word) => !courteous.has(word))
  const [only] = rest
  if (only === undefined || rest.length > 1 || words.some((word) => denying.has(word) && word !== words[0]))
    return null
  const at = [null, ...languages].map((language) => countedBy(only, language)).find((place) => place !== null)
  return at === undefined ? null : { at, alone: only }
}

/** Where a word is a number or a letter, its place. */
function countedBy(word: string, language: Language | null): number | null {
  if (/^\d{1,2}$/.test(word)) return Number(word) > 0 ? Number(word) - 1 : null
  if (/^[a-h]$/.test(word)) return word.charCodeAt(0) - 'a'.charCodeAt(0)
  const at = language?.cardinals.findIndex((known) => known.has(word)) ?? -1
  return at === -1 ? null : at
}

/** The place of an ordinal, -1 for the last one; null where it is none. */
function orderedBy(word: string, { ordinals }: Language): number | null {
  const at = ordinals.findIndex((known) => known.has(word))
  return at === -1 ? null : at === ordinals.length - 1 ? -1 : at
}

/** The places that a clause names as a choice does, and those of all its ordinals, however they are meant. */
function placesIn(clause: string, isAll: boolean): { readonly named: number[]; readonly loosely: number[] } {
  const unspaced = unspacedPlaces.flatMap((pattern, at) => (pattern.test(clause) ? [at] : []))
  const words = wordsIn(clause)
  const named = new Set(unspaced)
  const loosely = new Set(unspaced)
  for (const language of languages) {
    const isBare = isBareIn(words, language, isAll)
    for (const [index, word] of words.entries()) {
      const ordered = orderedBy(word, language)
      if (ordered !== null) {
        // "Last week" is said of anything.
        if (ordered >= 0) loosely.add(ordered)
        const isNamed = language.behind.has(words[index + 1] ?? '') || isBehindNoun(words, index, language)
        if (isBare || isNamed) named.add(ordered)
      }
      const counted = countedBy(word, language)
      if (counted !== null && isCounted(words, index, language)) named.add(counted)
    }
  }
  return { named: [...named], loosely: [...loosely] }
}

function isBehindNoun(words: readonly string[], index: number, language: Language): boolean {
  return language.behind.size === 0 && language.before.has(words[index - 1] ?? '')
}

/** "Option two". "Option a" and "number one" only where nothing follows: "the option a user picks". */
function isCounted(words: readonly string[], index: number, language: Language): boolean {
  const word = words[index] ?? ''
  const noun = language.articles.has(words[index - 1] ?? '') ? index - 2 : index - 1
  if (!language.before.has(words[noun] ?? '')) return false
  // "Use port number 3" numbers something else.
  if (numbering.has(words[noun] ?? '') && words.slice(0, noun).some((one) => !isBeside(one, language)))
    return false
  return (word.length > 1 && word !== 'one') || /\d/.test(word) || index === words.length - 1
}

/** Whether a word says nothing but that something is chosen. */
function isBeside(word: string, { articles, choosing }: Language): boolean {
  return courteous.has(word) || choosing.has(word) || articles.has(word)
}

/** Whether an ordinal is all of a clause but for courtesies and what chooses: "I'll take the second". */
function isBareIn(words: readonly string[], language: Language, isAll: boolean): boolean {
  const { articles, choosing } = language
  const rest = words.filter((word) => !isBeside(word, language))
  if (rest.length !== 1) return false
  // "First, run the tests" and "do it first" tell of an order; with an article they name a thing.
  const hasArticle = words.some((word) => articles.has(word))
  return hasArticle || (isAll && (articles.size === 0 || !words.some((word) => choosing.has(word))))
}

function isDenied(clause: string): boolean {
  return (
    unspacedDenial.test(clause) ||
    wordsIn(clause).some((word) => denying.has(word) || word.endsWith("n't")) ||
    formsIn(clause).kinds.has('refusal')
  )
}
