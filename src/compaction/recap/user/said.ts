import type { Steps } from '../../../conversation/source.ts'
import type { FoldedRun } from '../../layout.ts'
import { messageNumber } from '../../../subject/message-numbers.ts'
import { readMessage } from '../../../subject/read-message.ts'
import { isInstruction, isSaidByUser, isTalk, type Subject } from '../../../subject/subject.ts'
import { answersNote, chooseWords } from './choose-words.ts'
import { headings } from '../headings.ts'
import { userMessages, type UserMessage, type UserWords } from './user-words.ts'
import { evened, wordCount, wordsOf } from './words.ts'
import type { Writer } from '../writer.ts'

/** Distinct system messages among what was folded, newest first, so that an instruction is not lost with its place. */
export function* writeSystem(
  subject: Subject,
  indexes: readonly number[],
  folded: Pick<FoldedRun, 'systemTokensMax'>,
  writer: Writer,
): Steps<void> {
  const seen = new Set<string>()
  const before = writer.spentTokens()
  for (const [order, index] of indexes.toReversed().entries()) {
    if (order % MESSAGES_PER_STEP === 0) yield
    const message = subject.messages[index]
    if (message === undefined || !isInstruction(subject, index)) continue
    if (seen.has(message.facts.meaning)) continue
    seen.add(message.facts.meaning)
    const tokens = writer.spentTokens() - before + (subject.sizes[index] ?? 0)
    if (tokens > folded.systemTokensMax) return
    const { text } = yield* readMessage(subject, message)
    if (!(yield* writer.line(`${headings.system} ${text}`))) return
  }
}

/**
 * What the user said, word for word and in order: nothing else in a conversation is as hard to find again. All of
 * it while it fits its share; else what is likeliest to hold still, short messages whole, long ones by such sentences. Of
 * several on one subject the newest is marked. `areNamed`: whether what was cut says by which name it can be read back.
 */
export function* writeUsers(
  subject: Subject,
  indexes: readonly number[],
  folded: Pick<FoldedRun, 'tokensMax'>,
  writer: Writer,
  areNamed: boolean,
): Steps<void> {
  const talk = yield* talkShare(subject, indexes)
  const roomTokens = folded.tokensMax - writer.spentTokens() - subject.count(`\n${headings.users}`)
  const tokensMax = Math.floor(roomTokens * (RUN_SHARE + (CHAT_SHARE - RUN_SHARE) * talk))
  if (tokensMax < USER_TOKENS_MIN) return
  const messages = yield* userMessages(subject, indexes)
  const chosen = yield* chooseWords(subject, messages, {
    tokensMax,
    shown: oneLine,
    extraTokens: areNamed ? NAME_TOKENS : 0,
  })
  if (chosen.length === 0 || !(yield* writer.line(headings.users))) return
  const marked = yield* newestOnSubject(chosen)
  for (const message of chosen) {
    const newest = message.words.some((one) => marked.has(one)) ? NEWEST : ''
    const name = areNamed ? ` (${messageNumber(message.index, subject.structure.systemCount)})` : ''
    yield* writer.line(`- ${newest}${message.speaker}${excerpt(message, name)}`)
    yield
  }
}

// --- internal ---

/** Stands before the newest of several statements on one subject. */
const NEWEST = '(newest on this) '

/** The share of a recap that the user's words take in a chat, and in a run of calls, of which more is to be told. */
const CHAT_SHARE = 0.9
const RUN_SHARE = 0.5

/** Messages that are looked at between two pauses. */
const MESSAGES_PER_STEP = 4_096

/** Less than this of what was said says nothing. */
const USER_TOKENS_MIN = 16

/** The name of a message that was cut, about. */
const NAME_TOKENS = 5

/** How much of the messages is talk, and not calls and what they printed. */
function* talkShare(subject: Subject, indexes: readonly number[]): Steps<number> {
  let talkTokens = 0
  let allTokens = 0
  for (const [order, index] of indexes.entries()) {
    if (order % MESSAGES_PER_STEP === 0) yield
    const size = subject.sizes[index] ?? 0
    allTokens += size
    if (isTalk(subject, index) || isSaidByUser(subject, index)) talkTokens += size
  }
  return allTokens === 0 ? 1 : talkTokens / allTokens
}

/** A word that this many statements hold may still tell their subject, or this share of them. */
const HOLDERS_MIN = 3
const HOLDERS_SHARE = 0.1

/** Two statements are on one subject if they share this much of the shorter one, and so many words at least. */
const SHARED_MIN = 0.6
const SHARED_WORDS_MIN = 2

/** Who lays something down says it in no more words. */
const STATEMENT_WORDS_MAX = 30

/** Words that are shorter tell no subject; behind so many characters endings begin, in most languages. */
const WORD_CHARS_MIN = 4
const STEM_CHARS = 6

/**
 * Of the statements in these messages those that are the newest of several on one subject: they share most of the words of the
 * shorter one, of those that few others hold.
 */
function* newestOnSubject(messages: readonly UserMessage[]): Steps<Set<UserWords>> {
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
