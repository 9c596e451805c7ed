import type { Message, ParsedMessage } from '../conversation/message.ts'
import { parseMessage } from '../dialects/chat-completions/parse.ts'
import { readable } from '../dialects/chat-completions/readable.ts'
import type { Steps } from '../conversation/source.ts'
import type { Subject } from './subject.ts'

/** A message parsed, with a pause behind a long one: of short ones hundreds are read within a millisecond. */
export function* readMessage({ source }: Pick<Subject, 'source'>, message: Message): Steps<ParsedMessage> {
  if (message.facts.unread !== undefined) {
    // Made here, and found again when it is parsed.
    readable(source, message)
    yield
  }
  const parsed = parseMessage(source, message)
  if (message.end - message.start >= LONG_BYTES) yield
  return parsed
}

// --- internal ---

/** Read in a tenth of a millisecond. */
const LONG_BYTES = 16_384
