import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { compactedUnder, PRIMING_TOKENS, type CompactedOptions } from '../support/compacted.ts'
import { growing } from '../support/conversations.ts'
import { profileOf, historyOf, viewTexts } from '../support/subject.ts'
import { times } from '../support/times.ts'

export type SendOptions = Omit<CompactedOptions, 'profile'> & { readonly profile?: Profile }

/** A message of a view, parsed. */
export type SentMessage = {
  readonly role: string
  readonly content: unknown
  readonly [field: string]: unknown
}

export type Sent = ReturnType<typeof send>

/** What is sent for one request: its messages as the upstream receives them, and their contents where they are texts. */
export function send(conversation: readonly object[] | History, options: SendOptions) {
  const history = 'messages' in conversation ? conversation : historyOf(conversation)
  const { compaction, view } = compactedUnder(history, {
    ...options,
    profile: options.profile ?? profileOf(),
  })
  const texts = viewTexts(history, view)
  const messages = texts.map((text): SentMessage => JSON.parse(text))
  const contents = messages.map(({ content }) => (typeof content === 'string' ? content : ''))
  // By Foldgate's own count.
  const tokens = view.tokens + PRIMING_TOKENS
  return { texts, messages, contents, passes: view.passes, compaction, tokens }
}

/**
 * What is sent for each request of a conversation as it grows, from the first that has more messages than `seenUntil`.
 * Each knows the one before: its record, and what was made for it.
 */
export function sendGrowing(conversation: readonly object[], options: SendOptions) {
  const cache = createMadeCache({ bytesMax: 10_000_000 })
  const sent: (Sent & { readonly isCompacted: boolean })[] = []
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

/** Messages as a client writes them. */
export const rawOf = (messages: readonly object[]): string[] =>
  messages.map((message) => JSON.stringify(message))

export const isRecap = (content: string): boolean => content.startsWith('<conversation-recap>')

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
): [object, ReturnType<typeof resultOf>] {
  const call = { id, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } }
  return [{ role: 'assistant', content: null, tool_calls: [call] }, resultOf(id, result)]
}

/** So many rounds, with these results. */
export const roundsWith = (count: number, result: (number: number) => string, prefix = 'a'): object[] =>
  times(count, (number) => round(`${prefix}${number}`, result(number))).flat()

/** Rounds with results of so many tokens, named by a prefix and their number. */
export const rounds = (prefix: string, count: number, resultTokens: number): object[] =>
  roundsWith(count, (number) => prose(`result of ${prefix}${number}`, resultTokens), prefix)

/** A text of so many tokens as the tests count them, that names nothing but its label. */
export function prose(label: string, tokens: number): string {
  const words = ' and the words go on'
  return `${label}:${words.repeat(Math.ceil((tokens * 3) / words.length))}`.slice(0, tokens * 3)
}
