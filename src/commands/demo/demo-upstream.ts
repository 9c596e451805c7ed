import { createServer, type ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { z } from 'zod'
import type { Dialect } from '../../formats/contract.ts'
import { type JsonObject, objectsOf } from '../../json/json-value.ts'
import { closeAtOnce, reachable } from '../../server/listeners.ts'
import type { AssistantMessage, SpokenDialect } from './client-wire.ts'

export type DemoUpstreamOptions = {
  readonly spoken: SpokenDialect
  /** Tokens of prompt and reply together. */
  readonly windowTokens: number
  readonly count: (text: string) => number
  /** The reply to a request that fits: `step` is what its metadata say, `prompt` its messages or items as JSON. */
  readonly reply: (step: string, prompt: string) => AssistantMessage
}

/**
 * A server on a free port of 127.0.0.1 for the demo's client. It refuses what exceeds its window in its provider's words, and
 * tells how many tokens OpenAI's prompt cache would have served.
 */
export async function startDemoUpstream(options: DemoUpstreamOptions) {
  const { spoken, windowTokens, count, reply } = options
  /** The latest prompt of each client, as the JSON of its parts. */
  const prompts = new Map<string, readonly string[]>()
  const server = createServer((request, response) => {
    const { authorization, 'x-api-key': apiKey } = request.headers
    void textOf(request).then((body) => answer(body, authorization ?? String(apiKey), response))
  })

  function answer(body: string, client: string, response: ServerResponse): void {
    const send = (status: number, content: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
    const { parts, tools, outputTokens, step } = receivedIn(spoken.dialect, JSON.parse(body))
    const toolsTokens = Math.ceil(count(JSON.stringify(tools)) * TOOLS_RATIO)
    const partTokens = parts.map(({ text, calls }) =>
      calls.reduce(
        (sum, call) => sum + CALL_TOKENS + count(call.name) + count(call.argumentsText),
        MESSAGE_TOKENS + count(text),
      ),
    )
    const historyTokens = partTokens.reduce((sum, tokens) => sum + tokens, REPLY_TOKENS)
    if (historyTokens + toolsTokens + outputTokens > windowTokens) {
      send(400, spoken.refusal({ windowTokens, historyTokens, toolsTokens, outputTokens }))
      return
    }
    const prompt = parts.map(({ json }) => json)
    const earlier = prompts.get(client)
    prompts.set(client, prompt)
    let sharedTokens = earlier === undefined ? 0 : toolsTokens
    for (const [at, part] of prompt.entries()) {
      if (part !== earlier?.[at]) break
      sharedTokens += partTokens[at] ?? 0
    }
    const message = reply(step, `[${prompt.join()}]`)
    const usage = {
      promptTokens: historyTokens + toolsTokens,
      cachedTokens: cachedTokens(sharedTokens),
      outputTokens: count(JSON.stringify(message)),
    }
    send(200, spoken.reply(message, usage))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = reachable(server, { host: '127.0.0.1', port: 0 })
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => closeAtOnce(server),
  }
}

// --- internal ---

/** What a request of the demo's client has, after Foldgate as well; each API has names of its own for it. */
const requestBody = z
  .object({
    system: z.string(),
    messages: z.array(z.unknown()),
    input: z.array(z.unknown()),
    tools: z.array(z.unknown()),
    max_tokens: z.int(),
    max_output_tokens: z.int(),
    metadata: z.record(z.string(), z.string()),
  })
  .partial()

/** What the client sent, in parts in their order: the system prompt, messages, or items. */
function receivedIn(dialect: Dialect, body: unknown) {
  const { system, messages, input, tools = [], metadata = {}, ...limits } = requestBody.parse(body)
  const sent = [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    ...objectsOf(messages ?? input),
  ]
  const parts = sent.map((entry) => {
    const said = entriesIn(dialect, entry).map(dialect.entries.parse)
    return {
      json: JSON.stringify(entry),
      text: said.map(({ text }) => text).join('\n'),
      calls: said.flatMap(({ calls }) => calls),
    }
  })
  const outputTokens = limits.max_tokens ?? limits.max_output_tokens ?? 0
  return { parts, tools, outputTokens, step: metadata['step'] ?? metadata['user_id'] ?? '' }
}

/** What the dialect reads by itself: the blocks of a message where an entry is one of those. */
function entriesIn({ entryName }: Dialect, sent: JsonObject): readonly JsonObject[] {
  const { content } = sent
  return entryName === 'block' && Array.isArray(content) ? objectsOf(content) : [sent]
}

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
