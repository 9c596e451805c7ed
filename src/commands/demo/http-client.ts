import { request } from 'undici'
import { z } from 'zod'
import { parseJsonText } from '../../json/json-value.ts'
import type { ChatAnswer, ChatRequest, Wire } from './client-wire.ts'

/** Sends a request, once, and waits for all of the answer. Never rejects. */
export type ChatClient = (request: ChatRequest) => Promise<ChatAnswer | ChatError>

/** How to reach a server. */
export type ChatTarget = { readonly url: string; readonly apiKey: string }

/** A request that failed: the server's own words, or why it was not reached. */
export class ChatError extends Error {
  override readonly name = 'ChatError'
}

/** A client that writes what it says in a dialect. */
export function openChatClient({ url, apiKey }: ChatTarget, wire: Wire): ChatClient {
  return async function send(chat) {
    try {
      const { statusCode, headers, body } = await request(`${url}${wire.path}`, {
        method: 'POST',
        headers: { ...wire.headers(apiKey), 'content-type': 'application/json' },
        body: JSON.stringify(wire.request(chat)),
        headersTimeout: ANSWER_MS,
        bodyTimeout: ANSWER_MS,
      })
      const text = await body.text()
      const answer = statusCode === 200 ? wire.answer(parseJsonText(text)) : undefined
      if (answer === undefined) {
        const ownWords = errorBody.safeParse(parseJsonText(text)).data?.error
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

const errorBody = z.object({
  error: z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]),
})
