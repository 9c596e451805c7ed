import { resolvedText } from '../subject/calls/find-references.ts'
import { messageNumber } from '../subject/message-numbers.ts'
import { readMessage } from '../subject/read-message.ts'
import { labels } from '../compaction/recap/headings.ts'
import { toolNameOf, type Subject } from '../subject/subject.ts'
import { mediaMarks } from '../conversation/media-marks.ts'
import type { Message, ParsedMessage } from '../conversation/message.ts'
import type { Steps } from '../conversation/source.ts'
import { unforgedLines } from './own-lines.ts'

/** A text of a message as it is read back: what it says, or what it hands to a tool. */
export type Segment = {
  /** The line above it, which names the message. */
  readonly label: string
  /** The tool that is called; null where the message speaks itself. */
  readonly calls: string | null
  /** As the client sent it, but that no line passes for one of ours; of a result that refers to another the text of that. */
  readonly text: string
}

/** The texts of a message, without thoughts. Never empty. */
export function* segmentsOf(subject: Subject, index: number): Steps<readonly Segment[]> {
  const message = subject.messages[index]
  if (message === undefined) return []
  const { structure } = subject
  const number = messageNumber(index, structure.systemCount)
  const parsed = yield* readMessage(subject, message)
  const source = subject.messages[subject.references.byIndex.get(index)?.holders[0] ?? -1]
  const said = source === undefined ? saidIn(message, parsed) : yield* resolvedText(subject, source, message)
  const calls: Segment[] = []
  for (const { name, argumentsText } of parsed.calls) {
    const text = yield* unforgedLines(argumentsText)
    calls.push({ label: `${number} ${labels.call(name)}`, calls: name, text })
  }
  if (said === '' && calls.length > 0) return calls
  const label = `${number} ${speakerOf(subject, message, index)}`
  return [{ label, calls: null, text: yield* unforgedLines(said) }, ...calls]
}

/** A segment as it stands in an answer. */
export function segmentText({ label, text }: Segment): string {
  return `${label}\n${text}\n`
}

// --- internal ---

function speakerOf(subject: Subject, { facts }: Message, index: number): string {
  switch (facts.role) {
    case 'user':
      return labels.user(facts.name)
    case 'assistant':
      return labels.assistant
    case 'tool':
      return labels.result(toolNameOf(subject, index))
    case 'system':
    case 'developer':
    case 'other':
      return `[${facts.role}]`
  }
}

function saidIn({ facts }: Message, { text, besides }: ParsedMessage): string {
  return [text, besides, mediaMarks(facts.media)].filter((piece) => piece !== '').join('\n')
}
