import { request } from 'undici'
import { z } from 'zod'
import { parseJsonText } from '../conversation/json-value.ts'

/** A message as the demo's client sends it. */
export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | AssistantMessage
  | { role: 'tool'; tool_call_id: string; content: string }

export type AssistantMessage = { role: 'assistant'; content: string | null; tool_calls?: readonly ChatCall[] }

export type ChatCall = z.output<typeof chatCall>

export type ChatTool = {
  readonly type: 'function'
  readonly function: { name: string; description: string; parameters: Record<string, unknown> }
}

/** The parts of a request body that differ between the demo's requests. */
export type ChatRequest = {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ChatTool[]
  readonly metadata?: Record<string, string>
  readonly max_tokens?: number
}

export type ChatAnswer = {
  readonly message: AssistantMessage
  readonly usage: { readonly promptTokens: number; readonly cachedTokens: number } | null
  readonly header: (name: string) => string | null
}

/** Sends a chat completion, once, and waits for all of the answer. Never rejects. */
export type ChatClient = (request: ChatRequest) => Promise<ChatAnswer | ChatError>

/** How to reach a server. */
export type ChatTarget = { readonly url: string; readonly apiKey: string }

/** A request that failed: the server's own words, or why it was not reached. */
export class ChatError extends Error {
  override readonly name = 'ChatError'
}

export function openChatClient({ url, apiKey }: ChatTarget): ChatClient {
  return async function send(chat) {
    try {
      const { statusCode, headers, body } = await request(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(chat),
        headersTimeout: ANSWER_MS,
        bodyTimeout: ANSWER_MS,
      })
      const text = await body.text()
      const answer = statusCode === 200 ? completion.safeParse(parseJsonText(text)).data : undefined
      if (answer === undefined) return new ChatError(`${statusCode} ${errorText(text)}`)
      return { ...answer, header: (name) => headers[name]?.toString() ?? null }
    } catch (error) {
      return new ChatError(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }
}

// --- internal ---

// A local model on a slow machine may take minutes to read a long prompt; beyond this it is taken for dead.
const ANSWER_MS = 300_000

const chatCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

/** The parts of an answer that the demo reads. */
const completion = z
  .object({
    choices: z.tuple(
      [
        z.object({
          message: z.object({ content: z.string().nullish(), tool_calls: z.array(chatCall).nullish() }),
        }),
      ],
      z.unknown(),
    ),
    usage: z
      .object({
        prompt_tokens: z.number(),
        prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
      })
      .nullish(),
  })
  .transform(({ choices: [{ message }], usage }): Omit<ChatAnswer, 'header'> => ({
    message: {
      role: 'assistant',
      content: message.content ?? null,
      ...(message.tool_calls != null && { tool_calls: message.tool_calls }),
    },
    usage:
      usage == null
        ? null
        : {
            promptTokens: usage.prompt_tokens,
            cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
          },
  }))

const errorBody = z.object({ error: z.object({ message: z.string() }) })

/** The server's own words in an error body, else the whole body. */
function errorText(body: string): string {
  return errorBody.safeParse(parseJsonText(body)).data?.error.message ?? body
}
