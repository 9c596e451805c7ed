import type { Growth } from './structure.ts'
import type { Message, ParsedMessage } from './message.ts'
import type { Digest, Pausable } from '../json/source.ts'

/** What a message says, without ids, cache marks, reasoning and unknown fields. */
export type Meaning = {
  readonly role: string
  readonly name: string | null
  /** Its texts and media in their order. Empty texts are left out: no content, null and '' mean the same. */
  readonly content: readonly { readonly kind: string; readonly text: string }[]
  readonly calls: ParsedMessage['calls']
}

/** The digest of a meaning. The encoding is unambiguous, so that only equal meanings have equal digests. */
export function digestOfMeaning({ role, name, content, calls }: Meaning, digest: Digest): string {
  const said = content.filter(({ text }) => text !== '').map(({ kind, text }) => [kind, text])
  const called = calls.map((call) => [call.name, call.argumentsText])
  return digest(JSON.stringify([role, name, said, called]))
}

/**
 * One key more than there are messages: `keys[i]` stands for the first i messages. The chain begins after
 * the leading system block, whose messages all have the root's key: a clock in the system prompt changes
 * nothing. What it shares with the conversation that it grew from is taken over.
 */
export function* meaningKeys(
  messages: readonly Pick<Message, 'facts'>[],
  unkeyedCount: number,
  digest: Digest,
  grewFrom: Pick<Growth, 'keys' | 'shared'> | null = null,
): Pausable<readonly string[]> {
  // All chains begin with the same key.
  const keys = grewFrom === null ? [digest('conversation')] : grewFrom.keys.slice(0, grewFrom.shared + 1)
  let key = keys.at(-1) ?? ''
  for (const { facts } of messages.slice(keys.length - 1)) {
    if (keys.length > unkeyedCount) key = digest(JSON.stringify([key, facts.meaning]))
    keys.push(key)
    yield
  }
  return keys
}

/** Characters of a conversation's id: enough of a digest to tell a scope's conversations apart. */
export const conversationIdChars = 16

/** Whether `text` has the form of a conversation's id: the beginning of a digest in base64url. */
export function isConversationId(text: string): boolean {
  return text.length === conversationIdChars && /^[\w-]+$/.test(text)
}

/** What is said of one that has not; it is not repeated, since it may be anything. */
export const noConversationId = `That is no conversation's id: it is the ${conversationIdChars} letters, digits, "-" and "_" that x-foldgate-conversation names in an answer.`
