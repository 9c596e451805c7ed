import type { Message, ParsedMessage } from '../conversation/message.ts'
import type { Steps } from '../conversation/source.ts'
import { parseEntry } from '../dialects/entry-facts.ts'
import { readable } from '../dialects/readable.ts'
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

// --- internal ---

/** Read in a tenth of a millisecond. */
const LONG_BYTES = 16_384
