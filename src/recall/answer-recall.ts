import type { Compacted } from '../compaction/compact.ts'
import { messageNumber } from '../compaction/history/message-numbers.ts'
import type { History } from '../compaction/history/history.ts'
import { sum } from '../conversation/sizes.ts'
import { textPasses, type TextTreatment } from '../compaction/passes/passes.ts'
import type { Pausable } from '../json/source.ts'
import { pageOf, type Pieces, type RecallAnswer } from './page.ts'
import { type MessageRun, readRecallQuery, type RecallQuery } from './recall-query.ts'
import { searchMessages } from './search-messages.ts'
import { type LeftOut, leftOutOf, ownLine, segmentsOf, segmentText } from './segments.ts'

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
