import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import type { AssistantMessage } from './chat-client.ts'

export type DemoUpstreamOptions = {
  /** Tokens of prompt and reply together. */
  readonly windowTokens: number
  readonly count: (text: string) => number
  /** The reply to a request that fits: `step` is its `metadata.step`, `prompt` its messages as JSON. */
  readonly reply: (step: string, prompt: string) => AssistantMessage
}

export type DemoUpstream = { readonly url: string; readonly close: () => Promise<void> }

/**
 * An OpenAI-compatible server on a free port of 127.0.0.1 for the demo's client. It refuses what exceeds its window in
 * OpenAI's words, and tells how many tokens OpenAI's prompt cache would have served.
 */
export async function startDemoUpstream(options: DemoUpstreamOptions): Promise<DemoUpstream> {
  const { windowTokens, count, reply } = options
  /** The latest prompt of each client, as the JSON of its parts. */
  const prompts = new Map<string, readonly string[]>()
  const server = createServer((request, response) => {
    void text(request).then((body) => answer(body, request.headers.authorization ?? '', response))
  })

  function answer(body: string, client: string, response: ServerResponse): void {
    const send = (status: number, content: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
    const { messages, tools, max_tokens: outputTokens, metadata } = chatBody.parse(JSON.parse(body))
    const toolsTokens = Math.ceil(count(JSON.stringify(tools)) * TOOLS_RATIO)
    const messageTokens = messages.map(({ content, tool_calls: calls = [] }) =>
      calls.reduce(
        (sum, call) => sum + CALL_TOKENS + count(call.function.name) + count(call.function.arguments),
        MESSAGE_TOKENS + count(content ?? ''),
      ),
    )
    const historyTokens = messageTokens.reduce((sum, tokens) => sum + tokens, REPLY_TOKENS)
    const totalTokens = historyTokens + toolsTokens + outputTokens
    if (totalTokens > windowTokens) {
      const message =
        `This model's maximum context length is ${windowTokens} tokens. However, you requested ${totalTokens} tokens ` +
        `(${historyTokens} in the messages, ${toolsTokens} in the functions, and ${outputTokens} in the completion). ` +
        'Please reduce the length of the messages, functions, or completion.'
      const error = {
        message,
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      }
      send(400, { error })
      return
    }
    const parts = messages.map((message) => JSON.stringify(message))
    const earlier = prompts.get(client)
    prompts.set(client, parts)
    let sharedTokens = earlier === undefined ? 0 : toolsTokens
    for (const [at, part] of parts.entries()) {
      if (part !== earlier?.[at]) break
      sharedTokens += messageTokens[at] ?? 0
    }
    const message = reply(metadata.step, JSON.stringify(messages))
    const usage = {
      prompt_tokens: historyTokens + toolsTokens,
      completion_tokens: count(JSON.stringify(message)),
      prompt_tokens_details: { cached_tokens: cachedTokens(sharedTokens) },
    }
    const finish = message.tool_calls === undefined ? 'stop' : 'tool_calls'
    send(200, { ...HEAD, choices: [{ index: 0, message, finish_reason: finish }], usage })
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // oxlint-disable-next-line
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

// --- internal ---

/** What a request of the demo's client has, after Foldgate as well. */
const chatBody = z.object({
  messages: z.array(
    z.looseObject({
      content: z.string().nullish(),
      tool_calls: z
        .array(z.looseObject({ function: z.object({ name: z.string(), arguments: z.string() }) }))
        .optional(),
    }),
  ),
  tools: z.array(z.unknown()),
  max_tokens: z.int(),
  metadata: z.object({ step: z.string() }),
})

/** What is added around each message, around each call, and to open the reply, in tokens; tools by a share of their JSON. */
const MESSAGE_TOKENS = 4
const CALL_TOKENS = 8
const REPLY_TOKENS = 3
const TOOLS_RATIO = 1.1

/** OpenAI's prompt cache hits from so many tokens on, and grows in steps. */
const CACHE_TOKENS_MIN = 1024
const CACHE_STEP_TOKENS = 128

function cachedTokens(sharedTokens: number): number {
  return sharedTokens < CACHE_TOKENS_MIN ? 0 : sharedTokens - (sharedTokens % CACHE_STEP_TOKENS)
}

const HEAD = { id: 'chatcmpl-demo', object: 'chat.completion', created: 1_700_000_000, model: 'demo-model' }
