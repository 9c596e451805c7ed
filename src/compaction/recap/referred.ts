import { evened, wordCount, wordsOf } from './forms/words.ts'
import { sentencesOf } from './sentences.ts'

/**
 * What a short answer refers to in the message before it, word for word: "the second one, please" the second item
 * of the list there, a few words the question with which that message ends; null where there is neither. `isAgreed`:
 * whether it is a rule by its form and says yes; then it agrees to the sentence with which the message ends.
 */
export function referredIn(answer: string, before: string, isAgreed = false): string | null {
  const place = placeNamed(answer)
  const item = place === null ? null : itemAt(before, place)
  const isBare = wordCount(answer) <= (isAgreed ? AGREED_WORDS_MAX : BARE_WORDS_MAX)
  const found =
    item ??
    (isBare || place !== null ? (lastQuestion(before) ?? (isAgreed ? lastSentence(before) : null)) : null)
  if (found === null) return null
  const line = found.replace(/\s+/g, ' ').trim()
  return line.length > REFERRED_CHARS_MAX ? `${line.slice(0, REFERRED_CHARS_MAX)}…` : line
}

/** The question with which a text ends, or nearly so; null where it ends otherwise. */
export function lastQuestion(text: string): string | null {
  const from = Math.max(0, text.length - ENDING_CHARS)
  const ending = text.slice(from)
  const whole = sentencesOf(ending).slice(from === 0 ? 0 : 1)
  const question = whole
    .slice(-LAST_SENTENCES)
    .findLast(({ start, end }) => asks.test(ending.slice(start, end).slice(-3)))
  return question === undefined ? null : ending.slice(question.start, question.end)
}

// --- internal ---

function lastSentence(text: string): string | null {
  const ending = text.slice(-ENDING_CHARS)
  const last = sentencesOf(ending).at(-1)
  return last === undefined ? null : ending.slice(last.start, last.end)
}

const REFERRED_CHARS_MAX = 120

/** An answer of more words says by itself what it is about, unless it names a place. */
const BARE_WORDS_MAX = 6
const AGREED_WORDS_MAX = 12

/** A question that stands farther from the end is not what was answered. */
const ENDING_CHARS = 600
const LAST_SENTENCES = 2

const asks = /[?？؟]/

/** Words that name a place in a list, from the first on; `*`: any ending. The last row names the last one. */
const placeWords: readonly (readonly string[])[] = [
  `1 1st a first former one erste* erstere* eerste första første premier première primero primera primer
   primeiro primeira primo prima první pierwszy pierwsza pierwszą первый первая первое первую перший перша перше першу
   birinci birincisi ilki الأول الأولى पहला पहली पहले pertama nhất`,
  `2 2nd b second latter two zweite* letztere* tweede andra anden andre deuxième second seconde segundo segunda
   secondo seconda druhý druhá druhou druhé drugi druga drugą второй вторая второе вторую другий друга друге другу
   ikinci ikincisi الثاني الثانية दूसरा दूसरी दूसरे kedua hai`,
  `3 3rd c third three dritte* derde tredje troisième tercero tercera tercer terceiro terceira terzo terza třetí
   trzeci trzecia trzecią третий третья третье третью третій третя третє третю üçüncü üçüncüsü الثالث الثالثة तीसरा
   तीसरी तीसरे ketiga ba`,
  `4 4th d fourth four vierte* vierde fjärde fjerde quatrième cuarto cuarta quarto quarta čtvrtý čtvrtá czwarty
   czwarta четвёртый четвертый четвёртая четвертая четвертий четверта dördüncü الرابع الرابعة चौथा चौथी keempat tư`,
].map((words) => words.split(/\s+/))

const unspacedPlaces = [
  /第一|前者|一番目|一つ目|첫 ?번째|1번/u,
  /第二|后者|後者|二番目|二つ目|두 ?번째|2번/u,
  /第三|三番目|三つ目|세 ?번째|3번/u,
  /第四|四番目|四つ目|네 ?번째|4번/u,
]

const lastWords = new Set(
  `last letzte* laatste sista dernier dernière último última ultimo ultima poslední ostatni ostatnia последний
   последняя останній остання sonuncu الأخير terakhir cuối`.split(/\s+/),
)

/** The place in a list that an answer names, from 0 on, -1 for the last one; null where it names none. */
function placeNamed(answer: string): number | null {
  const text = evened(answer)
  const words = wordsOf(text).map(({ word }) => word)
  for (const [place, known] of placeWords.entries()) {
    if (words.some((word) => known.some((one) => isLike(word, one)))) {
      // "a" and "one" are mostly no places: they count where hardly anything stands beside them.
      const isPlain = words.some((word) =>
        known.some((one) => one.length > 1 && one !== 'one' && isLike(word, one)),
      )
      if (isPlain || words.length <= 3 || /\d/.test(text)) return place
    }
    if (unspacedPlaces[place]?.test(text) === true) return place
  }
  return words.some((word) => [...lastWords].some((one) => isLike(word, one))) ? -1 : null
}

function isLike(word: string, known: string): boolean {
  return known.endsWith('*') ? word.startsWith(known.slice(0, -1)) : word === known
}

const itemMark = /^[ \t]{0,8}(?:[-*•–+]|[*_(]{0,3}(?:[\p{L}]{3,12} )?(?:\d{1,2}|[A-Ha-h])[.):])[ \t*_]/gmu

/** The item of the last list of a text at a place, from 0 on; null where there is none. */
function itemAt(text: string, place: number): string | null {
  const ending = text.slice(-LISTED_CHARS)
  const starts = [...ending.matchAll(itemMark)].map(({ index }) => index)
  const start = starts.at(place)
  if (start === undefined || starts.length < 2) return null
  const end = ending.indexOf('\n', start)
  return ending.slice(start, end === -1 ? ending.length : end)
}

/** Of a longer message the end is looked at: the offer stands there. */
const LISTED_CHARS = 4000
