import type { Steps } from '../../../conversation/source.ts'
import type { MadeCache } from '../../made-cache.ts'
import { isSaidByUser, isTalk, type Subject } from '../../subject.ts'
import { DIRECTIVE_SCORE } from './directive.ts'
import { formsIn } from './forms/match.ts'
import { heardIn, heardText, replyText, type Heard } from './heard.ts'
import { machineWritten } from './machine-output.ts'
import { notedShares } from './noted.ts'
import { lastQuestion, referredIn } from './referred.ts'

/** A piece of a user's message that may be written: a sentence, or all of a short message. */
export type UserWords = {
  /** Where it stands in the message's text. */
  readonly start: number
  readonly end: number
  /** How much it looks like something that is to hold later on. */
  readonly score: number
  readonly isDirective: boolean
  readonly isCorrection: boolean
  /** What it answers, where it is a short answer; else null. */
  readonly refersTo: string | null
}

/** What a user said in one message. */
export type UserMessage = {
  readonly index: number
  readonly text: string
  /** In the order in which they stand there. */
  readonly words: readonly UserWords[]
}

/**
 * What the user said in these messages, each distinct one once, at its newest place (the same answer to two questions
 * twice), cut into pieces that are judged one by one: by their form, and by what stands around them. Rules are laid down
 * early, they answer a question, and are answered in a word, such as "noted". What a program wrote counts less.
 */
export function* userMessages(
  subject: Subject,
  indexes: readonly number[],
  cache: MadeCache,
): Steps<UserMessage[]> {
  const folded = new Set(indexes)
  const said = yield* distinctSaid(subject, indexes, folded, cache)
  const texts: string[] = []
  for (const index of said) {
    texts.push(yield* heardText(subject, index))
    if (texts.length % TEXTS_PER_STEP === 0) yield
  }
  const byMachine = yield* machineWritten(texts)
  const noted = yield* notedShares(subject, said, folded, cache)
  const messages: UserMessage[] = []
  let order = 0
  for (const [place, index] of said.entries()) {
    const text = texts[place] ?? ''
    if (text.trim() === '') continue
    const heard = yield* heardIn(subject, index, text, cache)
    const isMachines = byMachine[place] === true
    const gain = isMachines
      ? MACHINE
      : EARLY * 0.5 ** (order / EARLY_HALF) +
        LATE * 0.5 ** ((said.length - 1 - place) / LATE_HALF) +
        NOTED * (noted.get(index) ?? 0)
    const answered =
      isMachines || !folded.has(index - 1)
        ? null
        : yield* answeredBy(subject, index, answerIn(text, heard), heard)
    messages.push({ index, text, words: wordsOf({ text, heard, gain, isMachines, answered }) })
    if (!isMachines) order += 1
    yield
  }
  return messages
}

// --- internal ---

const TEXTS_PER_STEP = 64

/** Messages of which only the meaning is looked at between two pauses: less than a millisecond. */
const SAID_PER_STEP = 1_024

/** What the first message of a user's gains; a few messages later half of it is left. */
const EARLY = 3.5
const EARLY_HALF = 10

/** What the newest one gains. */
const LATE = 1
const LATE_HALF = 4

/** The reply to a rule begins with a word or two; that to a question goes on. */
const NOTED = 2.2

/** What a short answer to a question of the assistant's gains. */
const ANSWERED = 2

/** What is printed speaks of rules, too: it has to look like one beyond doubt. */
const MACHINE = -2

/** Up to here a message stands whole or not at all. */
const SHORT_CHARS_MAX = 120

/** A longer answer says by itself what it is about. */
const ANSWER_CHARS_MAX = 120

/** So much of a message tells what it was, where no sentence of it is worth more. */
const BEGINNING_CHARS = 160
const BEGINNING_SCORE = -2

/** The user's messages, of those that say the same in answer to the same the newest one. */
function* distinctSaid(
  subject: Subject,
  indexes: readonly number[],
  folded: ReadonlySet<number>,
  cache: MadeCache,
): Steps<number[]> {
  const said = indexes.filter((index) => isSaidByUser(subject, index))
  const meaningOf = (index: number): string => subject.messages[index]?.facts.meaning ?? ''
  const times = new Map<string, number>()
  for (const [order, index] of said.entries()) {
    times.set(meaningOf(index), (times.get(meaningOf(index)) ?? 0) + 1)
    if (order % SAID_PER_STEP === SAID_PER_STEP - 1) yield
  }
  const distinct = new Map<string, number>()
  for (const [order, index] of said.entries()) {
    if (order % SAID_PER_STEP === SAID_PER_STEP - 1) yield
    let key = meaningOf(index)
    if ((times.get(key) ?? 0) > 1 && folded.has(index - 1)) {
      const text = yield* heardText(subject, index)
      // "Yes" to one question is not "yes" to another. A longer message says by itself what it is about.
      if (text.length <= ANSWER_CHARS_MAX) {
        const heard = yield* heardIn(subject, index, text, cache)
        key += ` ${(yield* answeredBy(subject, index, answerIn(text, heard), heard))?.refersTo ?? ''}`
      }
      yield
    }
    distinct.set(key, index)
  }
  return [...distinct.values()].sort((a, b) => a - b)
}

type Judged = {
  readonly text: string
  readonly heard: readonly Heard[]
  readonly gain: number
  readonly isMachines: boolean
  /** What the message before it asks or offers, where it is an answer; else null. */
  readonly answered: { readonly isAsked: boolean; readonly refersTo: string | null } | null
}

function wordsOf({ text, heard, gain, isMachines, answered }: Judged): UserWords[] {
  const refersTo = answered?.refersTo ?? null
  const answers = answered?.isAsked === true && heard[0]?.isAsking === false
  const best = Math.max(BEGINNING_SCORE, ...heard.map(({ score }) => score))
  if (text.length <= SHORT_CHARS_MAX && !isMachines) {
    const score = gain + (answers ? Math.max(0, best) + ANSWERED : best)
    const isDirective = best >= DIRECTIVE_SCORE || refersTo !== null
    const isCorrection = heard.some((sentence) => sentence.isCorrection)
    return [{ start: 0, end: text.length, score, isDirective, isCorrection, refersTo }]
  }
  const words = heard.map(({ start, end, score, isCorrection }, position) => ({
    refersTo: position === 0 ? refersTo : null,
    start,
    end,
    // Of a longer message the first sentence answers. What it tells is what was asked for.
    score: gain + (position === 0 && answers ? Math.max(0, score) + ANSWERED : score),
    isDirective: score >= DIRECTIVE_SCORE || (position === 0 && refersTo !== null),
    isCorrection,
  }))
  if (isMachines) return words.filter(({ isDirective }) => isDirective)
  const [first] = words
  if (first !== undefined && first.start < BEGINNING_CHARS)
    return [{ ...first, score: Math.max(first.score, BEGINNING_SCORE) }, ...words.slice(1)]
  const start = text.length - text.trimStart().length
  const end = Math.min(first?.start ?? text.length, start + BEGINNING_CHARS)
  const nothing = { isDirective: false, isCorrection: false, refersTo: null }
  return [{ start, end, score: BEGINNING_SCORE, ...nothing }, ...words]
}

/** What of a message answers: a short one all of it, unless it goes on to ask; else its first sentence. */
function answerIn(text: string, [first]: readonly Heard[]): string {
  const isAll = text.length <= ANSWER_CHARS_MAX && !asks.test(text)
  return isAll || first === undefined ? text : text.slice(first.start, first.end)
}

const asks = /[?？؟]\s*$/

/** What an answer answers: the reply before it, where that makes no calls. */
function* answeredBy(
  subject: Subject,
  index: number,
  answer: string,
  [first]: readonly Heard[],
): Steps<Judged['answered']> {
  if (!isTalk(subject, index - 1)) return null
  const asked = yield* replyText(subject, index - 1)
  const isLong = answer.length > ANSWER_CHARS_MAX || asks.test(answer)
  const isAgreed = (first?.score ?? 0) >= DIRECTIVE_SCORE && formsIn(answer).kinds.has('agreement')
  return {
    isAsked: lastQuestion(asked) !== null,
    refersTo: isLong ? null : referredIn(answer, asked, isAgreed),
  }
}
