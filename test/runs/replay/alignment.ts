import { BARE_MARK } from '../../../src/compaction/recap/recap.ts'
import {
  callsOf,
  isObject,
  textOf,
  textsOf,
  type WireMessage,
} from '../../support/strict-upstream/wire-message.ts'
import type { ReceivedRequest } from '../harness/stage.ts'
import type { Subject } from '../harness/subject.ts'

/**
 * Where a received message comes from: it is one of the client's, byte for byte; made of one of the client's, with the same
 * role and ids; a recap or a summary; or not one of the client's, or not in the client's order.
 */
export type Origin =
  | { readonly kind: 'kept' | 'derived'; readonly index: number }
  | { readonly kind: 'recap' | 'stray' }

export function alignment(
  subject: Pick<Subject, 'messages' | 'indexesOf'>,
  point: number,
  received: Pick<ReceivedRequest, 'messages' | 'rawMessages'>,
): readonly Origin[] {
  let from = 0
  return received.rawMessages.map((text, position) => {
    const kept = subject.indexesOf.get(text)?.find((index) => index >= from && index < point)
    if (kept !== undefined) {
      from = kept + 1
      return { kind: 'kept', index: kept }
    }
    const message = received.messages[position] ?? {}
    if (isRecap(message)) return { kind: 'recap' }
    for (let index = from; index < point; index += 1) {
      if (!isDerived(message, subject.messages[index]?.message ?? {})) continue
      from = index + 1
      return { kind: 'derived', index }
    }
    return { kind: 'stray' }
  })
}

/** Whether one message may have been made of another by shortening its texts, or by taking signed thoughts out of it. */
function isDerived(made: WireMessage, original: WireMessage): boolean {
  const one = identity(made)
  return one === identity(original) || (holdsSigned(original) && one === identity(withoutThoughts(original)))
}

/** Fields that say what a model thought: some of them signed, others the same once more. */
const thoughtFields: ReadonlySet<string> = new Set(
  'reasoning reasoning_content reasoning_details thinking thinking_blocks'.split(' '),
)

const holdsSigned = (message: WireMessage): boolean =>
  /"(?:signature|data|encrypted_content)":/.test(JSON.stringify(message))

const withoutThoughts = (message: WireMessage): WireMessage =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !thoughtFields.has(name)))

const isRecap = (message: WireMessage): boolean =>
  message.role === 'user' &&
  textsOf(message.content).some((text) => /<conversation-(?:recap|summary)/.test(text) || text === BARE_MARK)

function identity(message: WireMessage): string {
  const calls = callsOf(message).map(({ id, name }) => [id, name])
  // What shortens a message keeps the names of all fields.
  const fields = isObject(message) ? Object.keys(message) : []
  const names = [message.name, message.tool_name, message.tool_call_id].map(textOf)
  return JSON.stringify([message.role, names, calls, fields])
}
