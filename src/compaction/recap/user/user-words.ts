import { z } from 'zod'
import { withoutReminders } from '../../../conversation/reminders.ts'
import type { Steps } from '../../../conversation/source.ts'
import type { MadeCache } from '../../made-cache.ts'
import { readMessage } from '../../read-message.ts'
import { isSaidByUser, isTalk, replyAt, type Subject } from '../../subject.ts'
import { inLabel } from '../headings.ts'
import { lookedAt } from '../looked-at.ts'
import { DIRECTIVE_SCORE, heardIn, type Heard } from './directive.ts'
import { formsIn } from './forms.ts'
import { lastQuestion, referredIn } from './referred.ts'
import type { Sentence } from './sentences.ts'
import wordLists from './word-lists.json' with { type: 'json' }
import { cellsOf, evened, wordCount } from './words.ts'

/** A piece of a user's message that may be written: a sentence, or all of a short message. */
export type UserWords = Sentence & {
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
  const distinct = new Map<string, Said>()
  for (const index of indexes) {
    if (!isSaidByUser(subject, index)) continue
    const one = yield* saidAt(subject, index, folded, cache)
    // "Yes" to one question is not "yes" to another. A longer message says by itself what it is about.
    const question = one.text.length <= SHORT_CHARS_MAX ? one.refersTo : null
    distinct.set(`${saidIn(one, subject.messages[index]?.facts.meaning ?? '')} ${question ?? ''}`, one)
    yield
  }
  const said = [...distinct.values()].sort((one, other) => one.index - other.index)
  const noted = yield* notedShares(
    subject,
    said.map(({ index }) => index),
    folded,
  )
  let order = 0
  return said.flatMap((one, place) => {
    const { index, text, isMachines } = one
    if (text.trim() === '') return []
    const gain = isMachines
      ? gains.machine
      : gains.first * 0.5 ** (order / 10) +
        gains.newest * 0.5 ** ((said.length - 1 - place) / 4) +
        gains.noted * (noted.get(index) ?? 0)
    if (!isMachines) order += 1
    const name = subject.messages[index]?.facts.name ?? null
    return { index, speaker: name === null ? '' : `${inLabel(name)}: `, text, words: piecesOf(one, gain) }
  })
}

/**
 * How much the reply to each of these messages looks like a word of assent, from 0 to 1: "Understood." Who lays down a
 * rule is told so; where an assistant begins every reply in that way it says nothing. By the message's index.
 *
 * @internal exported for tests
 */
export function* notedShares(
  subject: Subject,
  said: readonly number[],
  folded: ReadonlySet<number>,
): Steps<ReadonlyMap<number, number>> {
  const replied = said.filter((index) => folded.has(index + 1) && isTalk(subject, index + 1))
  const noted: number[] = []
  for (const index of replied) {
    if (beginsNoting(yield* replyText(subject, index + 1))) noted.push(index)
    yield
  }
  const share = Math.max(0, 1 - (noted.length - 1) / Math.max(1, replied.length * HABIT_SHARE))
  return new Map(noted.map((index) => [index, share]))
}

/**
 * Whether a reply begins with a word of assent, or with a sentence of a few words, whatever the language.
 *
 * @internal exported for tests
 */
export function beginsNoting(reply: string): boolean {
  const beginning = evened(reply.slice(0, NOTE_CHARS)).replace(/^[\s*_#>"“]+/, '')
  const [clause = '', mark = ''] = /^([^.!,;:…。！，、؛،।\n—–-]*)(.?)/u.exec(beginning)?.slice(1) ?? []
  if (assents.has(clause.trim())) return true
  return /[.!。！।]/u.test(mark) && /\p{L}/u.test(clause) && wordCount(clause) <= NOTE_WORDS
}

// --- internal ---

/** What a message is known by: of what a program fills in with other numbers again and again, the newest is enough. */
function saidIn({ text }: Said, meaning: string): string {
  const isTemplate = text.length > SHORT_CHARS_MAX && text.length <= TEMPLATE_CHARS_MAX
  return isTemplate ? text.replaceAll(/\d+/g, '0') : meaning
}

/** Nobody fills in more than this. */
const TEMPLATE_CHARS_MAX = 4_096

/** What messages gain by where they stand and what stands around them. */
const gains = {
  first: 3.5, // the first message of a user's; ten later half of it is left
  newest: 1, // four before it half of it
  noted: 2.2, // the reply to a rule begins with a word or two; that to a question goes on
  answers: 2, // a short answer to a question of the assistant's
  machine: -2, // what is printed speaks of rules, too: it has to look like one beyond doubt
} as const

/** Where so many replies begin with a word of assent, it is a habit. */
const HABIT_SHARE = 0.5
const NOTE_CHARS = 80
const NOTE_WORDS = 3

/** Up to here a message stands whole or not at all, and an answer does not say by itself what it is about. */
const SHORT_CHARS_MAX = 120

/** So much of a message tells what it was, where no sentence of it is worth more. */
const BEGINNING_CHARS = 160
const BEGINNING_SCORE = -2

/** What one says who takes note of something. */
const assents: ReadonlySet<string> = new Set(cellsOf(wordLists.assents).map(evened))

/** What agents without a tool role are known to put before what a tool printed, which they send as the user's words. */
const machineMark =
  /^\s*[<[(*#`]{0,3}\s?(?:observations?|(?:tool|execution|command|function|code|terminal|bash|shell)[ _-]?(?:results?|outputs?|responses?|stdout|stderr|calls?)|returncode|stdout|stderr|exit[ _]code|system-reminder|environment_details|environment_context)\b/i

/** A message of the user's as it was read. */
type Said = {
  readonly index: number
  readonly text: string
  readonly heard: readonly Heard[]
  readonly isMachines: boolean
  /** Whether the reply before it asks something. */
  readonly isAsked: boolean
  readonly refersTo: string | null
}

/** A message, and what it answers: the reply before it, where that makes no calls and is not in view. */
function* saidAt(
  subject: Subject,
  index: number,
  folded: ReadonlySet<number>,
  cache: MadeCache,
): Steps<Said> {
  const text = yield* heardText(subject, index)
  const heard = yield* rememberedHeard(subject, index, text, cache)
  const isMachines = machineMark.test(text)
  const isReply = !isMachines && folded.has(index - 1) && isTalk(subject, index - 1)
  const asked = isReply ? yield* replyText(subject, index - 1) : ''
  const [first] = heard
  // A short message answers with all of it, unless it goes on to ask; else its first sentence does.
  const isAll = first === undefined || (text.length <= SHORT_CHARS_MAX && !asks.test(text))
  const answer = isAll ? text : text.slice(first.start, first.end)
  const isAnswer = isReply && answer.length <= SHORT_CHARS_MAX && !asks.test(answer)
  const isAgreed = (first?.score ?? 0) >= DIRECTIVE_SCORE && formsIn(answer).kinds.has('agreement')
  const refersTo = isAnswer ? referredIn(answer, asked, isAgreed) : null
  return { index, text, heard, isMachines, isAsked: lastQuestion(asked) !== null, refersTo }
}

const asks = /[?？؟]\s*$/

/** The text of a message, as far as a recap looks at it: what the client put between the user's words is not heard. */
function* heardText(subject: Subject, index: number): Steps<string> {
  const message = subject.messages[index]
  return message === undefined ? '' : lookedAt(withoutReminders((yield* readMessage(subject, message)).text))
}

/** The text of the reply that message `index` is a part of, in the same way. */
function* replyText(subject: Subject, index: number): Steps<string> {
  const { start, end } = replyAt(subject, index)
  const texts: string[] = []
  for (let part = start; part < end; part += 1) texts.push(yield* heardText(subject, part))
  return texts.filter((text) => text !== '').join('\n')
}

const heardSchema = z.array(
  z.object({
    start: z.int(),
    end: z.int(),
    score: z.number(),
    isCorrection: z.boolean(),
    isAsking: z.boolean(),
  }),
)

/** The sentences of a user's message, each judged. Found once for each message. */
function* rememberedHeard(
  subject: Subject,
  index: number,
  text: string,
  cache: MadeCache,
): Steps<readonly Heard[]> {
  const key = `heard:${subject.memorySpace}:${subject.messages[index]?.facts.hash}`
  const known = cache.get(key)?.text ?? null
  if (known !== null) return heardSchema.parse(JSON.parse(known))
  const heard = yield* heardIn(text)
  cache.set(key, { text: JSON.stringify(heard), tokens: 0, how: null })
  return heard
}

function piecesOf({ text, heard, isMachines, isAsked, refersTo }: Said, gain: number): UserWords[] {
  const answers = isAsked && heard[0]?.isAsking === false
  /** The first piece answers. What it tells is what was asked for. */
  const piece = (place: Heard, isFirst: boolean): UserWords => {
    const { start, end, score, isCorrection } = place
    const answered = isFirst ? refersTo : null
    const isDirective = score >= DIRECTIVE_SCORE || answered !== null
    const worth = isFirst && answers ? Math.max(0, score) + gains.answers : score
    return { start, end, score: gain + worth, isDirective, isCorrection, refersTo: answered }
  }
  if (text.length <= SHORT_CHARS_MAX && !isMachines) {
    const score = Math.max(BEGINNING_SCORE, ...heard.map((one) => one.score))
    const isCorrection = heard.some((one) => one.isCorrection)
    return [piece({ start: 0, end: text.length, score, isCorrection, isAsking: false }, true)]
  }
  const pieces = heard.map((one, place) => piece(one, place === 0))
  if (isMachines) return pieces.filter(({ isDirective }) => isDirective)
  const [first, ...others] = pieces
  if (first !== undefined && first.start < BEGINNING_CHARS)
    return [{ ...first, score: Math.max(first.score, BEGINNING_SCORE) }, ...others]
  const start = text.length - text.trimStart().length
  const end = Math.min(first?.start ?? text.length, start + BEGINNING_CHARS)
  const nothing = { isDirective: false, isCorrection: false, refersTo: null }
  return [{ start, end, score: BEGINNING_SCORE, ...nothing }, ...pieces]
}
