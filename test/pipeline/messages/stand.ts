import { expect, onTestFinished } from 'vitest'
import { isJsonObject, parseJsonText, type JsonObject } from '../../../src/json/json-value.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from '../../support/foldgate.ts'
import {
  startMessagesUpstream,
  type AcceptedMessagesRequest,
  type MessagesUpstream,
  type MessagesUpstreamOptions,
} from '../../support/messages/messages-upstream.ts'
import type { MessagesScript } from '../../support/messages/script.ts'
import { readStrictly } from '../../formats/messages/reply/streamed.ts'

export type MessagesStand = { readonly upstream: MessagesUpstream; readonly foldgate: RunningFoldgate }

export type StandOptions = Partial<MessagesUpstreamOptions> & {
  readonly windowTokens: number
  readonly reply: (request: AcceptedMessagesRequest) => MessagesScript | Promise<MessagesScript>
  readonly profile?: object
  readonly foldgate?: Pick<FoldgateOptions, 'settings' | 'flags'>
}

/** Each word of letters is a token, and so is every other character but blanks. */
export const wordCount = (text: string): number => text.match(/[a-z]+|[^\sa-z]/gi)?.length ?? 0

/** A strict upstream of the Messages API with a Foldgate in front; both are closed behind the test. */
export async function openStand({
  windowTokens,
  profile,
  foldgate: more,
  ...options
}: StandOptions): Promise<MessagesStand> {
  const upstream = await startMessagesUpstream({
    windowTokens,
    outputReserveChecked: false,
    count: wordCount,
    ...options,
  })
  onTestFinished(() => upstream.close())
  return openBefore(upstream, { window: { tokens: windowTokens }, ...profile }, more)
}

/** One more Foldgate, with a store of its own, in front of an upstream; it is closed behind the test. */
export async function openBefore(
  upstream: MessagesUpstream,
  profile: object,
  more: StandOptions['foldgate'] = {},
): Promise<MessagesStand> {
  const foldgate = await startFoldgate({ upstream: upstream.url, profile, ...more })
  onTestFinished(foldgate.close)
  return { upstream, foldgate }
}

export function thinkingReader(): StandOptions['reply'] {
  let called = 0
  return () => {
    called += 1
    return {
      content: [
        { type: 'thinking', tokens: 60 },
        { type: 'text', text: `I read part ${called}.` },
        { type: 'tool_use', id: `toolu_${called}`, name: 'read', input: { part: called } },
      ],
    }
  }
}

/**
 * What a client that keeps its own history does: it sends all of it each time, and takes over what it is answered. All that is
 * said stands behind `messages` then.
 */
export async function live(
  stand: MessagesStand,
  messages: JsonObject[],
  { rounds, ...body }: { readonly rounds: number; readonly [field: string]: unknown },
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered[]> {
  const answers: Answered[] = []
  for (let round = 0; round < rounds; round += 1) {
    const answer = await post(stand, { messages, tools: [readTool], ...body }, headers)
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 })
    answers.push(answer)
    const content = contentOf(answer)
    messages.push({ role: 'assistant', content })
    const said = `part ${round}: ${'the quick brown fox jumps over the lazy dog again '.repeat(40)}`
    const results = content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: said }))
    messages.push({ role: 'user', content: results })
  }
  return answers
}

export type Answered = { readonly status: number; readonly headers: Headers; readonly text: string }

export async function post(
  { foldgate }: { readonly foldgate: { readonly url: string } },
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const response = await fetch(`${foldgate.url}/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': 'key',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body: JSON.stringify({ model: 'claude-strict', max_tokens: 1_000, ...body }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The message of an answer, plain or streamed; of a stream every event has to stand where it belongs. */
export function messageIn({ text }: Answered): JsonObject {
  const plain = text.startsWith('{') ? parseJsonText(text) : readStrictly(text.split(/(?<=\n\n)/))
  return isJsonObject(plain) ? plain : {}
}

export function contentOf(answered: Answered): readonly JsonObject[] {
  const { content } = messageIn(answered)
  return Array.isArray(content) ? content.filter(isJsonObject) : []
}

export const user = (text: string): JsonObject => ({ role: 'user', content: text })

export const readTool = { name: 'read', input_schema: { type: 'object', properties: {} } }

/**
 * Rounds of an agent without thinking, of some 620 words each. More than a third of them the agent says itself, in its call:
 * to clear results is not enough where many rounds have to make room.
 */
export const roundsOf = (count: number, from = 0): JsonObject[] =>
  Array.from({ length: count }, (_, offset) => {
    const id = `toolu_${from + offset}`
    const input = { part: from + offset, reason: 'the lazy dog jumps over the quick brown fox '.repeat(26) }
    const content = `part ${from + offset}: ${'the quick brown fox jumps over the dog '.repeat(46)}`
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
    ]
  }).flat()

/** What the upstream refused, and the thinking that it found was made on something else. */
export const troubleOf = ({ upstream }: MessagesStand): unknown[] =>
  upstream.requests.flatMap(({ rejected, transformations }) => [rejected ?? [], transformations].flat())
