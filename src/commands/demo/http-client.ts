import { request } from 'undici'
import { z } from 'zod'
import { parseJsonText } from '../../json/json-value.ts'
import type { Dialect } from '../../formats/contract.ts'
import type { ChatAnswer, ChatRequest, SpokenDialect } from './client-wire.ts'

/** Sends a request, once, and waits for all of the answer. Never rejects. */
export type ChatClient = (request: ChatRequest) => Promise<ChatAnswer | ChatError>

/** How to reach a server. */
export type ChatTarget = { readonly url: string; readonly apiKey: string }

/** A request that failed: the server's own words, or why it was not reached. */
export class ChatError extends Error {
  override readonly name = 'ChatError'
}

/** A client that writes what it says in a dialect. */
export function openChatClient({ url, apiKey }: ChatTarget, spoken: SpokenDialect): ChatClient {
  const { dialect } = spoken
  return async function send(chat) {
    try {
      const { statusCode, headers, body } = await request(`${url}/${dialect.paths[0]}`, {
        method: 'POST',
        headers: { ...spoken.headers(apiKey), 'content-type': 'application/json' },
        body: JSON.stringify(spoken.request(chat)),
        headersTimeout: ANSWER_MS,
        bodyTimeout: ANSWER_MS,
      })
      const text = await body.text()
      const answer = statusCode === 200 ? answerIn(dialect, parseJsonText(text)) : null
      if (answer === null) {
        const ownWords = errorBody.safeParse(parseJsonText(text)).data?.error.message
        return new ChatError(`${statusCode} ${ownWords ?? text}`)
      }
      return { ...answer, header: (name) => headers[name]?.toString() ?? null }
    } catch (error) {
      return new ChatError(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }
}

// --- internal ---

// A local model on a slow machine may take minutes to read a long prompt; beyond this it is taken for dead.
const ANSWER_MS = 300_000

/** What a model said and called, and what it cost; null where a body holds no answer. */
function answerIn({ replies, answers }: Dialect, body: unknown): Omit<ChatAnswer, 'header'> | null {
  const reply = replies.read(body)
  if (reply === null) return null
  const usage = answers.read(body)?.usage ?? null
  const calls = reply.calls.map(({ id, name, argumentsText }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: argumentsText },
  }))
  return {
    message: {
      role: 'assistant',
      content: reply.text === '' ? null : reply.text,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    usage: usage && { promptTokens: usage.promptTokens, cachedTokens: usage.cachedTokens ?? 0 },
  }
}

const errorBody = z.object({ error: z.object({ message: z.string() }) })
