import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, type BaseMessage } from '@langchain/core/messages'
import { generateText, jsonSchema, stepCountIs, streamText, tool as aiTool, type ModelMessage } from 'ai'
import { createAgent, tool } from 'langchain'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { isThinking } from '../support/messages/wire-block.ts'
import type { Matrix } from './matrix.ts'
import { LAST_WORDS, QUESTIONS, ROUNDS } from './stand/agent-stand.ts'
import { expectTurns } from './stand/expect-compacted.ts'
import { messagesStand, OUTPUT_TOKENS, type MessagesStand } from './stand/messages-stand.ts'

/** Libraries set to Anthropic's Messages API. */
export function messagesApi(matrix: Matrix): void {
  for (const { name, packageName, path, plain, streamed } of libraries) {
    const shows = matrix.client(`${name}, Messages API`, packageName, { lacks: ['embeddings'] })
    const showPlain = shows('loop', () => readAll(plain, 'plain', path))
    const showStreamed = shows('streamedLoop', () => readAll(streamed, 'streamed', path))
    const showErrors = shows('errors', () => failAll(plain, streamed))
    describe(`${name}, Messages API`, () => {
      test('an agent that reads files over several turns', async () => {
        expect.hasAssertions()
        await showPlain()
      })

      test('the same, its answers streamed', async () => {
        expect.hasAssertions()
        await showStreamed()
      })

      test("Foldgate's own errors are the library's, streamed or not", async () => {
        expect.hasAssertions()
        await showErrors()
      })
    })
  }
}

// --- internal ---

/** Has the model read files, over all turns. Rejects with the client's error if a request is refused. */
type Reading = (at: MessagesStand) => Promise<void>

type Library = {
  readonly name: string
  readonly packageName: string
  /** Where it sends its requests. */
  readonly path: string
  readonly plain: Reading
  readonly streamed: Reading
}

const libraries: readonly Library[] = [
  {
    name: 'Anthropic SDK',
    packageName: '@anthropic-ai/sdk',
    path: '/v1/messages',
    plain: (at) => readWithSdk(at, async (client, asked) => client.messages.create(asked)),
    streamed: (at) => readWithSdk(at, (client, asked) => client.messages.stream(asked).finalMessage()),
  },
  {
    name: 'Anthropic SDK, its tool runner',
    packageName: '@anthropic-ai/sdk',
    path: '/v1/messages',
    plain: (at) => readWithRunner(at, false),
    streamed: (at) => readWithRunner(at, true),
  },
  {
    name: 'Vercel AI SDK',
    packageName: '@ai-sdk/anthropic',
    path: '/v1/messages',
    plain: (at) => readWithAiSdk(at, async (asked) => (await generateText(asked)).responseMessages),
    streamed: (at) => readWithAiSdk(at, streamedText),
  },
  {
    name: 'LangChain',
    packageName: '@langchain/anthropic',
    path: '/v1/messages',
    plain: (at) => readWithLangChain(at, false),
    streamed: (at) => readWithLangChain(at, true),
  },
]

/** The server alone refuses the conversation when it outgrows the window; through Foldgate nothing is refused. */
async function readAll(read: Reading, form: 'plain' | 'streamed', path: string): Promise<string> {
  await using direct = await messagesStand('alone')
  await expect(read(direct)).rejects.toThrow(OVERFLOW)
  const reasons = direct.upstream.requests.map(({ rejected }) => rejected?.reason ?? null)
  expect(reasons).toEqual([...Array(reasons.length - 1).fill(null), 'window'])

  await using at = await messagesStand('through Foldgate')
  await read(at)
  const { requests } = at.upstream
  expect(requests.flatMap(({ transformations }) => transformations)).toEqual([])
  // What was thought since the last compaction is shown, and thinking comes back in most requests.
  const thinking = requests.filter(({ messages }) => messages.some(({ blocks }) => blocks.some(isThinking)))
  expect(thinking.length).toBeGreaterThan(requests.length / 2)
  return expectTurns(at, QUESTIONS.length, { form, path })
}

async function failAll(...ways: readonly Reading[]): Promise<string> {
  await using at = await messagesStand('through Foldgate')
  await at.upstream.close()
  for (const read of ways) await expect(read(at)).rejects.toThrow('cannot be reached')
  return 'yes'
}

/** The prompt alone, or with the reply that is asked for. */
const OVERFLOW = /prompt is too long|exceed context limit/

const MODEL = 'm'

const SYSTEM = 'You read files.'

const pathSchema = z.object({ path: z.string() })

const parameters = {
  type: 'object' as const,
  properties: { path: { type: 'string' as const } },
  required: ['path'],
} satisfies Anthropic.Tool.InputSchema

/** Anthropic's own client and those that are built on it add the `/v1`. */
function rootOf({ url }: MessagesStand): string {
  return url.replace(/\/v1$/, '')
}

// Anthropic's SDK. Retries would hide what these tests look for.

function clientOf(at: MessagesStand): Anthropic {
  return new Anthropic({ baseURL: rootOf(at), apiKey: 'key', maxRetries: 0 })
}

type Asked = Anthropic.MessageCreateParamsNonStreaming

async function readWithSdk(
  at: MessagesStand,
  ask: (client: Anthropic, asked: Asked) => Promise<Anthropic.Message>,
): Promise<void> {
  const client = clientOf(at)
  const messages: Anthropic.MessageParam[] = []
  for (const question of QUESTIONS) {
    messages.push({ role: 'user', content: question })
    let text = ''
    while (text === '') {
      const { content } = await ask(client, { ...settings, tools: [readFileTool], messages })
      const results = content.flatMap((block) => (block.type === 'tool_use' ? [resultOf(at, block)] : []))
      messages.push({ role: 'assistant', content })
      if (results.length > 0) messages.push({ role: 'user', content: results })
      text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    }
    expect(text).toBe(LAST_WORDS)
  }
}

const settings = {
  model: MODEL,
  max_tokens: OUTPUT_TOKENS,
  system: SYSTEM,
  thinking: { type: 'adaptive' },
} as const

const readFileTool = { name: 'read_file', description: 'Reads a file.', input_schema: parameters }

function resultOf(at: MessagesStand, call: Anthropic.ToolUseBlock): Anthropic.ToolResultBlockParam {
  const { path } = pathSchema.parse(call.input)
  return { type: 'tool_result', tool_use_id: call.id, content: at.readFile(path) }
}

async function readWithRunner(at: MessagesStand, stream: boolean): Promise<void> {
  const readFile = betaTool({
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: { ...parameters, required: ['path'] } as const,
    run: ({ path }) => at.readFile(path),
  })
  const messages: Anthropic.Beta.BetaMessageParam[] = []
  for (const question of QUESTIONS) {
    messages.push({ role: 'user', content: question })
    const runner = clientOf(at).beta.messages.toolRunner({
      ...settings,
      tools: [readFile],
      messages,
      stream,
      // Else the server would keep the conversation, and the runner send only what is new.
      thread: false,
    })
    const { content } = await runner
    expect(content.at(-1)).toMatchObject({ type: 'text', text: LAST_WORDS })
    messages.splice(0, messages.length, ...runner.params.messages)
  }
}

// Vercel's AI SDK.

type AskedText = ReturnType<typeof textRequest>

async function readWithAiSdk(
  at: MessagesStand,
  ask: (asked: AskedText) => Promise<readonly ModelMessage[]>,
): Promise<void> {
  const messages: ModelMessage[] = []
  for (const question of QUESTIONS) {
    messages.push({ role: 'user', content: question })
    messages.push(...(await ask(textRequest(at, messages))))
    expect(JSON.stringify(messages.at(-1))).toContain(LAST_WORDS)
  }
}

function textRequest(at: MessagesStand, messages: ModelMessage[]) {
  const readFile = aiTool({
    description: 'Reads a file.',
    inputSchema: jsonSchema<{ path: string }>({ ...parameters, required: ['path'] }),
    execute: async ({ path }) => at.readFile(path),
  })
  return {
    model: createAnthropic({ baseURL: at.url, apiKey: 'key' })(MODEL),
    system: SYSTEM,
    messages,
    maxOutputTokens: OUTPUT_TOKENS,
    tools: { read_file: readFile },
    providerOptions: { anthropic: { thinking: { type: 'adaptive' } } },
    stopWhen: stepCountIs(ROUNDS + 2),
    maxRetries: 0,
  }
}

async function streamedText(asked: AskedText): Promise<readonly ModelMessage[]> {
  const errors: unknown[] = []
  const result = streamText({ ...asked, onError: ({ error }) => void errors.push(error) })
  await result.consumeStream()
  if (errors.length > 0) throw errors[0]
  return result.responseMessages
}

// LangChain's agent.

async function readWithLangChain(at: MessagesStand, streaming: boolean): Promise<void> {
  const readFile = tool(({ path }: { path: string }) => at.readFile(path), {
    name: 'read_file',
    description: 'Reads a file.',
    schema: pathSchema,
  })
  const model = new ChatAnthropic({
    model: MODEL,
    apiKey: 'key',
    anthropicApiUrl: rootOf(at),
    maxTokens: OUTPUT_TOKENS,
    thinking: { type: 'adaptive' },
    maxRetries: 0,
    streaming,
  })
  const agent = createAgent({ model, tools: [readFile], systemPrompt: SYSTEM })
  let messages: BaseMessage[] = []
  for (const question of QUESTIONS) {
    const input = { messages: [...messages, new HumanMessage(question)] }
    const state = await agent.invoke(input, { recursionLimit: 4 * ROUNDS })
    messages = state.messages
    expect(JSON.stringify(messages.at(-1)?.content)).toContain(LAST_WORDS)
  }
}
