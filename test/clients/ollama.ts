import { HumanMessage, type BaseMessage } from '@langchain/core/messages'
import { ChatOllama } from '@langchain/ollama'
import * as ai from 'ai'
import { createAgent, tool } from 'langchain'
import { Ollama, type Message } from 'ollama'
import { createOllama } from 'ollama-ai-provider-v2'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Matrix } from './matrix.ts'
import { ROUNDS } from './stand/agent-stand.ts'
import { ASKED, expectForgotten, expectKnown, NUM_CTX, ollamaStand } from './stand/ollama-stand.ts'

type At = { readonly url: string; readonly readFile: (path: string) => string }

/** Has the model read files until it has said its last words, in a window of `NUM_CTX`; what those were. */
type Reading = (at: At) => Promise<string>

type OllamaLibrary = {
  readonly name: string
  readonly packageName: string
  /** None where it asks for streams alone. */
  readonly plain?: Reading
  readonly streamed: Reading
}

export function ollamaLibraries(matrix: Matrix): void {
  for (const { name, packageName, plain, streamed } of libraries) {
    const shows = matrix.client(name, packageName)
    const readThrough = (read: Reading, form: 'plain' | 'streamed') => async () => {
      await using direct = await ollamaStand('alone')
      expectForgotten(direct, await read(direct))
      await using at = await ollamaStand('through Foldgate')
      expectKnown(at, await read(at), form)
    }
    const errands = [
      ...(plain === undefined ? [] : [['plain', shows('loop', readThrough(plain, 'plain'))] as const]),
      ['streamed', shows('streamedLoop', readThrough(streamed, 'streamed'))] as const,
    ]
    describe.each([name])('%s', () => {
      test.each(errands)(
        'straight at the server it is answered from a cut prompt, through Foldgate from a whole one: %s',
        async (_, show) => {
          expect.hasAssertions()
          await show()
        },
      )
    })
  }
}

// --- internal ---

const read_file = {
  type: 'function',
  function: {
    name: 'read_file',
    description: 'Reads a file.',
    parameters: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Its path.' } },
      required: ['path'],
    },
  },
}

/** The loop that its documentation shows: what the model said goes back as it came. */
async function converse(at: At, ask: (client: Ollama, messages: Message[]) => Promise<Message>) {
  const client = new Ollama({ host: at.url })
  const messages: Message[] = [{ role: 'user', content: ASKED }]
  for (;;) {
    const said = await ask(client, messages)
    messages.push(said)
    if (said.tool_calls === undefined) return said.content
    for (const { function: called } of said.tool_calls) {
      const content = at.readFile(String(called.arguments['path']))
      messages.push({ role: 'tool', tool_name: called.name, content })
    }
  }
}

const asked = { model: 'm', tools: [read_file], options: { num_ctx: NUM_CTX } }

function langchainReading(streaming: boolean): Reading {
  return async (at) => {
    const readFile = tool(({ path }: { path: string }) => at.readFile(path), {
      name: 'read_file',
      description: 'Reads a file.',
      schema: z.object({ path: z.string() }),
    })
    const model = new ChatOllama({ model: 'm', baseUrl: at.url, numCtx: NUM_CTX, maxRetries: 0, streaming })
    const agent = createAgent({ model, tools: [readFile] })
    const messages: BaseMessage[] = [new HumanMessage(ASKED)]
    const state = await agent.invoke({ messages }, { recursionLimit: 4 * ROUNDS })
    return state.messages.at(-1)?.text ?? ''
  }
}

function aiSdkAgent(at: At) {
  return {
    model: createOllama({ baseURL: `${at.url}/api` })('m'),
    providerOptions: { ollama: { options: { num_ctx: NUM_CTX } } },
    prompt: ASKED,
    tools: {
      read_file: ai.tool({
        description: 'Reads a file.',
        inputSchema: z.object({ path: z.string() }),
        execute: async ({ path }) => at.readFile(path),
      }),
    },
    stopWhen: ai.stepCountIs(ROUNDS + 2),
    maxRetries: 0,
  }
}

const libraries: readonly OllamaLibrary[] = [
  {
    name: 'Ollama SDK',
    packageName: 'ollama',
    plain: (at) =>
      converse(at, async (client, messages) => (await client.chat({ ...asked, messages })).message),
    streamed: (at) =>
      converse(at, async (client, messages) => {
        const said: Message = { role: 'assistant', content: '' }
        for await (const { message } of await client.chat({ ...asked, messages, stream: true })) {
          said.content += message.content
          if (message.tool_calls !== undefined) said.tool_calls = message.tool_calls
        }
        return said
      }),
  },
  { name: 'LangChain, ChatOllama', packageName: '@langchain/ollama', streamed: langchainReading(true) },
  {
    name: 'Vercel AI SDK, Ollama',
    packageName: 'ollama-ai-provider-v2',
    plain: async (at) => (await ai.generateText(aiSdkAgent(at))).text,
    streamed: async (at) => {
      const errors: unknown[] = []
      const result = ai.streamText({ ...aiSdkAgent(at), onError: ({ error }) => void errors.push(error) })
      let text = ''
      for await (const piece of result.textStream) text += piece
      expect(errors).toEqual([])
      return text
    },
  },
]
