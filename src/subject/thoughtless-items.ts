import type { Steps } from '../conversation/source.ts'
import type { ViewItem } from '../conversation/splice.ts'
import { readForm, wholeText } from './read-message.ts'
import type { Subject } from './subject.ts'

/** A conversation without all thoughts in it that are bound to what stood before them, and otherwise as it came. */
export function* thoughtlessItems(
  subject: Pick<Subject, 'source' | 'dialect' | 'messages'>,
): Steps<readonly ViewItem[]> {
  const items: ViewItem[] = []
  for (const [index, message] of subject.messages.entries()) {
    if (index % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
    const { bound } = message.facts
    if (bound === 'whole') continue
    if (bound !== 'part') {
      items.push({ kind: 'kept', index })
      continue
    }
    const form = yield* readForm(subject, message, true)
    items.push({ kind: 'made', json: yield* wholeText(subject.source, message, form), place: index })
  }
  return items
}

// --- internal ---

/** Messages between two pauses: less than a millisecond. */
const MESSAGES_PER_STEP = 512
