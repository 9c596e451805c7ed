import type { Steps } from '../../../conversation/source.ts'
import type { Subject } from '../../../subject/subject.ts'
import { bestFirst } from '../best-first.ts'
import type { UserMessage, UserWords } from './user-words.ts'
import { evened, runsTogether, wordsOf } from './words.ts'

type ChoiceOptions = {
  readonly tokensMax: number
  /** A piece as it will be written. */
  readonly shown: (text: string) => string
  /** What is written behind a message that was cut, in tokens. */
  readonly extraTokens: number
}

/**
 * All of what the user said where it fits; else the pieces that matter most for their size, as far as they do. Messages of
 * which nothing is chosen are left out.
 */
export function* chooseWords(
  subject: Subject,
  messages: readonly UserMessage[],
  options: ChoiceOptions,
): Steps<UserMessage[]> {
  const all = yield* wholeMessages(subject, messages, options)
  if (all !== null) return all
  const taken = new Map<UserMessage, UserWords[]>()
  const texts = new Set<string>()
  let left = options.tokensMax
  let misses = 0
  for (const { message, words, tokensAbout } of yield* bestFirst(yield* candidatesOf(subject, messages))) {
    if (misses >= MISSES_MAX || left < PIECE_TOKENS_MIN) break
    yield
    if (tokensAbout > left * ABOUT_TOO_MUCH) continue
    // The same answer to two questions is two answers, and so are the same words of two people.
    const written = options.shown(message.text.slice(words.start, words.end))
    const text = message.speaker + written + answersNote([words])
    if (texts.has(text)) continue
    const beside = taken.get(message) ?? []
    const tokens =
      (yield* subject.countSteps(`\n- ${text}`)) +
      CUT_TOKENS +
      (beside.length === 0 ? options.extraTokens : 0)
    if (tokens > left) {
      misses += 1
      continue
    }
    left -= tokens
    texts.add(text)
    taken.set(message, [...beside, words])
  }
  return [...taken]
    .map(([message, words]) => ({ ...message, words: words.sort((one, other) => one.start - other.start) }))
    .sort((one, other) => one.index - other.index)
}

/** What pieces of a message answer, as it stands behind them; '' where they answer nothing that has to be said. */
export function answersNote(words: readonly UserWords[]): string {
  const refersTo = referenceIn(words)
  return refersTo === null ? '' : ` (answers: ${refersTo})`
}

// --- internal ---

/** What does not fit is passed over, since something shorter may; after so many the share is full, as with so little left. */
const MISSES_MAX = 20
const PIECE_TOKENS_MIN = 6

/** The share of a message is no count: what is a little too large by it may still fit. */
const ABOUT_TOO_MUCH = 1.3

/** Marks of what was left out, and of what is the newest on its subject. */
const CUT_TOKENS = 3

/** What every token of a piece counts against it. */
const A_TOKEN = 0.06

/** What a piece loses that stands in the same words in so many pieces, or in so many of very many. */
const HABIT = 3
const HABIT_TIMES = 4
const HABIT_PIECES_SHARE = 0.01

/** Runs of so many words are compared, where words run together of characters, at the beginning of a piece. */
const RUN_WORDS = 3
const RUN_CHARS = 5
const BEGINNING_CHARS = 400

type Candidate = {
  readonly message: UserMessage
  readonly words: UserWords
  /** By its share of the message's characters: to rank by, not to count with. */
  readonly tokensAbout: number
  readonly worth: number
}

/**
 * The pieces with what they are worth. Who fills in a form over and over, or asks for the same with other names, lays down
 * no rule each time: what stands in the same words in many pieces loses by its share.
 */
function* candidatesOf(subject: Subject, messages: readonly UserMessage[]): Steps<Candidate[]> {
  const pieces = messages.flatMap((message) => message.words.map((words) => ({ message, words })))
  const runs: ReadonlySet<string>[] = []
  const times = new Map<string, number>()
  for (const { message, words } of pieces) {
    const own = runsOf(message.text.slice(words.start, Math.min(words.end, words.start + BEGINNING_CHARS)))
    for (const run of own) times.set(run, (times.get(run) ?? 0) + 1)
    runs.push(own)
    yield
  }
  const many = Math.max(HABIT_TIMES, pieces.length * HABIT_PIECES_SHARE)
  const candidates: Candidate[] = []
  for (const [place, { message, words }] of pieces.entries()) {
    const own = [...(runs[place] ?? [])]
    const often = own.filter((run) => (times.get(run) ?? 0) >= many).length
    const habit = HABIT * (often / Math.max(1, own.length)) ** 0.5
    const perCharacter = (subject.sizes[message.index] ?? 0) / Math.max(1, message.text.length)
    const tokensAbout = (words.end - words.start) * perCharacter
    candidates.push({ message, words, tokensAbout, worth: words.score - tokensAbout * A_TOKEN - habit })
    yield
  }
  return candidates
}

/** Numbers count as the same word. */
function runsOf(piece: string): Set<string> {
  const text = evened(piece).replace(/\d+/g, '0')
  const isUnspaced = runsTogether.test(text)
  const parts = isUnspaced ? text.replace(/[\s\d\p{P}]/gu, '').split('') : wordsOf(text)
  const length = isUnspaced ? RUN_CHARS : RUN_WORDS
  const starts = parts.slice(length - 1).keys()
  return new Set(starts.map((start) => parts.slice(start, start + length).join(' ')))
}

/** All messages, none of them cut; null where they do not fit. */
function* wholeMessages(
  subject: Subject,
  messages: readonly UserMessage[],
  { tokensMax, shown }: ChoiceOptions,
): Steps<UserMessage[] | null> {
  let left = tokensMax
  const sizesAbout = messages.reduce((sum, { index }) => sum + (subject.sizes[index] ?? 0), 0)
  if (sizesAbout > left * ABOUT_TOO_MUCH) return null
  for (const { speaker, text, words } of messages) {
    left -= (yield* subject.countSteps(`\n- ${speaker}${shown(text)}${answersNote(words)}`)) + CUT_TOKENS
    if (left < 0) return null
    yield
  }
  return messages.map((message) => ({ ...message, words: [wholeOf(message)] }))
}

function wholeOf({ text, words }: UserMessage): UserWords {
  const laysDown = words.some((one) => one.laysDown)
  return { start: 0, end: text.length, score: 0, laysDown, refersTo: referenceIn(words) }
}

function referenceIn(words: readonly UserWords[]): string | null {
  return words.find(({ refersTo }) => refersTo !== null)?.refersTo ?? null
}
