import type { Pausable } from '../../../json/source.ts'
import { messageNumber } from '../../history/message-numbers.ts'
import { readMessage } from '../../history/read-message.ts'
import { sum } from '../../../conversation/sizes.ts'
import { isInstruction, isSaidByUser, isTalk, type History } from '../../history/history.ts'
import { headings, type Writer } from '../headings.ts'
import { type UserMessage, userMessages, type UserWords } from './sentence-worth.ts'
import { evened, runsTogether, wordCount, wordsOf } from './sentences.ts'
import { bestFirst } from '../names.ts'

/** Distinct system messages among what was folded, newest first, so that an instruction is not lost with its place. */
export function* writeSystem(
  history: History,
  indexes: readonly number[],
  tokensMax: number,
  writer: Writer,
): Pausable<void> {
  const seen = new Set<string>()
  const before = writer.spentTokens()
  for (const index of indexes.toReversed()) {
    yield
    const message = history.messages[index]
    if (message === undefined || !isInstruction(history, index)) continue
    if (seen.has(message.facts.meaning)) continue
    seen.add(message.facts.meaning)
    const tokens = writer.spentTokens() - before + (history.sizes[index] ?? 0)
    if (tokens > tokensMax) return
    const { text } = yield* readMessage(history, message)
    if (!(yield* writer.line(`${headings.system} ${text}`))) return
  }
}

/**
 * What the user said, word for word and in order: nothing else in a conversation is as hard to find again. All of
 * it while it fits its share; else what is likeliest to hold still, short messages whole, long ones by such sentences. Of
 * several on one history the newest is marked. `areNamed`: whether what was cut says by which name it can be read back.
 */
export function* writeUsers(
  history: History,
  indexes: readonly number[],
  allTokensMax: number,
  writer: Writer,
  areNamed: boolean,
): Pausable<void> {
  const talk = yield* talkShare(history, indexes)
  const roomTokens = allTokensMax - writer.spentTokens() - history.count(`\n${headings.users}`)
  const tokensMax = Math.floor(roomTokens * (RUN_SHARE + (CHAT_SHARE - RUN_SHARE) * talk))
  if (tokensMax < USER_TOKENS_MIN) return
  const messages = yield* userMessages(history, indexes)
  const chosen = yield* chooseWords(history, messages, tokensMax, areNamed ? NAME_TOKENS : 0)
  if (chosen.length === 0 || !(yield* writer.line(headings.users))) return
  const marked = yield* newestOnSubject(chosen)
  for (const message of chosen) {
    const newest = message.words.some((one) => marked.has(one)) ? NEWEST : ''
    const name = areNamed ? ` (${messageNumber(message.index, history.structure.systemCount)})` : ''
    yield* writer.line(`- ${newest}${message.speaker}${excerpt(message, name)}`)
    yield
  }
}

/**
 * @internal exported for tests. All of what the user said where it fits; else the pieces that matter most for their size, as
 * far as they do. Messages of which nothing is chosen are left out. `nameTokens`: what is written behind a message that was cut.
 */
export function* chooseWords(
  history: History,
  messages: readonly UserMessage[],
  tokensMax: number,
  nameTokens: number,
): Pausable<UserMessage[]> {
  const all = yield* wholeMessages(history, messages, tokensMax)
  if (all !== null) return all
  const taken = new Map<UserMessage, UserWords[]>()
  const texts = new Set<string>()
  let left = tokensMax
  let misses = 0
  for (const { message, words, tokensAbout } of yield* bestFirst(yield* candidatesOf(history, messages))) {
    if (misses >= MISSES_MAX || left < PIECE_TOKENS_MIN) break
    yield
    if (tokensAbout > left * ABOUT_TOO_MUCH) continue
    // The same answer to two questions is two answers, and so are the same words of two people.
    const written = oneLine(message.text.slice(words.start, words.end))
    const text = message.speaker + written + answersNote([words])
    if (texts.has(text)) continue
    const beside = taken.get(message) ?? []
    const named = beside.length === 0 ? nameTokens : 0
    const tokens = (yield* history.countSteps(`\n- ${text}`)) + CUT_TOKENS + named
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

// --- internal ---

/** What pieces of a message answer, as it stands behind them; '' where they answer nothing that has to be said. */
function answersNote(words: readonly UserWords[]): string {
  const refersTo = referenceIn(words)
  return refersTo === null ? '' : ` (answers: ${refersTo})`
}

/** Stands before the newest of several statements on one history. */
const NEWEST = '(newest on this) '

/** The share of a recap that the user's words take in a chat, and in a run of calls, of which more is to be told. */
const CHAT_SHARE = 0.9
const RUN_SHARE = 0.5

/** Less than this of what was said says nothing. */
const USER_TOKENS_MIN = 16

/** The name of a message that was cut, about. */
const NAME_TOKENS = 5

/** How much of the messages is talk, and not calls and what they printed. */
function* talkShare(history: History, indexes: readonly number[]): Pausable<number> {
  let talkTokens = 0
  let allTokens = 0
  for (const index of indexes) {
    yield
    const size = history.sizes[index] ?? 0
    allTokens += size
    if (isTalk(history, index) || isSaidByUser(history, index)) talkTokens += size
  }
  return allTokens === 0 ? 1 : talkTokens / allTokens
}

/** A word that this many statements hold may still tell their history, or this share of them. */
const HOLDERS_MIN = 3
const HOLDERS_SHARE = 0.1

/** Two statements are on one history if they share this much of the shorter one, and so many words at least. */
const SHARED_MIN = 0.6
const SHARED_WORDS_MIN = 2

/** Who lays something down says it in no more words. */
const STATEMENT_WORDS_MAX = 30

/** Words that are shorter tell no history; behind so many characters endings begin, in most languages. */
const WORD_CHARS_MIN = 4
const STEM_CHARS = 6

/**
 * Of the statements in these messages those that are the newest of several on one history: they share most of the words of the
 * shorter one, of those that few others hold.
 */
function* newestOnSubject(messages: readonly UserMessage[]): Pausable<Set<UserWords>> {
  const stated = messages.flatMap(({ speaker, text, words }) =>
    words
      .map((one) => ({ one, said: text.slice(one.start, one.end) }))
      .filter(({ one, said }) => one.laysDown && wordCount(said) <= STATEMENT_WORDS_MAX)
      .map(({ one, said }) => ({ one, speaker, words: subjectWords(said) })),
  )
  const holders = Map.groupBy(
    stated.flatMap(({ words }) => [...words]),
    (word) => word,
  )
  const few = Math.max(HOLDERS_MIN, stated.length * HOLDERS_SHARE)
  for (const [word, { length }] of holders)
    if (length > few) for (const { words } of stated) words.delete(word)
  const newest = new Set<UserWords>()
  const saidOf = new Map<string, number[]>()
  for (const [place, later] of stated.entries()) {
    const shared = new Map<number, number>()
    for (const word of later.words) {
      const earlier = saidOf.get(word) ?? []
      for (const other of earlier) shared.set(other, (shared.get(other) ?? 0) + 1)
      saidOf.set(word, [...earlier, place])
    }
    for (const [other, count] of shared) {
      const earlier = stated[other]
      // What one has laid down no other takes back.
      if (earlier === undefined || earlier.speaker !== later.speaker) continue
      const fewest = Math.min(later.words.size, earlier.words.size)
      if (count < Math.max(SHARED_WORDS_MIN, fewest * SHARED_MIN)) continue
      newest.delete(earlier.one)
      newest.add(later.one)
    }
    yield
  }
  return newest
}

/** What a statement may be about: its longer words without their endings; where words run together, pairs of characters. */
function subjectWords(text: string): Set<string> {
  const even = evened(text)
  const long = wordsOf(even).filter((word) => word.length >= WORD_CHARS_MIN && !/\p{Script=Han}/u.test(word))
  const pairs = even.matchAll(/(?=([\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]{2}))/gu)
  return new Set([...long.map((word) => word.slice(0, STEM_CHARS)), ...pairs.map(([, pair = '']) => pair)])
}

/** Pieces of a message in one line, with a mark wherever something is missing. */
function excerpt({ text, words }: UserMessage, name: string): string {
  let shown = ''
  let end = 0
  let isCut = false
  for (const one of words) {
    const isGap = text.slice(end, one.start).trim() !== ''
    isCut ||= isGap
    shown +=
      (isGap ? (shown === '' ? '… ' : ' … ') : shown === '' ? '' : ' ') +
      oneLine(text.slice(one.start, one.end))
    end = one.end
  }
  const isEndCut = text.slice(end).trim() !== ''
  return `${shown}${isEndCut ? '…' : ''}${isCut || isEndCut ? name : ''}${answersNote(words)}`
}

/** A text in one line, every other character as it was written. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, (blanks) => (blanks.length > 2 || /[\n\r]/.test(blanks) ? ' ' : blanks)).trim()
}

/** What does not fit is passed over, since something shorter may; after so many the share is full, as with so little left. */
const MISSES_MAX = 20
const PIECE_TOKENS_MIN = 6

/** The share of a message is no count: what is a little too large by it may still fit. */
const ABOUT_TOO_MUCH = 1.3

/** Marks of what was left out, and of what is the newest on its history. */
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

/**
 * The pieces with what they are worth. Who fills in a form over and over, or asks for the same with other names, lays down
 * no rule each time: what stands in the same words in many pieces loses by its share.
 */
function* candidatesOf(history: History, messages: readonly UserMessage[]) {
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
  const candidates = []
  for (const [place, { message, words }] of pieces.entries()) {
    const own = [...(runs[place] ?? [])]
    const often = own.filter((run) => (times.get(run) ?? 0) >= many).length
    const habit = HABIT * (often / Math.max(1, own.length)) ** 0.5
    const perCharacter = (history.sizes[message.index] ?? 0) / Math.max(1, message.text.length)
    // By its share of the message's characters: to rank by, not to count with.
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
  history: History,
  messages: readonly UserMessage[],
  tokensMax: number,
): Pausable<UserMessage[] | null> {
  let left = tokensMax
  if (sum(messages.map(({ index }) => history.sizes[index] ?? 0)) > left * ABOUT_TOO_MUCH) return null
  for (const { speaker, text, words } of messages) {
    left -= (yield* history.countSteps(`\n- ${speaker}${oneLine(text)}${answersNote(words)}`)) + CUT_TOKENS
    if (left < 0) return null
    yield
  }
  return messages.map((message) => {
    const { text, words } = message
    const laysDown = words.some((one) => one.laysDown)
    return {
      ...message,
      words: [{ start: 0, end: text.length, score: 0, laysDown, refersTo: referenceIn(words) }],
    }
  })
}

function referenceIn(words: readonly UserWords[]): string | null {
  return words.find(({ refersTo }) => refersTo !== null)?.refersTo ?? null
}
