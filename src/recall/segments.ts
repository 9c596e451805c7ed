import { resolvedText } from '../compaction/history/calls/find-references.ts'
import { messageNumber } from '../compaction/history/message-numbers.ts'
import { readMessage } from '../compaction/history/read-message.ts'
import { labels, speakerLabel } from '../compaction/recap/headings.ts'
import type { History } from '../compaction/history/history.ts'
import { mediaMarks } from '../conversation/message.ts'
import type { Pausable } from '../json/source.ts'
import type { Compacted } from '../compaction/compact.ts'
import type { MadeHow } from '../compaction/made-cache.ts'
import { outlineOf } from '../compaction/outline.ts'

/** A text of a message as it is read back: what it says, or what it hands to a tool. */
export type Segment = {
  /** The line above it, which names the message. */
  readonly label: string
  /** The tool that is called; null where the message speaks itself. */
  readonly calls: string | null
  /** As the client sent it, but that no line passes for one of ours; of a result that refers to another the text of that. */
  readonly text: string
}

/** A text in pieces, the same each time; without one it pauses. */
export type Pieces = Generator<string | void, void, void>

/** The texts of a message, without thoughts. Never empty. */
export function* segmentsOf(history: History, index: number): Pausable<readonly Segment[]> {
  const message = history.messages[index]
  if (message === undefined) return []
  const { structure } = history
  const number = messageNumber(index, structure.systemCount)
  const parsed = yield* readMessage(history, message)
  const source = history.messages[history.references.byIndex.get(index)?.holders[0] ?? -1]
  const own = [parsed.text, parsed.besides, mediaMarks(message.facts.media)]
  const said =
    source === undefined
      ? own.filter((piece) => piece !== '').join('\n')
      : yield* resolvedText(history, source, message)
  const calls: Segment[] = []
  for (const { name, argumentsText } of parsed.calls) {
    const text = yield* unforgedLines(argumentsText)
    calls.push({ label: `${number} ${labels.call(name)}`, calls: name, text })
  }
  if (said === '' && calls.length > 0) return calls
  const label = `${number} ${speakerLabel(history, index)}`
  return [{ label, calls: null, text: yield* unforgedLines(said) }, ...calls]
}

/** A segment as it stands in an answer. */
export function segmentText({ label, text }: Segment): string {
  return `${label}\n${text}\n`
}

/** A message that does not stand in the view word for word, and what became of it. */
export type LeftOut = {
  readonly index: number
  readonly how: Exclude<MadeHow, 'unbound' | 'resolved'> | 'folded' | 'dropped'
}

/** The messages that cannot be read in the view word for word, ascending. */
export function leftOutOf(history: History, compacted: Compacted | null): readonly LeftOut[] {
  if (compacted === null) return []
  const joined = new Map(
    compacted.view.messages.flatMap((message) => message.joined.map(({ index, how }) => [index, how])),
  )
  return outlineOf(history, compacted).flatMap(({ index, treatment }) => {
    // What was joined to another message stands there as it was made before.
    const how = treatment === 'joined' ? (joined.get(index) ?? 'kept') : treatment
    if (index === null || how === 'summary' || how === 'recap' || isInView(how)) return []
    return [{ index, how: how === 'outdated' ? 'dropped' : how }]
  })
}

/** A line of ours between what is quoted. */
export function ownLine(text: string): string {
  return `[recall: ${text}]`
}

/**
 * Text of a conversation as it may stand in an answer: a line that looks like a label or a line of ours is marked as
 * none. All else stays as it was: what is read back is copied, into edits and commands.
 */
export function* unforgedLines(text: string): Pausable<string> {
  const pieces: string[] = []
  for (let start = 0; start < text.length;) {
    const lineEnd = text.indexOf('\n', start + CHARS_PER_STEP)
    const end = lineEnd === -1 ? text.length : lineEnd + 1
    pieces.push(text.slice(start, end).replace(ownLike, '\\'))
    start = end
    if (start < text.length) yield
  }
  return pieces.join('')
}

// --- internal ---

/** Whether a message stands there word for word: of one that lost its thoughts all that it says does. */
function isInView(how: string): how is 'kept' | 'unbound' | 'resolved' {
  return how === 'kept' || how === 'unbound' || how === 'resolved'
}

/** What is looked through between two pauses, up to the end of its last line: less than a millisecond. */
const CHARS_PER_STEP = 32_768

const ownLike =
  /^(?=[ \t]*(?:\[recall: |#\d+ \[(?:user|assistant|system|developer|other)\]|#\d+ \[(?:user|to|from) ))/gim
