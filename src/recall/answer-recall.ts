import type { Compacted } from '../compaction/compact.ts'
import { messageNumber } from '../compaction/history/message-numbers.ts'
import type { CountTokens, History } from '../compaction/history/history.ts'
import { sum } from '../conversation/sizes.ts'
import { atWhole } from '../compaction/passes/clip.ts'
import { textPasses, type TextTreatment } from '../compaction/passes/passes.ts'
import type { Pausable } from '../json/source.ts'
import { type MessageRun, readRecallQuery, type RecallQuery } from './recall-tool.ts'
import { searchMessages } from './search-messages.ts'
import { type LeftOut, leftOutOf, ownLine, type Pieces, segmentsOf, segmentText } from './segments.ts'

/** A conversation as the client sent it, and as the model sees it; `compacted` null where it sees all. */
export type RecallSource = { readonly history: History; readonly compacted: Compacted | null }

/**
 * The answer to a call of the recall tool: a page of at most `tokensMax` tokens of what was asked for, whatever the
 * arguments. It depends on what is held and asked for only; how large its pages are changes no word of it.
 */
export function* answerRecall(
  held: RecallSource,
  argumentsText: string,
  tokensMax: number,
): Pausable<string> {
  const query = readRecallQuery(argumentsText)
  const offset = query.kind === 'unclear' ? 0 : query.offset
  return yield* pageOf(answerTo(query, held), held.history, offset, tokensMax)
}

// --- internal ---

function answerTo(query: RecallQuery, { history, compacted }: RecallSource): RecallAnswer {
  switch (query.kind) {
    case 'list': {
      const leftOut = leftOutOf(history, compacted)
      return { pieces: lines(history, leftOut), hasEnd: leftOut.length > 0 }
    }
    case 'messages': {
      const hasEnd = query.runs.some(({ first, last }) => last >= 1 && first <= lastNumber(history))
      return { pieces: messageTexts(history, query.runs), hasEnd }
    }
    case 'search':
      return { pieces: searchMessages(history, leftOutOf(history, compacted), query), hasEnd: true }
    case 'unclear':
      return { pieces: explained(query.problem), hasEnd: false }
  }
}

function* explained(problem: string): Pieces {
  yield `${ownLine(`${problem}. {"messages":"#12-#20"} reads, {"search":"words"} finds, {} lists what was left out`)}\n`
}

/** What became of a message, in a model's words. */
const otherOutcomes = {
  folded: 'left out',
  dropped: 'left out',
  cleared: 'cleared',
  clipped: 'clipped',
  unloaded: 'without its media',
} as const satisfies Record<Exclude<LeftOut['how'], TextTreatment>, string>

const outcomes: Readonly<Record<string, string>> = {
  ...otherOutcomes,
  ...Object.fromEntries(textPasses.map(({ treatment, words }) => [treatment, words.recalled])),
}

/** Of a message's beginning: enough to tell it from others. */
const BEGINNING_CHARS = 80

const CALLS_SHOWN_MAX = 3

/**
 * The messages that are not in the view word for word, a line each: who speaks, what became of it, its size, and how
 * it begins. The newest first: what was lost last is what is missed first, and the first page shows it.
 */
function* lines(history: History, leftOut: readonly LeftOut[]): Pieces {
  if (leftOut.length === 0) {
    yield `${ownLine('nothing was left out: every message stands above word for word')}\n`
    return
  }
  const tokens = sum(leftOut.map(({ index }) => history.sizes[index] ?? 0))
  const { systemCount } = history.structure
  const oldest = messageNumber(leftOut[0]?.index ?? systemCount, systemCount)
  const what = `${leftOut.length} messages (from ${oldest} on, ${tokens} tokens) do not stand above word for word`
  yield `${ownLine(`${what}; newest first`)}\n`
  for (const { index, how } of leftOut.toReversed()) {
    const [first, ...rest] = yield* segmentsOf(history, index)
    if (first === undefined) continue
    // A label without the name, which stands before it on the line.
    const calls = rest
      .slice(0, CALLS_SHOWN_MAX)
      .map(({ label, text }) => ` ${label.slice(label.indexOf('['))} ${beginning(text)}`)
    const more = rest.length > CALLS_SHOWN_MAX ? ` and ${rest.length - CALLS_SHOWN_MAX} more` : ''
    const size = history.sizes[index] ?? 0
    yield `${first.label} ${outcomes[how] ?? how}, ${size} tokens: ${beginning(first.text)}${calls.join('')}${more}\n`
  }
}

function beginning(text: string): string {
  const line = text
    .slice(0, 2 * BEGINNING_CHARS)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const isAll = line.length <= BEGINNING_CHARS && text.length <= 2 * BEGINNING_CHARS
  return isAll ? line : `${line.slice(0, BEGINNING_CHARS).toWellFormed()}…`
}

/** Messages word for word, in their order, each of their texts under a label. */
function* messageTexts(history: History, asked: readonly MessageRun[]): Pieces {
  const last = lastNumber(history)
  if (asked.some((run) => run.first < 1 || run.last > last)) {
    const there = last === 0 ? 'there are no messages yet' : `there are only the messages #1-#${last}`
    yield `${ownLine(there)}\n`
  }
  for (const run of asked) {
    for (let number = Math.max(1, run.first); number <= Math.min(last, run.last); number += 1) {
      const segments = yield* segmentsOf(history, number - 1 + history.structure.systemCount)
      yield segments.map(segmentText).join('')
    }
  }
}

/** The number of the last message; 0 where there is none but the leading system block. */
function lastNumber({ messages, structure }: History): number {
  return messages.length - structure.systemCount
}

/** An answer of any length, made only as far as it is looked at. */
type RecallAnswer = {
  /** They end with a line break. */
  readonly pieces: Pieces
  /** Whether a line says that this was all. */
  readonly hasEnd: boolean
}

/**
 * As much of an answer as fits, from the character `offset` on, and a last line that says how to go on or that this was all. So
 * pages joined are the answer, whatever their sizes. A page ends with a line where one ends nearby, and never within a character.
 */
function* pageOf(
  { pieces, hasEnd }: RecallAnswer,
  { count, countSteps }: Pick<History, 'count' | 'countSteps'>,
  offset: number,
  tokensMax: number,
): Pausable<string> {
  const roomTokens = Math.min(tokensMax, PAGE_TOKENS_MAX)
  const { text, start, isRest } = yield* gathered(pieces, offset, roomTokens * GATHERED_CHARS)

  const lastLine = (end: number): string => {
    if (isRest && end === text.length) return hasEnd ? ownLine('that is all') : ''
    const cut = endsLine(text, end) ? '' : 'cut within a line; '
    return ownLine(`${cut}go on with the same arguments and "offset":${start + end}`)
  }
  for (let end = isRest ? text.length : cutBefore(text, text.length); ;) {
    const isAll = isRest && end === text.length
    if (!isAll && end < PAGE_CHARS_MIN) return noRoom(tokensMax, count)
    const page = text.slice(0, end) + (endsLine(text, end) ? '' : '\n') + lastLine(end)
    const tokens = yield* countSteps(page)
    if (tokens <= roomTokens) return page
    if (end === 0) return noRoom(tokensMax, count)
    yield
    // What stays is measured against what the text itself may take, or a long last line would be weighed as text.
    const lineTokens = count(lastLine(Math.max(0, end - 1)))
    const share = (roomTokens - lineTokens) / Math.max(1, tokens - lineTokens)
    end = cutBefore(text, Math.floor(end * Math.max(0, Math.min(share, SHRINK_MIN))))
  }
}

/** However large the window, no page takes more: counting blocks, and a model that wants so much reads on. */
const PAGE_TOKENS_MAX = 8_192

/** Characters that are made for each token of a page. Text has three or four; of what has more, pages are shorter. */
const GATHERED_CHARS = 6

/** A page with less of the text on it says nothing. */
const PAGE_CHARS_MIN = 40

/** Each try is smaller by at least this. */
const SHRINK_MIN = 0.97

/** A page ends with a line if that costs at most this share of it. */
const LINE_END_SHARE = 0.3

/** At most so many characters from the offset on. */
function* gathered(pieces: Pieces, offset: number, charsMax: number) {
  let made = 0
  let text = ''
  for (const piece of pieces) {
    yield
    if (typeof piece !== 'string') continue
    text += piece.slice(Math.max(0, offset - made))
    made += piece.length
    if (text.length > charsMax) break
  }
  const isRest = text.length <= charsMax
  const begin = /^[\udc00-\udfff]/.test(text) ? 1 : 0
  return {
    text: text.slice(begin, isRest ? text.length : atWhole(text, charsMax)),
    /** The character that the text begins with: the one behind the offset where that lies within a pair. */
    start: Math.min(offset, made) + begin,
    /** Whether nothing follows the text. */
    isRest,
  }
}

/** Where a page of at most so many characters ends. */
function cutBefore(text: string, chars: number): number {
  const lineEnd = chars <= 0 ? 0 : text.lastIndexOf('\n', chars - 1) + 1
  return lineEnd >= Math.max(PAGE_CHARS_MIN, chars * (1 - LINE_END_SHARE)) ? lineEnd : atWhole(text, chars)
}

function endsLine(text: string, end: number): boolean {
  return end === 0 || text.charAt(end - 1) === '\n'
}

function noRoom(tokensMax: number, count: CountTokens): string {
  const told = [ownLine('there is too little room left to show any of it'), ownLine('no room')]
  return told.find((line) => count(line) <= tokensMax) ?? ''
}
