import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../../src/json/json-value.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from '../../support/foldgate.ts'
import {
  startOllamaUpstream,
  type OllamaUpstream,
  type OllamaUpstreamOptions,
  type RecordedOllamaRequest,
} from '../../support/ollama/ollama-upstream.ts'
import { readStrictly } from '../../formats/ollama/reply/streamed.ts'
import { parseObject } from '../../support/strict-upstream/wire-message.ts'
import { wordCount, type Answered } from '../messages/stand.ts'

export type OllamaStand = { readonly upstream: OllamaUpstream; readonly foldgate: RunningFoldgate }

type StandOptions = Partial<OllamaUpstreamOptions> & {
  readonly profile?: object
  readonly settings?: FoldgateOptions['settings']
}

/** A strict Ollama with a Foldgate in front; both are closed behind the test. */
export async function openStand({ profile = {}, settings = {}, ...options }: StandOptions = {}) {
  const upstream = await startOllamaUpstream({
    temperament: 'errors',
    count: wordCount,
    reply: () => ({ content: 'Done.' }),
    ...options,
  })
  onTestFinished(() => upstream.close())
  const foldgate = await startFoldgate({ upstream: upstream.url, profile, settings })
  onTestFinished(() => foldgate.close())
  return { upstream, foldgate }
}

/** The window that every request asks for, unless it says otherwise. */
export const WINDOW_TOKENS = 4096

/** A request as Ollama's clients make it; no `stream` is a streamed one. */
export const chatBody = (messages: readonly JsonObject[], more: object = {}): string =>
  JSON.stringify({
    model: 'llama3.2',
    messages,
    tools: [readTool],
    options: { num_ctx: WINDOW_TOKENS },
    ...more,
  })

export async function post({ foldgate }: Pick<OllamaStand, 'foldgate'>, body: string): Promise<Answered> {
  const response = await fetch(`${new URL(foldgate.url).origin}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** What a strict client reads, whether or not it asked for a stream. */
export function replyIn({ text, headers }: Answered): JsonObject {
  return headers.get('content-type')?.includes('ndjson') === true
    ? readStrictly([text])
    : (parseObject(text) ?? {})
}

/** The chats that reached the upstream, in their order. */
export const chatsAt = ({ upstream }: OllamaStand): readonly RecordedOllamaRequest[] =>
  upstream.requests.filter(({ path }) => path === '/api/chat')

export const bodyOf = ({ body }: RecordedOllamaRequest): JsonObject => parseObject(body.toString()) ?? {}

export const user = (content: string): JsonObject => ({ role: 'user', content })

const readTool = {
  type: 'function',
  function: { name: 'read', parameters: { type: 'object', properties: {} } },
}

/** Rounds of an agent, of some 620 words each, calls and results without ids; more than a third the agent says itself. */
export const roundsOf = (count: number, from = 0): JsonObject[] =>
  Array.from({ length: count }, (_, offset): JsonObject[] => {
    const part = from + offset
    const given = { part, reason: 'the lazy dog jumps over the quick brown fox '.repeat(26) }
    return [
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { index: 0, name: 'read', arguments: given } }],
      },
      {
        role: 'tool',
        tool_name: 'read',
        content: `part ${part}: ${'the quick brown fox jumps over the dog '.repeat(46)}`,
      },
    ]
  }).flat()
