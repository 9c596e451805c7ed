import type { Coding } from './packed.ts'

/** One request that is made to hold the loop, to take all memory, or both. */
export type Attack = {
  readonly name: string
  /** Of its body before it is packed, about; a quick run takes less. */
  readonly bytes: number
  /** Where it is tried. sidecar: the container of the example; roomy: a machine of several gigabytes, with bodies of 64 MB. */
  readonly room: 'sidecar' | 'roomy'
  /** The size itself is the attack: no run makes it smaller. */
  readonly isExact?: boolean
  /** One of its kind that `npm test` tries, too; the others are left to the whole run. */
  readonly isQuick?: boolean
  readonly coding?: Coding
  /** A profile beside the windows. */
  readonly profile?: 'archiving' | 'joining'
  /** Where it is sent, by default `chat/completions`. */
  readonly path?: AttackPath
  /** The chat, at this size. */
  readonly chat: (bytes: number) => Chat
  /** What the upstream answers to it, at this size: the answer may be the attack. */
  readonly answer?: (bytes: number) => HostileAnswer
}

export type AttackPath = 'chat/completions' | 'responses' | 'responses/compact' | 'messages'

/** An answer with status 200, in pieces as they are sent. */
export type HostileAnswer = {
  readonly type: 'text/event-stream' | 'application/json'
  readonly pieces: Iterable<Buffer>
}

/** A body in its parts; each text is JSON that goes as it is. */
export type Chat = {
  readonly model?: Json
  /** Members in front of the messages, each with its name. */
  readonly before?: readonly Json[]
  /** Messages, or the items of an input. */
  readonly messages: readonly Json[]
  /** What stands for the array of messages instead: such a chat does not grow. */
  readonly insteadOfMessages?: Json
  readonly after?: readonly Json[]
}

export type Json = string | Buffer

/** The body of a chat, once as it is and once longer by one message, as its client's next request would be. */
export function bodyOf(chat: Chat, isGrown: boolean, path: AttackPath = 'chat/completions'): Buffer {
  const grown = isGrown ? [...chat.messages, '{"role":"assistant","content":"Yes."}', ask] : chat.messages
  const messages = chat.insteadOfMessages ?? list(grown)
  return concat([
    '{"model":',
    chat.model ?? '"m"',
    ...(chat.before ?? []).flatMap((member) => [',', member]),
    path.startsWith('responses') ? ',"input":' : ',"messages":',
    messages,
    ...(chat.after ?? []).flatMap((member) => [',', member]),
    '}',
  ])
}

/** What a user says last. */
export const ask = '{"role":"user","content":"Go on."}'

/** A conversation in which something stands in the middle: behind the task, with a question after it. */
export function around(...middle: readonly Json[]): Chat {
  const task = '{"role":"user","content":"Read the sources and say what they do."}'
  return {
    messages: ['{"role":"system","content":"You help with code."}', task, ...middle, ask],
  }
}

/** A text as often as it fits. */
export function times(text: string, bytes: number): Buffer {
  const one = Buffer.from(text)
  return Buffer.alloc(Math.max(1, Math.floor(bytes / one.length)) * one.length, one)
}

/** An array of one item as often as it fits. */
export function listOf(item: string, bytes: number): Buffer {
  return concat(['[', times(`${item},`, bytes), item, ']'])
}

/** JSON out of texts. */
export function concat(pieces: readonly Json[]): Buffer {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
}

/** Arrays within arrays, as deep as so many bytes make them. */
export function nested(bytes: number): Buffer {
  return concat([times('[', bytes / 2), times(']', bytes / 2)])
}

export const MEGABYTE = 1_000_000

// --- internal ---

function list(items: readonly Json[]): Buffer {
  return concat(['[', ...items.flatMap((item, index) => (index === 0 ? [item] : [',', item])), ']'])
}
