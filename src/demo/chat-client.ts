import { request } from 'undici'
import { z } from 'zod'

/** A message as the demo's client sends it. */
export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | AssistantMessage
  | { role: 'tool'; tool_call_id: string; content: string }

export type AssistantMessage = { role: 'assistant'; content: string | null; tool_calls?: readonly ChatCall[] }

export type ChatCall = {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

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

/** Sends a chat completion, always streamed and only once. Rejects with a `ChatError`. */
export type ChatClient = (request: ChatRequest) => Promise<ChatAnswer>

/** How to reach a server. */
export type ChatTarget = { readonly url: string; readonly apiKey: string }

/** A request that failed: the server's own words, or why it was not reached. */
export class ChatError extends Error {
  override readonly name = 'ChatError'
}

export function openChatClient({ url, apiKey }: ChatTarget): ChatClient {
  return async function send(chat) {
    try {
      const response = await request(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...chat, stream: true, stream_options: { include_usage: true } }),
        headersTimeout: ANSWER_MS,
        bodyTimeout: ANSWER_MS,
      })
      if (response.statusCode !== 200) {
        throw new ChatError(`${response.statusCode} ${errorText(await response.body.text())}`)
      }
      const header = (name: string) => response.headers[name]?.toString() ?? null
      return { ...(await joinAnswer(response.body)), header }
    } catch (error) {
      if (error instanceof ChatError) throw error
      throw new ChatError(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }
}

// --- internal ---

// A local model on a slow machine may take minutes to read a long prompt; beyond this it is taken for dead.
const ANSWER_MS = 300_000

const errorBody = z.object({ error: z.object({ message: z.string() }) })

/** The parts of a streamed chunk that the demo reads. */
const answerChunk = z.object({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            tool_calls: z
              .array(
                z.object({
                  index: z.int(),
                  id: z.string().nullish(),
                  function: z
                    .object({ name: z.string().nullish(), arguments: z.string().nullish() })
                    .optional(),
                }),
              )
              .nullish(),
          })
          .optional(),
        finish_reason: z.string().nullish(),
      }),
    )
    .optional(),
  usage: z
    .object({
      prompt_tokens: z.number(),
      prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
})

/** The server's own words in an error body, else the whole body. */
function errorText(body: string): string {
  try {
    return errorBody.parse(JSON.parse(body)).error.message
  } catch {
    return body
  }
}

/** Puts the pieces of a streamed answer together. Throws a `ChatError` if the answer breaks off. */
async function joinAnswer(body: AsyncIterable<Uint8Array>): Promise<Omit<ChatAnswer, 'header'>> {
  let content = ''
  let isFinished = false
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
  let usage: ChatAnswer['usage'] = null
  for await (const data of eventsOf(body)) {
    const chunk = answerChunk.parse(JSON.parse(data))
    if (chunk.error !== undefined) throw new ChatError(`200 ${errorText(data)}`)
    const choice = chunk.choices?.[0]
    isFinished ||= typeof choice?.finish_reason === 'string'
    content += choice?.delta?.content ?? ''
    for (const piece of choice?.delta?.tool_calls ?? []) {
      const call = (calls[piece.index] ??= {
        id: '',
        type: 'function',
        function: { name: '', arguments: '' },
      })
      call.id ||= piece.id ?? ''
      call.function.name += piece.function?.name ?? ''
      call.function.arguments += piece.function?.arguments ?? ''
    }
    if (chunk.usage) {
      const { prompt_tokens: promptTokens, prompt_tokens_details: details } = chunk.usage
      usage = { promptTokens, cachedTokens: details?.cached_tokens ?? 0 }
    }
  }
  if (!isFinished) throw new ChatError('The answer broke off before its end.')
  const message: AssistantMessage = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return { message, usage }
}

async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : ''
      if (data !== '' && data !== '[DONE]') yield data
    }
  }
}
