import type { PassName, Policy } from '../../src/compaction/policy.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import { createMadeCache, type MadeCache } from '../../src/compaction/made-cache.ts'
import type { Subject } from '../../src/compaction/subject.ts'
import { compactedUnder, PRIMING_TOKENS } from '../support/compacted.ts'
import { growing } from '../support/conversations.ts'
import { policyOf, subjectOf, viewTexts } from '../support/subject.ts'

export type SendOptions = {
  readonly budgetTokens: number
  readonly policy?: Policy
  readonly newest?: Compaction | null
  readonly seenUntil?: number | null
  readonly strict?: boolean
  readonly forced?: boolean
  readonly cache?: MadeCache
}

/** A message of a view, parsed. */
export type SentMessage = {
  readonly role: string
  readonly content: unknown
  readonly [field: string]: unknown
}

export type Sent = {
  /** The messages as the upstream receives them. */
  readonly texts: readonly string[]
  readonly messages: readonly SentMessage[]
  /** Their contents, where they are texts. */
  readonly contents: readonly string[]
  readonly passes: readonly PassName[]
  readonly compaction: Compaction | null
  /** Tokens of the view by Foldgate's own count, priming included. */
  readonly tokens: number
}

/** One request with a conversation: what is sent for it. */
export function send(conversation: readonly object[] | Subject, options: SendOptions): Sent {
  const subject = 'messages' in conversation ? conversation : subjectOf(conversation)
  const { compaction, view } = compactedUnder(subject, { ...options, policy: options.policy ?? policyOf() })
  const texts = viewTexts(subject, view)
  const messages = texts.map((text): SentMessage => JSON.parse(text))
  return {
    texts,
    messages,
    contents: messages.map(({ content }) => (typeof content === 'string' ? content : '')),
    passes: view.passes,
    compaction,
    tokens: view.tokens + PRIMING_TOKENS,
  }
}

/** A request that goes on from the one before. */
export type Grown = Sent & { readonly isCompacted: boolean }

/**
 * What is sent for each request of a conversation as it grows, from the first that has more messages than `seenUntil`.
 * Each knows the one before: its record, and what was made for it.
 */
export function sendGrowing(conversation: readonly object[], options: SendOptions): readonly Grown[] {
  const cache = createMadeCache({ charsMax: 10_000_000 })
  const sent: Grown[] = []
  let { newest = null, seenUntil = null } = options
  for (const messages of growing(conversation)) {
    if (messages.length <= (seenUntil ?? 0)) continue
    const request = send(messages, { cache, ...options, newest, seenUntil })
    sent.push({ ...request, isCompacted: request.compaction !== newest })
    newest = request.compaction
    seenUntil = messages.length
  }
  return sent
}

export const system = (content: string) => ({ role: 'system', content })
export const user = (content: unknown) => ({ role: 'user', content })
export const assistant = (content: string) => ({ role: 'assistant', content })

/** An assistant message with a call under each of these ids, of the tool of that name. */
export const calling = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: id, arguments: '{}' } })),
})

export const resultOf = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

/** An assistant message with one call, and its result. */
export function round(
  id: string,
  result: string,
  tool = 'read_file',
  input: object = { step: id },
): object[] {
  const call = { id, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } }
  return [{ role: 'assistant', content: null, tool_calls: [call] }, resultOf(id, result)]
}

/** Rounds with results of so many tokens, named by a prefix and their number. */
export function rounds(prefix: string, count: number, resultTokens: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `${prefix}${index}`
    return round(id, prose(`result of ${id}`, resultTokens))
  }).flat()
}

/** A text of so many tokens as the tests count them, that names nothing but its label. */
export function prose(label: string, tokens: number): string {
  const words = ' and the words go on'
  return `${label}:${words.repeat(Math.ceil((tokens * 3) / words.length))}`.slice(0, tokens * 3)
}
