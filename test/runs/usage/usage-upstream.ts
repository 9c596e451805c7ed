import { fakeUpstream, json } from '../../support/fake-upstream.ts'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { isObject, textOf } from '../../support/strict-upstream/wire-message.ts'
import { REPLY, type Outcome, type Server } from './servers.ts'
import { keyOf, type Prompt } from './true-count.ts'

/** A request as it reached the upstream. */
type Received = { readonly prompt: Prompt; readonly outcome: Outcome }

/** Serves a server over sockets, plain and streamed. `takeReceived`: in their order, since they were last taken. */
export async function startUsageUpstream(server: Server) {
  const received: Received[] = []
  const { url, requests, close } = await fakeUpstream(
    (request, outgoing, incoming) => {
      requests.splice(0)
      const { body, prompt } = readPrompt(request.body.toString())
      const outputTokens = Number(body['max_completion_tokens'] ?? body['max_tokens'] ?? 0)
      const outcome = server.take(prompt, outputTokens)
      received.push({ prompt, outcome })
      const { statement, promptTokens } = outcome
      const send = (value: object, status = 200) => json(value, status)(request, outgoing, incoming)
      if (statement === null) return send(refusal(server.windowTokens, promptTokens, outputTokens), 400)
      const head = {
        id: 'chatcmpl-1',
        created: 1,
        model: textOf(body['model']),
        ...(server.fingerprint !== null && { system_fingerprint: server.fingerprint }),
      }
      if (body['stream'] !== true) return send(plain(head, statement))
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      const options = body['stream_options']
      const isAsked = isObject(options) && options['include_usage'] === true
      const events = streamed(head, statement, server.inStreams, isAsked).map(
        (value) => `data: ${JSON.stringify(value)}\n\n`,
      )
      outgoing.end(`${events.join('')}data: [DONE]\n\n`)
    },
    {
      onQuestion: (request, outgoing, incoming) => {
        const told = server.told(request.url.split('?')[0] ?? '')
        return json(told ?? { error: 'not found' }, told === null ? 404 : 200)(request, outgoing, incoming)
      },
    },
  )
  return { url, close, takeReceived: () => received.splice(0) }
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
