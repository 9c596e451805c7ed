import { withoutReminders } from '../../../conversation/reminders.ts'
import type { Pausable } from '../../../json/source.ts'
import { lookedAt, readMessage } from '../../history/read-message.ts'
import { isSaidByUser, isTalk, replyAt, type History } from '../../history/history.ts'
import { inLabel } from '../headings.ts'
import { lastQuestion, referredIn, type Sentence, sentencesOf, wordCount } from './sentences.ts'

/** A piece of a user's message that may be written: a sentence, or all of a short message. */
export type UserWords = Sentence & {
  /** How much it looks like something that is to hold later on. */
  readonly score: number
  /** Whether it may lay something down: it asks nothing, and quotes nobody else. */
  readonly laysDown: boolean
  /** What it answers, where it is a short answer; else null. */
  readonly refersTo: string | null
}

/** What a user said in one message. */
export type UserMessage = {
  readonly index: number
  /** Whose words they are, as it is written before them; '' where the message bears no name. */
  readonly speaker: string
  readonly text: string
  /** In the order in which they stand there. */
  readonly words: readonly UserWords[]
}

/**
 * What the user said in these messages, each distinct one once, at its newest place (the same answer to two questions
 * twice), cut into pieces. They are judged by what any language shows and never by their words: whether a sentence asks, how
 * long it is, where its message stands, whether it answers a question, and whether it was answered in a word, such as "noted".
 * What a program wrote is no word of the user's.
 */
export function* userMessages(history: History, indexes: readonly number[]): Pausable<UserMessage[]> {
  const folded = new Set(indexes)
  const texts = new Map<number, string>()
  for (const index of indexes) {
    if (!isSaidByUser(history, index)) continue
    const text = yield* heardText(history, index)
    if (text.trim() !== '' && !machineMark.test(text)) texts.set(index, text)
    yield
  }
  const noted = yield* notedShares(history, [...texts.keys()], folded)
  const distinct = new Map<string, Said>()
  for (const [index, text] of texts) {
    const asked =
      folded.has(index - 1) && isTalk(history, index - 1) ? yield* replyText(history, index - 1) : ''
    const isAsked = lastQuestion(asked) !== null
    const isNoted = (noted.get(index) ?? 0) > 0
    const refersTo = (isAsked || isNoted) && asked !== '' ? referredIn(asked) : null
    const said = { index, text, isAsked, isNoted, refersTo }
    // "Yes" to one question is not "yes" to another. A longer message says by itself what it is about.
    distinct.set(
      `${keyOf(text, history.messages[index]?.facts.meaning ?? '')} ${isBare(text, said) ? (refersTo ?? '') : ''}`,
      said,
    )
    yield
  }
  const all = [...distinct.values()].sort((one, other) => one.index - other.index)
  const messages: UserMessage[] = []
  for (const [order, one] of all.entries()) {
    const gain =
      gains.first * 0.5 ** (order / 10) +
      gains.newest * 0.5 ** ((all.length - 1 - order) / 4) +
      gains.noted * (noted.get(one.index) ?? 0)
    const name = history.messages[one.index]?.facts.name ?? null
    const speaker = name === null ? '' : `${inLabel(name)}: `
    messages.push({ index: one.index, speaker, text: one.text, words: yield* piecesOf(one, gain) })
    yield
  }
  return messages
}

/**
 * @internal exported for tests. How much the reply to each of these messages looks like a word of assent, from 0 to 1:
 * "Understood." Who lays down a rule is told so; where an assistant begins every reply in that way it says nothing. By the
 * message's index.
 */
export function* notedShares(
  history: History,
  said: readonly number[],
  folded: ReadonlySet<number>,
): Pausable<ReadonlyMap<number, number>> {
  const replied = said.filter((index) => folded.has(index + 1) && isTalk(history, index + 1))
  const noted: number[] = []
  for (const index of replied) {
    if (beginsNoting(yield* replyText(history, index + 1))) noted.push(index)
    yield
  }
  const share = Math.max(0, 1 - (noted.length - 1) / Math.max(1, replied.length * HABIT_SHARE))
  return new Map(noted.map((index) => [index, share]))
}

/**
 * @internal exported for tests. Whether a reply begins with a sentence or a clause of a few words, whatever the language: "Got
 * it — two spaces."
 */
export function beginsNoting(reply: string): boolean {
  const beginning = reply.slice(0, NOTE_CHARS).replace(/^[\s*_#>"“]+/, '')
  const [clause = '', mark = ''] = /^([^.!,;:…。！，、؛،।\n—–]*)(.?)/u.exec(beginning)?.slice(1) ?? []
  return /[.!。！।—–]/u.test(mark) && /\p{L}/u.test(clause) && wordCount(clause) <= NOTE_WORDS
}

// --- internal ---

/** What messages gain by where they stand and what stands around them. */
const gains = {
  first: 3.5, // the first message of a user's; ten later half of it is left
  newest: 1, // four before it half of it
  noted: 2.2, // the reply to a rule begins with a word or two; that to a question goes on
  answers: 2, // an answer to a question of the assistant's
} as const

/** What counts for a sentence, and against it. */
const weights = {
  asksNothing: 1,
  asks: -3,
  quoted: -3, // a line that quotes somebody else
  tooShort: -0.5,
  short: 0.5,
  wordTooMany: -0.06,
} as const

/** What a sentence gains in a list by the line above that. */
const HEADING_SHARE = 0.5

/** Where so many replies begin with a word of assent, it is a habit. */
const HABIT_SHARE = 0.5
const NOTE_CHARS = 80
const NOTE_WORDS = 3

/** Up to here a message stands whole or not at all. */
const SHORT_CHARS_MAX = 120

/** An answer of more words says by itself what it is about; one that was noted laid something down. */
const BARE_WORDS_MAX = 6
const NOTED_WORDS_MAX = 12

/** So much of a message tells what it was, where no sentence of it is worth more. */
const BEGINNING_CHARS = 160
const BEGINNING_SCORE = -2

/** Nobody fills in more than this. */
const TEMPLATE_CHARS_MAX = 4_096

/** What agents without a tool role are known to put before what a tool printed, which they send as the user's words. */
const machineMark =
  /^\s*[<[(*#`]{0,3}\s?(?:observations?|(?:tool|execution|command|function|code|terminal|bash|shell)[ _-]?(?:results?|outputs?|responses?|stdout|stderr|calls?)|returncode|stdout|stderr|exit[ _]code|system-reminder|environment_details|environment_context)(?:\s*[:>\]]|[ \t]*(?:\n|$)| of \[)/i

/** A message of the user's as it was read, and whether the reply before it asks something. */
type Said = Pick<UserMessage, 'index' | 'text'> &
  Pick<UserWords, 'refersTo'> & { readonly isAsked: boolean; readonly isNoted: boolean }

/** What a message is known by: of what a program fills in with other numbers again and again, the newest is enough. */
function keyOf(text: string, meaning: string): string {
  const isTemplate = text.length > SHORT_CHARS_MAX && text.length <= TEMPLATE_CHARS_MAX
  return isTemplate ? text.replaceAll(/\d+/g, '0') : meaning
}

/** The text of a message, as far as a recap looks at it: what the client put between the user's words is not heard. */
function* heardText(history: History, index: number): Pausable<string> {
  const message = history.messages[index]
  return message === undefined ? '' : lookedAt(withoutReminders((yield* readMessage(history, message)).text))
}

/** The text of the reply that message `index` is a part of, in the same way. */
function* replyText(history: History, index: number): Pausable<string> {
  const { start, end } = replyAt(history, index)
  const texts: string[] = []
  for (let part = start; part < end; part += 1) texts.push(yield* heardText(history, part))
  return texts.filter((text) => text !== '').join('\n')
}

const asks = /[?？؟][!?"'”’»)\]*_\s]*$/

/** Whether it says so little that it needs what it answers beside it. */
function isBare(answer: string, { isNoted }: Pick<Said, 'isNoted'>): boolean {
  if (answer.length > SHORT_CHARS_MAX || asks.test(answer.slice(-EDGE_CHARS))) return false
  return wordCount(answer) <= (isNoted ? NOTED_WORDS_MAX : BARE_WORDS_MAX)
}

/** Marks of a list, a quote and a question stand in the first or last characters. */
const EDGE_CHARS = 8

function* piecesOf(said: Said, gain: number): Pausable<UserWords[]> {
  const { text, isAsked, refersTo } = said
  const pieces: UserWords[] = []
  let heading = 0
  const found = sentencesOf(text)
  // "2" and a thumb up are answers, too.
  const sentences =
    found.length > 0 || text.length > SHORT_CHARS_MAX ? found : [{ start: 0, end: text.length }]
  for (const [place, { start, end }] of sentences.entries()) {
    const sentence = text.slice(start, end)
    const isAsking = asks.test(sentence.slice(-EDGE_CHARS))
    const isQuoted = sentence.startsWith('>')
    const words = wordCount(sentence)
    const isItem = /^(?:[-*•–+]|\d{1,3}[.)])\s/.test(sentence)
    let score =
      (isAsking ? weights.asks : weights.asksNothing) +
      (isQuoted ? weights.quoted : 0) +
      (words < 3 ? weights.tooShort : words <= 25 ? weights.short : 0) +
      Math.max(0, words - 30) * weights.wordTooMany
    if (!isItem) heading = /[:：]\s*$/.test(sentence.slice(-EDGE_CHARS)) ? Math.max(0, score) : 0
    else score += HEADING_SHARE * heading
    if (place === 0 && isAsked && !isAsking) score = Math.max(0, score) + gains.answers
    const answered = place === 0 && isBare(sentence, said) ? refersTo : null
    pieces.push({ start, end, score: gain + score, laysDown: !isAsking && !isQuoted, refersTo: answered })
    yield
  }
  const [first, ...others] = pieces
  if (text.length <= SHORT_CHARS_MAX) {
    const score = Math.max(gain + BEGINNING_SCORE, ...pieces.map((one) => one.score))
    const laysDown = pieces.some((one) => one.laysDown)
    return [{ start: 0, end: text.length, score, laysDown, refersTo: first?.refersTo ?? null }]
  }
  if (first !== undefined && first.start < BEGINNING_CHARS)
    return [{ ...first, score: Math.max(first.score, BEGINNING_SCORE) }, ...others]
  const start = text.length - text.trimStart().length
  const end = Math.min(first?.start ?? text.length, start + BEGINNING_CHARS)
  return [{ start, end, score: BEGINNING_SCORE, laysDown: false, refersTo: null }, ...pieces]
}
