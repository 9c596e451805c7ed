import type { Steps } from '../../../conversation/source.ts'
import type { MadeCache } from '../../made-cache.ts'
import { isSaidByUser, isTalk, type Subject } from '../../subject.ts'
import { inLabel } from '../headings.ts'
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
  /** Whose words they are, as it is written before them; '' where the message bears no name. */
  readonly speaker: string
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
  const byMachine = yield* machineWritten(said.map(({ text }) => text))
  const saidAt = said.map(({ index }) => index)
  const noted = yield* notedShares(subject, saidAt, folded, cache)
  const messages: UserMessage[] = []
  let order = 0
  for (const [place, one] of said.entries()) {
    yield
    const { index, text } = one
    if (text.trim() === '') continue
    const isMachines = byMachine[place] === true
    const gain = isMachines
      ? MACHINE
      : EARLY * 0.5 ** (order / EARLY_HALF) +
        LATE * 0.5 ** ((said.length - 1 - place) / LATE_HALF) +
        NOTED * (noted.get(index) ?? 0)
    const answered = isMachines ? null : yield* answeredBy(subject, one, folded)
    const name = subject.messages[index]?.facts.name ?? null
    const speaker = name === null ? '' : `${inLabel(name)}: `
    messages.push({ index, speaker, text, words: wordsOf(one, gain, isMachines, answered) })
    if (!isMachines) order += 1
  }
  return messages
}

// --- internal ---

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

/** A message of the user's as it was read. */
type Said = { readonly index: number; readonly text: string; readonly heard: readonly Heard[] }

/** What an answer answers. */
type Answered = { readonly isAsked: boolean; readonly refersTo: string | null }

/** The user's messages, of those that say the same in answer to the same the newest one. */
function* distinctSaid(
  subject: Subject,
  indexes: readonly number[],
  folded: ReadonlySet<number>,
  cache: MadeCache,
): Steps<Said[]> {
  const saidAt = indexes.filter((index) => isSaidByUser(subject, index))
  const meanings = saidAt.map((index) => subject.messages[index]?.facts.meaning ?? '')
  const times = Map.groupBy(meanings, (meaning) => meaning)
  const distinct = new Map<string, Said>()
  for (const [order, index] of saidAt.entries()) {
    yield
    const text = yield* heardText(subject, index)
    const one = { index, text, heard: yield* heardIn(subject, index, text, cache) }
    let key = meanings[order] ?? ''
    // "Yes" to one question is not "yes" to another. A longer message says by itself what it is about.
    const isAnswer = text.length <= ANSWER_CHARS_MAX && folded.has(index - 1)
    if (isAnswer && (times.get(key)?.length ?? 0) > 1)
      key += ` ${(yield* answeredBy(subject, one, folded))?.refersTo ?? ''}`
    distinct.set(key, one)
  }
  return [...distinct.values()].sort((a, b) => a.index - b.index)
}

function wordsOf(
  { text, heard }: Said,
  gain: number,
  isMachines: boolean,
  answered: Answered | null,
): UserWords[] {
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

/** What a message answers: the reply before it, where that makes no calls and is not in view. */
function* answeredBy(
  subject: Subject,
  { index, text, heard }: Said,
  folded: ReadonlySet<number>,
): Steps<Answered | null> {
  if (!folded.has(index - 1) || !isTalk(subject, index - 1)) return null
  const answer = answerIn(text, heard)
  const asked = yield* replyText(subject, index - 1)
  const isLong = answer.length > ANSWER_CHARS_MAX || asks.test(answer)
  const isAgreed = (heard[0]?.score ?? 0) >= DIRECTIVE_SCORE && formsIn(answer).kinds.has('agreement')
  return {
    isAsked: lastQuestion(asked) !== null,
    refersTo: isLong ? null : referredIn(answer, asked, isAgreed),
  }
}
