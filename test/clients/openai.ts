import OpenAI, { AzureOpenAI, toFile } from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems'
import { expect } from 'vitest'
import { z } from 'zod'
import { bytes, json } from '../support/fake-upstream.ts'
import { longConversation } from '../support/long-conversation.ts'
import { standWith } from '../support/stand.ts'
import { LONGEST, TOO_LONG, type ChatLibrary, type ThinkingLibrary } from './errands.ts'
import {
  LAST_WORDS,
  QUESTIONS,
  ROUNDS,
  WINDOW_TOKENS,
  type AgentStand,
  type ThinkingStand,
} from './stand/agent-stand.ts'

/** Retries would hide what these tests look for. */
const clientOf = (at: { readonly url: string }): OpenAI =>
  new OpenAI({ baseURL: at.url, apiKey: 'key', maxRetries: 0 })

const messages = [...longConversation()]
const hi = [{ role: 'user' as const, content: 'hi' }]
const limits = { maxChatCompletions: ROUNDS + 2 }
const pathSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }

const readFileTool = (readFile: (path: string) => string) => ({
  type: 'function' as const,
  function: {
    name: 'read_file',
    description: 'Reads a file.',
    parameters: pathSchema,
    parse: (text: string) => ({ path: String(/"path":"([^"]+)"/.exec(text)?.[1]) }),
    function: ({ path }: { path: string }) => readFile(path),
  },
})

async function runStreamed(client: OpenAI, model: string, at: AgentStand): Promise<void> {
  const asked = [{ role: 'user' as const, content: QUESTIONS[0] }]
  const tools = [readFileTool(at.readFile)]
  const runner = client.chat.completions.runTools({ model, stream: true, messages: asked, tools }, limits)
  expect(await runner.finalContent()).toBe(LAST_WORDS)
}

const wanted = { model: 'm', messages, response_format: zodResponseFormat(LONGEST, 'longest') }

export const openai: ChatLibrary = {
  name: 'OpenAI SDK',
  packageName: 'openai',
  chat: async (at) => {
    const { data, response } = await clientOf(at)
      .chat.completions.create({ model: 'm', messages })
      .withResponse()
    expect(data.usage?.prompt_tokens).toBeLessThanOrEqual(WINDOW_TOKENS)
    expect(response.headers.get('x-foldgate-action')).toBe('compacted')
    return data.choices[0]?.message.content
  },
  stream: async (at) => {
    const asked = { model: 'm', messages, stream: true, stream_options: { include_usage: true } } as const
    let text = ''
    let promptTokens = 0
    for await (const chunk of await clientOf(at).chat.completions.create(asked)) {
      text += chunk.choices[0]?.delta.content ?? ''
      promptTokens = chunk.usage?.prompt_tokens ?? promptTokens
    }
    expect(promptTokens).toBeGreaterThan(0)
    expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
    return text
  },
  loop: {
    turns: QUESTIONS.length,
    run: async (at) => {
      const history: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'You read files.' }]
      for (const question of QUESTIONS) {
        history.push({ role: 'user', content: question })
        const asked = { model: 'm', messages: history, tools: [readFileTool(at.readFile)] }
        const runner = clientOf(at).chat.completions.runTools(asked, limits)
        expect(await runner.finalContent()).toBe(LAST_WORDS)
        history.splice(0, history.length, ...runner.messages)
      }
    },
  },
  streamedLoop: { turns: 1, run: (at) => runStreamed(clientOf(at), 'm', at) },
  structured: {
    plain: async (at) => (await clientOf(at).chat.completions.parse(wanted)).choices[0]?.message.parsed,
    streamed: async (at) => {
      const { choices } = await clientOf(at).chat.completions.stream(wanted).finalChatCompletion()
      return choices[0]?.message.parsed
    },
  },
  // The upstream's and Foldgate's.
  errors: async (at) => {
    const { completions } = clientOf(at).chat
    const tooLong = [{ role: 'user' as const, content: TOO_LONG }]
    await expect(completions.create({ model: 'm', messages: tooLong })).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    })
    const headers = { 'x-foldgate-profile': 'nobody' }
    await expect(completions.create({ model: 'm', messages: hi }, { headers })).rejects.toMatchObject({
      status: 400,
      code: 'unknown_profile',
      type: 'foldgate_error',
    })
    const models = await clientOf(at).models.list()
    expect(models.data.map(({ id }) => id)).toEqual(['strict-model'])
  },
  abort: async (at) => {
    const answer = await clientOf(at).chat.completions.create({ model: 'm', messages: hi, stream: true })
    for await (const chunk of answer)
      if (chunk.choices[0]?.delta.content === 'words ') answer.controller.abort()
  },
  embed: async (at) => {
    const input = { model: 'e', input: ['one', 'zwei'], encoding_format: 'float' as const }
    return (await clientOf(at).embeddings.create(input)).data[0]?.embedding
  },
  files: async () => {
    const content = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256))
    await using at = await standWith((request) =>
      request.method === 'POST' ? json({ id: 'file-1', object: 'file' }) : bytes(content),
    )
    const { files } = clientOf(at)
    const file = await toFile(content, 'lines.jsonl')
    expect(await files.create({ file, purpose: 'batch' })).toMatchObject({ id: 'file-1' })
    expect(at.upstream.requests[0]?.body.includes(content)).toBe(true)
    const downloaded = await (await files.content('file-1')).arrayBuffer()
    expect(Buffer.from(downloaded).equals(content)).toBe(true)
  },
}

const azureOf = (at: AgentStand): AzureOpenAI =>
  new AzureOpenAI({
    endpoint: new URL(at.url).origin,
    apiKey: 'azure-key',
    apiVersion: '2025-04-01-preview',
    maxRetries: 0,
  })

export const azureOpenai: ChatLibrary = {
  name: 'OpenAI SDK, Azure',
  packageName: 'openai',
  path: '/v1/openai/deployments/dep/chat/completions?api-version=2025-04-01-preview',
  chat: async (at) => {
    const answer = await azureOf(at).chat.completions.create({ model: 'dep', messages })
    expect(at.upstream.requests[0]?.headers['api-key']).toBe('azure-key')
    return answer.choices[0]?.message.content
  },
  streamedLoop: { turns: 1, run: (at) => runStreamed(azureOf(at), 'dep', at) },
}

type Asked = OpenAI.Responses.ResponseCreateParamsNonStreaming

async function readByResponses(
  at: ThinkingStand,
  ask: (client: OpenAI, asked: Asked) => Promise<OpenAI.Responses.Response>,
): Promise<void> {
  const input: OpenAI.Responses.ResponseInputItem[] = []
  const tool = { type: 'function', name: 'read_file', description: 'Reads a file.', strict: null } as const
  const settings: Asked = {
    model: 'gpt-5.1',
    instructions: 'You read files.',
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [{ ...tool, parameters: pathSchema }],
  }
  for (const question of QUESTIONS) {
    input.push({ role: 'user', content: question })
    let text = ''
    while (text === '') {
      const { output, output_text } = await ask(clientOf(at), { ...settings, input })
      input.push(...toResponseInputItems(output))
      for (const item of output) {
        if (item.type !== 'function_call') continue
        const { path } = z.object({ path: z.string() }).parse(JSON.parse(item.arguments))
        input.push({ type: 'function_call_output', call_id: item.call_id, output: at.readFile(path) })
      }
      text = output_text
    }
    expect(text).toBe(LAST_WORDS)
  }
}

export const openaiResponses: ThinkingLibrary = {
  name: 'OpenAI SDK',
  packageName: 'openai',
  plain: (at) => readByResponses(at, async (client, asked) => client.responses.create(asked)),
  streamed: (at) =>
    readByResponses(at, (client, asked) =>
      client.responses.stream({ ...asked, stream: true }).finalResponse(),
    ),
}
