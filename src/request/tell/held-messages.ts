import type { Chat, Form, PreparedRequest } from '../request.ts'
import { outlineOf, type MessageTreatment } from '../../compaction/report.ts'
import type { ViewMessage } from '../../compaction/view/view-message.ts'
import type { BodyPiece } from '../../conversation/splice.ts'
import type { HeldMessages, HeldOutline } from '../../activity/request-report.ts'

/** The messages of a request as they came and as they were sent. `form`: the one that was sent last, or was to be. */
export function heldMessages(request: PreparedRequest, form: Form): HeldMessages {
  const { chat, compacted } = form
  // If the client's own bytes take the place of repaired ones, what was counted is not what is sent.
  const sizes = chat === request.chat ? (request.measure?.counted?.subject.sizes ?? null) : null
  const outline = heldOutline(chat, sizes, compacted, form.pieces)
  return {
    outline,
    texts: () => textsOf(outline.read(), chat, compacted?.view.messages ?? null),
    // The bytes, and what was made of them.
    bytes: chat.bytes.length + outline.bytes,
  }
}

// --- internal ---

/** What the facts and the size of a message take, about. */
const MESSAGE_BYTES = 500

const unsent: ReadonlySet<MessageTreatment['treatment']> = new Set([
  'folded',
  'dropped',
  'outdated',
  'joined',
])

/** Its own function: what it returns must not keep the body in memory. */
function heldOutline(
  { messages, structure, dialect }: Chat,
  sizes: readonly number[] | null,
  compacted: Form['compacted'],
  pieces: readonly BodyPiece[],
): HeldOutline {
  let madeCharacters = 0
  for (const piece of pieces) if (typeof piece === 'string') madeCharacters += piece.length
  const { entryName } = dialect
  return {
    entryName,
    read: () => outlineOf({ messages, structure, sizes }, compacted),
    bytes: messages.length * MESSAGE_BYTES + 2 * madeCharacters,
  }
}

function textsOf(
  outline: readonly MessageTreatment[],
  { messages, source }: Chat,
  views: readonly ViewMessage[] | null,
): ReturnType<HeldMessages['texts']> {
  const sentByIndex = new Map((views ?? []).map((view) => [view.index, view]))
  const standIns = (views ?? []).values().filter(({ index }) => index === null)
  return outline.map(({ index, treatment }) => {
    if (index === null) {
      const item = standIns.next().value?.item
      return { received: null, sent: item?.kind === 'made' ? item.json : null }
    }
    const message = messages[index]
    const received = message === undefined ? null : source.text(message.start, message.end)
    if (unsent.has(treatment)) return { received, sent: null }
    const item = sentByIndex.get(index)?.item
    return { received, sent: item?.kind === 'made' ? item.json : received }
  })
}
