import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { createAgent, tool } from 'langchain'
import { expect } from 'vitest'
import { z } from 'zod'
import { longConversation } from '../support/long-conversation.ts'
import { LONGEST, TOO_LONG, type ChatLibrary, type ThinkingLibrary } from './errands.ts'
import { LAST_WORDS, OUTPUT_TOKENS, QUESTIONS, ROUNDS, type Stand } from './stand/agent-stand.ts'

/** Two steps of its graph for each round, and more than the agent takes. */
const recursionLimit = 4 * ROUNDS

const modelOf = (at: { readonly url: string }, streaming = false): ChatOpenAI =>
  new ChatOpenAI({
    model: 'm',
    apiKey: 'key',
    maxRetries: 0,
    // Where it says no, even what is asked for as a stream is none.
    ...(streaming && { streaming }),
    configuration: { baseURL: at.url },
  })

function agentOf(at: Stand, model: BaseChatModel) {
  const readFile = tool(({ path }: { path: string }) => at.readFile(path), {
    name: 'read_file',
    description: 'Reads a file.',
    schema: z.object({ path: z.string() }),
  })
  return createAgent({ model, tools: [readFile], systemPrompt: 'You read files.' })
}

async function readFiles(at: Stand, model: BaseChatModel): Promise<void> {
  const agent = agentOf(at, model)
  let messages: BaseMessage[] = []
  for (const question of QUESTIONS) {
    const input = { messages: [...messages, new HumanMessage(question)] }
    const state = await agent.invoke(input, { recursionLimit })
    messages = state.messages
    expect(JSON.stringify(messages.at(-1)?.content)).toContain(LAST_WORDS)
  }
}

const longMessages = (): BaseMessage[] =>
  longConversation().map(({ role, content }) =>
    role === 'user' ? new HumanMessage(content) : new AIMessage(content),
  )

export const langchain: ChatLibrary = {
  name: 'LangChain',
  packageName: '@langchain/openai',
  chat: async (at) => (await modelOf(at).invoke(longMessages())).content,
  stream: async (at) => {
    let text = ''
    for await (const piece of await modelOf(at).stream(longMessages())) text += piece.text
    return text
  },
  loop: { turns: QUESTIONS.length, run: (at) => readFiles(at, modelOf(at)) },
  streamedLoop: {
    turns: 1,
    run: async (at) => {
      let text = ''
      const asked = { messages: [new HumanMessage(QUESTIONS[0])] }
      const how = { streamMode: 'messages', recursionLimit } as const
      for await (const [piece] of await agentOf(at, modelOf(at, true)).stream(asked, how))
        if (piece.type === 'ai') text += piece.text
      expect(text).toContain(LAST_WORDS)
    },
  },
  structured: {
    plain: (at) => modelOf(at).withStructuredOutput(LONGEST, { method: 'jsonSchema' }).invoke(longMessages()),
  },
  errors: async (at) => {
    await expect(modelOf(at).invoke([new HumanMessage(TOO_LONG)])).rejects.toMatchObject({
      name: 'ContextOverflowError',
      cause: { status: 400, code: 'context_length_exceeded' },
    })
  },
  abort: async (at) => {
    const leaving = new AbortController()
    const reading = (async () => {
      const options = { signal: leaving.signal }
      for await (const piece of await modelOf(at).stream([new HumanMessage('hi')], options))
        if (piece.content === 'words ') leaving.abort()
    })()
    await expect(reading).rejects.toThrow(/abort/i)
  },
  embed: (at) => {
    const settings = { model: 'e', apiKey: 'key', encodingFormat: 'float' } as const
    return new OpenAIEmbeddings({ ...settings, configuration: { baseURL: at.url } }).embedQuery('zwei')
  },
}

const thinkingModel = (at: Stand, streaming: boolean) =>
  new ChatAnthropic({
    model: 'm',
    apiKey: 'key',
    // It adds the `/v1`.
    anthropicApiUrl: at.url.replace(/\/v1$/, ''),
    maxTokens: OUTPUT_TOKENS,
    thinking: { type: 'adaptive' },
    maxRetries: 0,
    streaming,
  })

export const langchainMessages: ThinkingLibrary = {
  name: 'LangChain',
  packageName: '@langchain/anthropic',
  plain: (at) => readFiles(at, thinkingModel(at, false)),
  streamed: (at) => readFiles(at, thinkingModel(at, true)),
}
