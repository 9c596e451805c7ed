import { evened, wordCount } from './forms/words.ts'
import { placeNamed, type Place } from './place-named.ts'
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

/** Questions for a number: "two" names no place then. */
const asksNumber =
  /how (?:many|much|long|often|old|large|big)|wie ?(?:viel|lang|oft|groß)|combien|cuánt|quant|hoeveel|hur m|\bile\b|kolik|сколько|скільки|kaç|\bكم\b|कितन|berapa|bao nhiêu|mấy|几|幾|多少|いくつ|何|몇/iu

const itemMark = /^[ \t]{0,8}(?:[-*•–+]|[*_(]{0,3}(?:[\p{L}]{3,12} )?(?:\d{1,2}|[A-Ha-h])[.):])[ \t*_]/gmu

/** The item of the last list of a text at a place; null where there is none. */
function itemAt(text: string, { at, alone }: Place): string | null {
  const ending = text.slice(-LISTED_CHARS)
  const starts = [...ending.matchAll(itemMark)].map(({ index }) => index)
  const start = starts.at(at)
  if (start === undefined || starts.length < 2) return null
  const end = ending.indexOf('\n', start)
  const item = ending.slice(start, end === -1 ? ending.length : end)
  return alone === null || isMarkedBy(item, at, alone, text) ? item : null
}

/** Whether a number or a letter alone names an item: it is marked by that, and nobody asked for a number. */
function isMarkedBy(item: string, at: number, alone: string, text: string): boolean {
  const mark = /^[^\p{L}\d]*(?:\p{L}{3,12} )?(\d{1,2}|\p{L})[.):]/u.exec(item)?.[1] ?? ''
  return (
    evened(mark) === (/^[a-h]$/.test(alone) ? alone : String(at + 1)) &&
    !asksNumber.test(lastQuestion(text) ?? '')
  )
}

/** Of a longer message the end is looked at: the offer stands there. */
const LISTED_CHARS = 4000
