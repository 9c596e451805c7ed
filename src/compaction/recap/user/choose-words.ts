import type { Steps } from '../../../conversation/source.ts'
import type { Subject } from '../../subject.ts'
import { bestFirst } from '../best-first.ts'
import { habitualShares } from './habits.ts'
import type { UserMessage, UserWords } from './user-words.ts'

export type ChoiceOptions = {
  readonly tokensMax: number
  /** How much of that may go to what is no directive, in tokens. */
  readonly othersTokensMax: number
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

  const candidates = yield* bestFirst(yield* candidatesOf(subject, messages))
  const taken = new Map<UserMessage, UserWords[]>()
  const texts = new Set<string>()
  let left = options.tokensMax
  let othersLeft = Math.min(left, options.othersTokensMax)
  let misses = 0
  for (const { message, words, tokensAbout } of candidates) {
    if (misses >= MISSES_MAX || left < PIECE_TOKENS_MIN) break
    yield
    const roomTokens = words.isDirective ? left : Math.min(left, othersLeft)
    if (tokensAbout > roomTokens * ABOUT_TOO_MUCH) continue
    // The same answer to two questions is two answers, and so are the same words of two people.
    const text =
      message.speaker + options.shown(message.text.slice(words.start, words.end)) + answersNote([words])
    if (texts.has(text)) continue
    const beside = taken.get(message)
    const tokens =
      (yield* subject.countSteps(`\n- ${text}`)) +
      (beside === undefined ? CUT_TOKENS + options.extraTokens : CUT_TOKENS)
    if (tokens > roomTokens) {
      misses += 1
      continue
    }
    left -= tokens
    if (!words.isDirective) othersLeft -= tokens
    texts.add(text)
    if (beside === undefined) taken.set(message, [words])
    else beside.push(words)
  }
  return [...taken]
    .map(([message, words]) => ({ ...message, words: words.sort((a, b) => a.start - b.start) }))
    .sort((a, b) => a.index - b.index)
}

/** What pieces of a message answer, as it stands behind them; '' where they answer nothing that has to be said. */
export function answersNote(words: readonly UserWords[]): string {
  const refersTo = words.find((one) => one.refersTo !== null)?.refersTo ?? null
  return refersTo === null ? '' : ` (answers: ${refersTo})`
}

// --- internal ---

/** What does not fit is passed over, since something shorter may; after so many the share is full. */
const MISSES_MAX = 20

/** Less than this says nothing. */
const PIECE_TOKENS_MIN = 6

/** The share of a message is no count: what is a little too large by it may still fit. */
const ABOUT_TOO_MUCH = 1.3

/** Marks of what was left out, and of what is the newest on its subject. */
const CUT_TOKENS = 3

/** What every token of a piece counts against it. */
const A_TOKEN = 0.06

/** What a piece loses that stands again and again in the same words. */
const HABIT = 3

type Candidate = {
  readonly message: UserMessage
  readonly words: UserWords
  /** By its share of the message's characters: to rank by, not to count with. */
  readonly tokensAbout: number
  readonly worth: number
}

function* candidatesOf(subject: Subject, messages: readonly UserMessage[]): Steps<Candidate[]> {
  const texts: string[] = []
  for (const { text, words } of messages) {
    for (const { start, end } of words) texts.push(text.slice(start, end))
    yield
  }
  const habitual = yield* habitualShares(texts)
  const candidates: Candidate[] = []
  for (const message of messages) {
    const perCharacter = (subject.sizes[message.index] ?? 0) / Math.max(1, message.text.length)
    for (const words of message.words) {
      const tokensAbout = (words.end - words.start) * perCharacter
      const worth = words.score - tokensAbout * A_TOKEN - HABIT * (habitual[candidates.length] ?? 0)
      candidates.push({ message, words, tokensAbout, worth })
      yield
    }
  }
  return candidates
}

/** All messages, none of them cut; null where they do not fit. */
function* wholeMessages(
  subject: Subject,
  messages: readonly UserMessage[],
  { tokensMax, othersTokensMax, shown }: ChoiceOptions,
): Steps<UserMessage[] | null> {
  const roomTokens = Math.min(tokensMax, othersTokensMax)
  const sizesAbout = messages.reduce((sum, { index }) => sum + (subject.sizes[index] ?? 0), 0)
  if (sizesAbout > roomTokens * ABOUT_TOO_MUCH) return null
  let left = roomTokens
  const all: UserMessage[] = []
  for (const message of messages) {
    const { text, words } = message
    left -=
      (yield* subject.countSteps(`\n- ${message.speaker}${shown(text)}${answersNote(words)}`)) + CUT_TOKENS
    if (left < 0) return null
    const whole = {
      start: 0,
      end: text.length,
      score: 0,
      isDirective: words.some((one) => one.isDirective),
      isCorrection: words.some((one) => one.isCorrection),
      refersTo: words.find((one) => one.refersTo !== null)?.refersTo ?? null,
    }
    all.push({ ...message, words: [whole] })
    yield
  }
  return all
}
