import { parseMessage } from '../../conversation/parse.ts'
import type { Steps } from '../../conversation/source.ts'
import type { FoldedRun } from '../layout.ts'
import type { Made, MadeCache } from '../made-cache.ts'
import { waterLevel } from '../passes/clip.ts'
import { renderTerminal } from '../passes/render.ts'
import { FOLD_VERSION } from '../stride.ts'
import { isSaidByUser, toolNameOf, type Subject } from '../subject.ts'
import { rankThings, type RankedThing } from './rank.ts'

/** The tags around a recap, by which a model and a later pass can tell it from the user's words. */
const RECAP_OPEN = '<conversation-recap>'
const RECAP_CLOSE = '</conversation-recap>'

/** What stands for folded messages where there is no room for more. */
export const BARE_MARK = '[earlier messages left out]'

/** Below this many tokens a recap's own words do not fit. */
export const RECAP_TOKENS_MIN = 64

/**
 * The recap of folded messages, made without a model: the system messages among them, what was done last,
 * and the specific things they name with the words around them, as far as the cap allows; what the
 * `visible` messages name too is left out. It depends on these messages only. A bare mark where there is no
 * room for words; its text is null where there is none even for that.
 */
export function* recapOf(
  subject: Subject,
  folded: FoldedRun,
  visible: readonly number[],
  cache: MadeCache,
): Steps<Made> {
  const indexes = foldedIndexes(folded)
  const key = recapKey(subject, indexes, visible, folded)
  const known = cache.get(key)
  if (known !== undefined) return known

  const writer = createWriter(subject, folded.tokensMax)
  const opening = `${RECAP_OPEN}\n${indexes.length} earlier messages were left out here to fit the context window.`
  if (!writer.open(opening, RECAP_CLOSE)) {
    const bare = bareMark(subject, folded.tokensMax)
    cache.set(key, bare)
    return bare
  }
  writeSystem(subject, indexes, folded, writer)
  writeUsers(subject, indexes, folded, writer)
  writeActivity(subject, indexes, folded, writer)
  const ranked = yield* rankThings(subject, indexes, visible, cache)
  writeThings(ranked, folded.tokensMax, writer)
  const text = writer.close()
  const made: Made = { text, tokens: subject.count(text) }
  cache.set(key, made)
  return made
}

// --- internal ---

function bareMark(subject: Subject, tokensMax: number): Made {
  const tokens = subject.count(BARE_MARK)
  return tokens <= tokensMax ? { text: BARE_MARK, tokens } : { text: null, tokens: 0 }
}

/** The share of a recap that the list of what was done last takes. */
const ACTIVITY_SHARE = 0.25
const ACTIVITY_LINES_MAX = 12

/** The share of a recap that the user's own words take. */
const USERS_SHARE = 0.4
const USER_CHARS_MAX = 1200
/** Less than this of a message says nothing. */
const USER_TOKENS_MIN = 16
/** The dash and the break of a line. */
const LINE_TOKENS = 2

/** An excerpt is a line that says what a message was about. */
const EXCERPT_CHARS = 160

type Writer = {
  readonly open: (opening: string, closing: string) => boolean
  /** Adds a line, made harmless, if it fits under the cap; false where it does not. */
  readonly line: (text: string) => boolean
  readonly spent: () => number
  readonly close: () => string
}

function createWriter(subject: Subject, tokensMax: number): Writer {
  const lines: string[] = []
  let closing = ''
  let spent = 0
  return {
    open: (openingLine, closingLine) => {
      closing = closingLine
      spent = subject.count(`${openingLine}\n${closingLine}`) + 1
      lines.push(openingLine)
      return spent <= tokensMax
    },
    line: (text) => {
      const line = withoutTags(text).replace(halfCharacter, '')
      const tokens = subject.count(`\n${line}`)
      if (spent + tokens > tokensMax) return false
      spent += tokens
      lines.push(line)
      return true
    },
    spent: () => spent,
    close: () => {
      // Byte-pair merges across a line's end could make the whole larger than its lines: then it loses its last ones.
      for (;;) {
        const text = `${lines.join('\n')}\n${closing}`
        if (lines.length <= 1 || subject.count(text) <= tokensMax) return text
        lines.pop()
      }
    },
  }
}

function foldedIndexes(folded: FoldedRun): number[] {
  const indexes: number[] = []
  for (let index = folded.start; index < folded.end; index += 1) {
    if (!folded.except.includes(index)) indexes.push(index)
  }
  return indexes
}

function recapKey(
  subject: Subject,
  indexes: readonly number[],
  visible: readonly number[],
  folded: FoldedRun,
): string {
  const hashesOf = (some: readonly number[]): string =>
    some.map((index) => subject.messages[index]?.facts.hash ?? '').join(' ')
  const hashes = `${hashesOf(indexes)}\n${hashesOf(visible)}`
  return `recap:${FOLD_VERSION}:${subject.memorySpace}:${folded.tokensMax}:${folded.systemTokensMax}:${subject.digest(hashes)}`
}

/** Distinct system messages among what was folded, newest first, so that an instruction is not lost with its place. */
function writeSystem(subject: Subject, indexes: readonly number[], folded: FoldedRun, writer: Writer): void {
  const seen = new Set<string>()
  const before = writer.spent()
  for (const index of indexes.toReversed()) {
    const message = subject.messages[index]
    if (message === undefined || (message.facts.role !== 'system' && message.facts.role !== 'developer'))
      continue
    if (seen.has(message.facts.meaning)) continue
    seen.add(message.facts.meaning)
    const line = `System message: ${textOf(subject, index)}`
    if (writer.spent() - before + (subject.sizes[index] ?? 0) > folded.systemTokensMax || !writer.line(line))
      return
  }
}

/**
 * What the user said: nothing else in a conversation is as hard to find again. Short messages stand whole,
 * long ones, which are mostly pasted, give way first; of very many the oldest.
 */
function writeUsers(subject: Subject, indexes: readonly number[], folded: FoldedRun, writer: Writer): void {
  const shareTokens = Math.floor(folded.tokensMax * USERS_SHARE)
  if (shareTokens < USER_TOKENS_MIN) return
  const said = indexes
    .filter((index) => isSaidByUser(subject, index))
    .slice(-Math.floor(shareTokens / USER_TOKENS_MIN))
    .map((index) => excerpt(textOf(subject, index), USER_CHARS_MAX))
    .filter((text) => text !== '')
  const sizes = said.map((text) => subject.count(text) + LINE_TOKENS)
  const level = waterLevel(sizes, shareTokens, USER_TOKENS_MIN)
  if (said.length === 0 || !writer.line('The user said:')) return
  for (const [position, text] of said.entries()) {
    const size = sizes[position] ?? 0
    const shown = size <= level ? text : excerpt(text, Math.floor((text.length * level) / size))
    if (!writer.line(`- ${shown}`)) return
  }
}

function writeActivity(
  subject: Subject,
  indexes: readonly number[],
  folded: FoldedRun,
  writer: Writer,
): void {
  const chosen: string[] = []
  let tokens = 0
  for (const index of indexes.toReversed()) {
    const line = activityLine(subject, index)
    if (line === '') continue
    tokens += subject.count(line) + 1
    if (chosen.length >= ACTIVITY_LINES_MAX || tokens > folded.tokensMax * ACTIVITY_SHARE) break
    chosen.push(line)
  }
  if (chosen.length === 0 || !writer.line('The last of what was done there:')) return
  for (const line of chosen.toReversed()) if (!writer.line(line)) return
}

function activityLine(subject: Subject, index: number): string {
  const message = subject.messages[index]
  if (message === undefined || (message.facts.role !== 'assistant' && message.facts.role !== 'tool'))
    return ''
  const { text, calls } = parseMessage(subject.source, message)
  if (message.facts.role === 'tool') {
    return `- ${toolNameOf(subject, index) || 'tool'} returned: ${excerpt(renderTerminal(text))}`
  }
  const called = calls.map((call) => `${call.name}(${excerpt(call.argumentsText)})`).join(', ')
  if (called !== '') return `- assistant called ${called}`
  return text === '' ? '' : `- assistant: ${excerpt(text)}`
}

/** First things with the words around them, then as many bare names as fit. */
function writeThings(ranked: readonly RankedThing[], tokensMax: number, writer: Writer): void {
  if (ranked.length === 0 || !writer.line('Named there:')) return
  const wordsUntil = writer.spent() + (tokensMax - writer.spent()) * WORDS_SHARE
  let written = writer.close()
  let misses = 0
  for (const thing of ranked) {
    if (misses >= MISSES_MAX) return
    if (written.includes(thing.name)) continue
    const line = writer.spent() < wordsUntil ? `- ${thing.words}` : thing.name
    if (writer.line(line)) written += `${line}\n`
    else misses += 1
  }
}

/** The share of the list of things that stands with its words. */
const WORDS_SHARE = 0.5

/** A line that does not fit is passed over, since a shorter one may; after so many the recap is full. */
const MISSES_MAX = 20

function textOf(subject: Subject, index: number): string {
  const message = subject.messages[index]
  return message === undefined ? '' : parseMessage(subject.source, message).text
}

/** A text's beginning, in one line. */
function excerpt(text: string, charsMax: number = EXCERPT_CHARS): string {
  const line = text
    .slice(0, charsMax * 2)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line
}

/** Text from the conversation cannot end the tag it stands in. */
function withoutTags(text: string): string {
  return text.replace(/<\/(?=conversation-)/gi, '<\\/')
}

/** A unit of a surrogate pair without the other: what a cut may leave, and what some servers refuse. */
const halfCharacter = /\p{Surrogate}/gu
