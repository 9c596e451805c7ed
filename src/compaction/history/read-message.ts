import type { Message, ParsedMessage } from '../../conversation/message.ts'
import type { Source, Steps } from '../../json/source.ts'
import { parseEntry } from '../../formats/entry-facts.ts'
import { readable, restored, type Readable } from '../../formats/readable.ts'
import type { Subject } from './subject.ts'

/** A message parsed, with a pause behind a long one: of short ones hundreds are read within a millisecond. */
export function* readMessage(
  { source, dialect }: Pick<Subject, 'source' | 'dialect'>,
  message: Message,
): Steps<ParsedMessage> {
  if (message.facts.unread !== undefined) {
    // Made here, and found again when it is parsed.
    readable(source, message)
    yield
  }
  const parsed = parseEntry(dialect, source, message)
  if (message.end - message.start >= LONG_BYTES) yield
  return parsed
}

/** A message as it is edited: where what is read of it stands, and what that says. */
export type MessageForm = Readable & { readonly parsed: ParsedMessage }

/** A message as it is edited; `isUnbound`: without the thoughts in it that only hold for the conversation they were made in. */
export function* readForm(
  subject: Pick<Subject, 'source' | 'dialect'>,
  message: Message,
  isUnbound: boolean,
): Steps<MessageForm> {
  const { source, dialect } = subject
  if (!isUnbound) {
    const parsed = yield* readMessage(subject, message)
    return { ...readable(source, message), parsed }
  }
  const whole = readable(source, message)
  const json = dialect.entries.unbound(whole.source.text(whole.message.start, whole.message.end))
  if (json.length >= LONG_BYTES) yield
  const unbound = source.joined([json])
  // Marks of what is not read are a part of its texts.
  const { unread: _unread, ...facts } = message.facts
  const form = { start: 0, end: unbound.length, facts }
  return { source: unbound, message: form, parsed: yield* readMessage({ source: unbound, dialect }, form) }
}

/** The JSON of a form. */
export function textOfForm({ source, message }: Readable): string {
  return source.text(message.start, message.end)
}

/** The same with what is not read of the message that it is a form of. */
export function* wholeText(source: Source, message: Message, form: Readable): Steps<string> {
  return (yield* restored(source, message, textOfForm(form))).json
}

// --- internal ---

/** Read in a tenth of a millisecond. */
const LONG_BYTES = 16_384
