import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { isObject, textOf } from '../../support/strict-upstream/wire-message.ts'
import { questionUserAgent } from '../../../src/models/discovery/ask-json.ts'
import { REPLY, type Outcome, type Server } from './servers.ts'
import { keyOf, type Prompt } from './true-count.ts'

/** A request as it reached the upstream. */
export type Received = { readonly prompt: Prompt; readonly outcome: Outcome }

export type UsageUpstream = {
  /** With the path `/v1`. */
  readonly url: string
  /** In their order, since they were last taken. */
  readonly takeReceived: () => readonly Received[]
  readonly close: () => Promise<void>
}

/** Serves a server over sockets, plain and streamed. */
export async function startUsageUpstream(server: Server): Promise<UsageUpstream> {
  const received: Received[] = []

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of incoming as AsyncIterable<Buffer>) pieces.push(piece)
    const [path = ''] = (incoming.url ?? '').split('?')
    if (incoming.method !== 'POST' || incoming.headers['user-agent'] === questionUserAgent) {
      const told = server.told(path)
      return sendJson(outgoing, told === null ? 404 : 200, told ?? { error: 'not found' })
    }
    const { body, prompt } = readPrompt(Buffer.concat(pieces).toString())
    const outputTokens = Number(body['max_completion_tokens'] ?? body['max_tokens'] ?? 0)
    const outcome = server.take(prompt, outputTokens)
    received.push({ prompt, outcome })
    if (outcome.statement === null)
      return sendJson(outgoing, 400, refusal(server.windowTokens, outcome.promptTokens, outputTokens))
    const head = {
      id: 'chatcmpl-1',
      created: 1,
      model: textOf(body['model']),
      ...(server.fingerprint !== null && { system_fingerprint: server.fingerprint }),
    }
    if (body['stream'] !== true) return sendJson(outgoing, 200, plain(head, outcome.statement))
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    const options = body['stream_options']
    const isAsked = isObject(options) && options['include_usage'] === true
    outgoing.end(
      `${streamed(head, outcome.statement, server.inStreams, isAsked).map(event).join('')}data: [DONE]\n\n`,
    )
  }

  const listener = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      // A mistake of the run's own shows as an answer that nobody takes for an overflow.
      process.stderr.write(`${String(error)}\n`)
      sendJson(outgoing, 404, { error: String(error) })
    })
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const address = listener.address()
  const port = isObject(address) ? Number(address['port']) : 0
  return {
    url: `http://127.0.0.1:${port}/v1`,
    takeReceived: () => received.splice(0),
    close: async () => {
      const closed = once(listener, 'close')
      listener.close()
      listener.closeAllConnections()
      await closed
    },
  }
}

// --- internal ---

function readPrompt(text: string): { readonly body: Record<string, unknown>; readonly prompt: Prompt } {
  const value: unknown = JSON.parse(text)
  const body = isObject(value) ? value : {}
  const raw = cutRawRequest(text)
  const messages = (Array.isArray(body['messages']) ? body['messages'] : [])
    .filter(isObject)
    .map((message, index) => ({ message, key: keyOf(raw.messages[index] ?? '') }))
  return { body, prompt: { messages, tools: body['tools'], toolsKey: keyOf(raw.tools) } }
}

type Head = Readonly<Record<string, unknown>>

function sendJson(outgoing: ServerResponse, status: number, value: object): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify(value))
}

function plain(head: Head, statement: object): object {
  const message = { role: 'assistant', content: REPLY }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return { ...head, object: 'chat.completion', choices, ...statement }
}

function streamed(
  head: Head,
  statement: object,
  inStreams: Server['inStreams'],
  isAsked: boolean,
): readonly object[] {
  const chunk = (delta: object, finish: string | null, more: object = {}) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
  const everywhere = inStreams === 'every-chunk' ? statement : {}
  const last =
    inStreams === 'x-groq'
      ? { x_groq: { id: 'req_1', ...statement } }
      : inStreams === 'asked'
        ? {}
        : statement
  const own = { ...head, object: 'chat.completion.chunk', choices: [], ...statement }
  return [
    chunk({ role: 'assistant', content: '' }, null, everywhere),
    ...REPLY.split(/(?<= )/).map((content) => chunk({ content }, null, everywhere)),
    chunk({}, 'stop', last),
    ...(inStreams === 'asked' && isAsked ? [own] : []),
  ]
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** OpenAI's own wording. */
function refusal(windowTokens: number, promptTokens: number, outputTokens: number): object {
  const total = promptTokens + outputTokens
  const asked =
    outputTokens > 0
      ? `you requested ${total} tokens (${promptTokens} in the messages, ${outputTokens} in the completion)`
      : `your messages resulted in ${promptTokens} tokens`
  return {
    error: {
      message: `This model's maximum context length is ${windowTokens} tokens. However, ${asked}. Please reduce the length of the messages${outputTokens > 0 ? ' or completion' : ''}.`,
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  }
}
