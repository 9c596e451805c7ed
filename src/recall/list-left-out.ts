import { messageNumber } from '../subject/message-numbers.ts'
import type { Subject } from '../subject/subject.ts'
import type { LeftOut } from './left-out.ts'
import { ownLine } from './own-lines.ts'
import { pausing, type RecallAnswer } from './page.ts'
import { segmentsOf } from './segments.ts'

/**
 * The messages that are not in the view word for word, a line each: who speaks, what became of it, its size, and how
 * it begins. The newest first: what was lost last is what is missed first, and the first page shows it.
 */
export function listLeftOut(subject: Subject, leftOut: readonly LeftOut[]): RecallAnswer {
  return { pieces: lines(subject, leftOut), goOn: (offset) => ({ offset }), hasEnd: leftOut.length > 0 }
}

// --- internal ---

/** What became of a message, in a model's words. */
const outcomes = {
  folded: 'left out',
  dropped: 'left out',
  cleared: 'cleared',
  previewed: 'middle left out',
  clipped: 'clipped',
  rendered: 'terminal output tidied',
  unloaded: 'without its media',
} as const satisfies Record<LeftOut['how'], string>

/** Of a message's beginning: enough to tell it from others. */
const BEGINNING_CHARS = 80

const CALLS_SHOWN_MAX = 3

function* lines(subject: Subject, leftOut: readonly LeftOut[]): RecallAnswer['pieces'] {
  if (leftOut.length === 0) {
    yield `${ownLine('nothing was left out: every message stands above word for word')}\n`
    return
  }
  const tokens = leftOut.reduce((sum, { index }) => sum + (subject.sizes[index] ?? 0), 0)
  const { systemCount } = subject.structure
  const oldest = messageNumber(leftOut[0]?.index ?? systemCount, systemCount)
  const what = `${leftOut.length} messages (from ${oldest} on, ${tokens} tokens) do not stand above word for word`
  yield `${ownLine(`${what}; newest first`)}\n`
  for (const { index, how } of leftOut.toReversed()) {
    const [first, ...rest] = yield* pausing(segmentsOf(subject, index))
    if (first === undefined) continue
    const calls = rest
      .slice(0, CALLS_SHOWN_MAX)
      .map(({ label, text }) => ` ${tagOf(label)} ${beginning(text)}`)
    const more = rest.length > CALLS_SHOWN_MAX ? ` and ${rest.length - CALLS_SHOWN_MAX} more` : ''
    const size = subject.sizes[index] ?? 0
    yield `${first.label} ${outcomes[how]}, ${size} tokens: ${beginning(first.text)}${calls.join('')}${more}\n`
  }
}

/** A label without the name, which stands before it on the line. */
function tagOf(label: string): string {
  return label.slice(label.indexOf('['))
}

function beginning(text: string): string {
  const line = text
    .slice(0, 2 * BEGINNING_CHARS)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const isAll = line.length <= BEGINNING_CHARS && text.length <= 2 * BEGINNING_CHARS
  return isAll ? line : `${line.slice(0, BEGINNING_CHARS).toWellFormed()}…`
}
