import type * as Sdk from 'openai'
import { request as undiciRequest } from 'undici'
import { requestBody, ChatError, type ChatClient, type ChatTarget } from './chat-client.ts'
import { joinAnswer, type AnswerChunk } from './streamed-answer.ts'
import { isObject, textOf } from './wire-message.ts'

// A local model on a slow machine may take minutes to read a long prompt; beyond this it is taken for dead.
const ANSWER_TIMEOUT_MS = 300_000

/**
 * The official `openai` SDK where it is installed, as it is in a checkout, else a small client of our own that
 * sends the same requests, as in a production image.
 */
export async function openClients(
  load: () => Promise<typeof Sdk> = () => import('openai'),
): Promise<(target: ChatTarget) => ChatClient> {
  try {
    const sdk = await load()
    return (target) => openSdkClient(sdk, target)
  } catch {
    return openSmallClient
  }
}

// --- internal ---

function openSdkClient({ default: OpenAI }: typeof Sdk, target: ChatTarget): ChatClient {
  // Retries would hide the failures that the demo is there to show.
  // The SDK wants a key even for a server that has none.
  const client = new OpenAI({
    baseURL: target.url,
    apiKey: target.apiKey || 'none',
    maxRetries: 0,
    timeout: ANSWER_TIMEOUT_MS,
  })
  return {
    name: 'the official openai SDK',
    async send(request) {
      try {
        const { data, response } = await client.chat.completions.create(requestBody(request)).withResponse()
        return { ...(await joinAnswer(data)), header: (name) => response.headers.get(name) }
      } catch (error) {
        if (error instanceof ChatError) throw error
        if (!(error instanceof OpenAI.APIError)) throw notReached(error)
        throw new ChatError(error.message, error.status ?? null, error.code ?? null, error)
      }
    },
  }
}

function openSmallClient(target: ChatTarget): ChatClient {
  return {
    name: 'a small client of its own, since the openai package is not installed',
    async send(request) {
      try {
        const response = await undiciRequest(`${target.url}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${target.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(requestBody(request)),
          headersTimeout: ANSWER_TIMEOUT_MS,
          bodyTimeout: ANSWER_TIMEOUT_MS,
        })
        if (response.statusCode !== 200) throw errorOf(response.statusCode, await response.body.text())
        const header = (name: string) => {
          const value = response.headers[name]
          return typeof value === 'string' ? value : null
        }
        return { ...(await joinAnswer(readChunks(response.body))), header }
      } catch (error) {
        throw error instanceof ChatError ? error : notReached(error)
      }
    },
  }
}

function notReached(error: unknown): ChatError {
  return new ChatError(error instanceof Error ? error.message : String(error), null, null, error)
}

function errorOf(status: number, body: string): ChatError {
  const parsed = parse(body)
  const error = isObject(parsed) && isObject(parsed['error']) ? parsed['error'] : {}
  const code = textOf(error['code'])
  return new ChatError(`${status} ${textOf(error['message']) || body}`, status, code === '' ? null : code)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function* readChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<AnswerChunk> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : ''
      if (data === '' || data === '[DONE]') continue
      const chunk: unknown = parse(data)
      if (isObject(chunk) && chunk['error'] !== undefined) throw errorOf(200, data)
      if (isObject(chunk)) yield chunk
    }
  }
}
