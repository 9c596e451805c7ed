import { createOpenAI } from '@ai-sdk/openai'
import { Agent, OpenAIProvider, Runner, tool, user, type AgentInputItem } from '@openai/agents'
import { generateText, jsonSchema, stepCountIs, streamText, tool as aiTool, type ModelMessage } from 'ai'
import OpenAI from 'openai'
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { typeOf } from '../support/responses/wire-item.ts'
import type { Matrix } from './matrix.ts'
import { LAST_WORDS, QUESTIONS, ROUNDS } from './stand/agent-stand.ts'
import { expectTurns } from './stand/expect-compacted.ts'
import { responsesStand, type ResponsesStand } from './stand/responses-stand.ts'

/** Libraries set to OpenAI's Responses API, each with all of the conversation in each request. */
export function responsesApi(matrix: Matrix): void {
  for (const { name, packageName, plain, streamed } of libraries) {
    const shows = matrix.client(`${name}, Responses API`, packageName)
    const showPlain = shows('loop', () => readAll(plain, 'plain'))
    const showStreamed = shows('streamedLoop', () => readAll(streamed, 'streamed'))
    const showErrors = shows('errors', () => failAll(plain, streamed))
    describe(`${name}, Responses API`, () => {
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
type Reading = (at: ResponsesStand) => Promise<void>

type Library = {
  readonly name: string
  readonly packageName: string
  readonly plain: Reading
  readonly streamed: Reading
}

const libraries: readonly Library[] = [
  {
    name: 'OpenAI SDK',
    packageName: 'openai',
    plain: (at) => readWithSdk(at, async (client, asked) => client.responses.create(asked)),
    streamed: (at) =>
      readWithSdk(at, (client, asked) => client.responses.stream({ ...asked, stream: true }).finalResponse()),
  },
  {
    name: 'Vercel AI SDK',
    packageName: '@ai-sdk/openai',
    plain: (at) => readWithAiSdk(at, async (asked) => (await generateText(asked)).responseMessages),
    streamed: (at) => readWithAiSdk(at, streamedText),
  },
  {
    name: 'OpenAI Agents SDK',
    packageName: '@openai/agents',
    plain: (at) => readWithAgentsSdk(at, (runner, ...asked) => runner.run(...asked, { maxTurns })),
    streamed: (at) =>
      readWithAgentsSdk(at, async (runner, ...asked) => {
        const result = await runner.run(...asked, { maxTurns, stream: true })
        await result.completed
        return result
      }),
  },
]

const maxTurns = ROUNDS + 2

/** A model that thinks: the AI SDK sends no reasoning to one that it does not take for such. */
const MODEL = 'gpt-5.1'

/** The server alone refuses the conversation when it outgrows the window; through Foldgate nothing is refused or left out. */
async function readAll(read: Reading, form: 'plain' | 'streamed'): Promise<string> {
  await using direct = await responsesStand('alone')
  await expect(read(direct)).rejects.toThrow('exceeds the context window')
  const reasons = direct.upstream.requests.map(({ rejected }) => rejected?.reason ?? null)
  expect(reasons).toEqual([...Array(reasons.length - 1).fill(null), 'window'])

  await using at = await responsesStand('through Foldgate')
  await read(at)
  const { requests } = at.upstream
  expect(requests.flatMap(({ removed }) => removed)).toEqual([])
  // The last round is shown with its thoughts even so.
  expect(requests.at(-1)?.items.some((item) => typeOf(item) === 'reasoning')).toBe(true)
  return expectTurns(at, QUESTIONS.length, { form, path: '/v1/responses' })
}

async function failAll(...ways: readonly Reading[]): Promise<string> {
  await using at = await responsesStand('through Foldgate')
  await at.upstream.close()
  for (const read of ways) await expect(read(at)).rejects.toThrow('cannot be reached')
  return 'yes'
}

/** Retries would hide what these tests look for. */
function clientOf(at: ResponsesStand): OpenAI {
  return new OpenAI({ baseURL: at.url, apiKey: 'key', maxRetries: 0 })
}

// The official SDK.

type Asked = OpenAI.Responses.ResponseCreateParamsNonStreaming

async function readWithSdk(
  at: ResponsesStand,
  ask: (client: OpenAI, asked: Asked) => Promise<OpenAI.Responses.Response>,
): Promise<void> {
  const client = clientOf(at)
  const input: OpenAI.Responses.ResponseInputItem[] = []
  for (const question of QUESTIONS) {
    input.push({ role: 'user', content: question })
    let text = ''
    while (text === '') {
      const { output, output_text } = await ask(client, { ...settings, input })
      const calls = output.filter((item) => item.type === 'function_call')
      input.push(...toResponseInputItems(output), ...calls.map((call) => resultOf(at, call)))
      text = output_text
    }
    expect(text).toBe(LAST_WORDS)
  }
}

const settings = {
  model: MODEL,
  instructions: 'You read files.',
  store: false,
  include: ['reasoning.encrypted_content'],
  tools: [
    {
      type: 'function',
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      strict: null,
    },
  ],
} satisfies Asked

function resultOf(
  at: ResponsesStand,
  call: OpenAI.Responses.ResponseFunctionToolCall,
): OpenAI.Responses.ResponseInputItem.FunctionCallOutput {
  const { path } = pathSchema.parse(JSON.parse(call.arguments))
  return { type: 'function_call_output', call_id: call.call_id, output: at.readFile(path) }
}

const pathSchema = z.object({ path: z.string() })

// OpenAI's Agents SDK, with the model class that it takes if it is told of none.

type Ran = { readonly finalOutput?: unknown; readonly history: AgentInputItem[] }

async function readWithAgentsSdk(
  at: ResponsesStand,
  run: (runner: Runner, agent: Agent, history: AgentInputItem[]) => Promise<Ran>,
): Promise<void> {
  const readFile = tool({
    name: 'read_file',
    description: 'Reads a file.',
    parameters: pathSchema,
    execute: async ({ path }) => at.readFile(path),
  })
  const agent = new Agent({
    name: 'Reader',
    instructions: 'You read files.',
    model: MODEL,
    tools: [readFile],
  })
  // Its traces would go to OpenAI.
  const modelProvider = new OpenAIProvider({ openAIClient: clientOf(at) })
  const runner = new Runner({ modelProvider, tracingDisabled: true })
  let history: AgentInputItem[] = []
  for (const question of QUESTIONS) {
    const result = await run(runner, agent, [...history, user(question)])
    expect(result.finalOutput).toBe(LAST_WORDS)
    history = result.history
  }
}

// Vercel's AI SDK.

type AskedText = ReturnType<typeof textRequest>

async function readWithAiSdk(
  at: ResponsesStand,
  ask: (asked: AskedText) => Promise<readonly ModelMessage[]>,
): Promise<void> {
  const messages: ModelMessage[] = []
  for (const question of QUESTIONS) {
    messages.push({ role: 'user', content: question })
    messages.push(...(await ask(textRequest(at, messages))))
    expect(JSON.stringify(messages.at(-1))).toContain(LAST_WORDS)
  }
}

function textRequest(at: ResponsesStand, messages: ModelMessage[]) {
  const readFile = aiTool({
    description: 'Reads a file.',
    inputSchema: jsonSchema<{ path: string }>({
      type: 'object',
      properties: { path: { type: 'string' } },
      required: ['path'],
    }),
    execute: async ({ path }) => at.readFile(path),
  })
  return {
    model: createOpenAI({ baseURL: at.url, apiKey: 'key' })(MODEL),
    system: 'You read files.',
    messages,
    tools: { read_file: readFile },
    // Without it old replies are sent as references.
    providerOptions: { openai: { store: false } },
    stopWhen: stepCountIs(maxTurns),
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
