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

/** Where a received message comes from. */
export type Origin =
  /** One of the client's, byte for byte. */
  | { readonly kind: 'kept'; readonly index: number }
  /** Made of one of the client's: same role, same ids. */
  | { readonly kind: 'derived'; readonly index: number }
  /** A recap or a summary. */
  | { readonly kind: 'recap' }
  /** Not one of the client's, or not in the client's order. */
  | { readonly kind: 'stray' }

/** The origin of every received message, each looked for after the one before it. */
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

// --- internal ---

/** Whether one message may have been made of another by shortening its texts, or by taking signed thoughts out of it. */
function isDerived(made: WireMessage, original: WireMessage): boolean {
  const one = identity(made)
  return one === identity(original) || (holdsSigned(original) && one === identity(withoutThoughts(original)))
}

/** Fields that say what a model thought: some of them signed, others the same once more. */
const thoughtFields: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking',
  'thinking_blocks',
])

function holdsSigned(message: WireMessage): boolean {
  return /"(?:signature|data|encrypted_content)":/.test(JSON.stringify(message))
}

function withoutThoughts(message: WireMessage): WireMessage {
  return Object.fromEntries(Object.entries(message).filter(([name]) => !thoughtFields.has(name)))
}

function isRecap(message: WireMessage): boolean {
  return (
    message.role === 'user' &&
    textsOf(message.content).some(
      (text) => /<conversation-(?:recap|summary)/.test(text) || text === BARE_MARK,
    )
  )
}

function identity(message: WireMessage): string {
  const calls = callsOf(message).map(({ id, name }) => [id, name])
  return JSON.stringify([
    message.role,
    textOf(message.name),
    textOf(message.tool_call_id),
    calls,
    extras(message),
  ])
}

/** The names of all fields: what shortens a message keeps them. */
function extras(message: WireMessage): readonly string[] {
  return isObject(message) ? Object.keys(message) : []
}
