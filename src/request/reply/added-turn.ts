import type { Prepared } from '../request.ts'
import { withReplaced } from '../send/outgoing-body.ts'

/** The request with further messages, as JSON, behind its own. */
export function addedTurn(prepared: Prepared, messages: readonly string[]): Prepared {
  const at = prepared.chat.completion.messages.end - 1
  const text = messages.map((message) => `,${message}`).join('')
  return { ...prepared, pieces: withReplaced(prepared.pieces, { start: at, end: at }, text) }
}
