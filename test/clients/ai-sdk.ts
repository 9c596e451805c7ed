import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import * as ai from 'ai'
import { expect } from 'vitest'

import { longConversation } from '../support/long-conversation.ts'
import { LONGEST, TOO_LONG, type ChatLibrary, type ThinkingLibrary } from './errands.ts'
import {
  LAST_WORDS,
  OUTPUT_TOKENS,
  QUESTIONS,
  ROUNDS,
  WINDOW_TOKENS,
  type Stand,
  type ThinkingStand,
} from './stand/agent-stand.ts'

function modelOf(at: Stand) {
  const provider = createOpenAICompatible({
    name: 'foldgate',
    baseURL: at.url,
    apiKey: 'key',
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
  return provider('m')
}

const asked = (at: Stand) => ({ model: modelOf(at), messages: [...longConversation()], maxRetries: 0 })

function agentOf(at: Stand, model: ai.LanguageModel) {
  const read_file = ai.tool({
    description: 'Reads a file.',
    inputSchema: ai.jsonSchema<{ path: string }>({
      type: 'object',
      properties: { path: { type: 'string' } },
      required: ['path'],
    }),
    execute: async ({ path }) => at.readFile(path),
  })
  return { model, tools: { read_file }, stopWhen: ai.stepCountIs(ROUNDS + 2), maxRetries: 0 }
}

export const aiSdk: ChatLibrary = {
  name: 'Vercel AI SDK',
  packageName: 'ai',
  chat: async (at) => (await ai.generateText(asked(at))).text,
  streamedLoop: {
    turns: QUESTIONS.length,
    run: async (at) => {
      const messages: ai.ModelMessage[] = []
      for (const question of QUESTIONS) {
        messages.push({ role: 'user', content: question })
        const errors: unknown[] = []
        const result = ai.streamText({
          ...agentOf(at, modelOf(at)),
          system: 'You read files.',
          messages,
          onError: ({ error }) => void errors.push(error),
        })
        let text = ''
        for await (const piece of result.textStream) text += piece
        expect(errors).toEqual([])
        expect(text).toContain(LAST_WORDS)
        expect(await result.finishReason).toBe('stop')
        const steps = await result.steps
        expect(steps).toHaveLength(ROUNDS + 1)
        for (const step of steps) expect(step.usage.inputTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
        messages.push(...(await result.responseMessages))
      }
    },
  },
  loop: {
    turns: 1,
    run: async (at) => {
      const { text } = await ai.generateText({ ...agentOf(at, modelOf(at)), prompt: QUESTIONS[0] })
      expect(text).toBe(LAST_WORDS)
    },
  },
  structured: {
    plain: async (at) =>
      (await ai.generateText({ ...asked(at), output: ai.Output.object({ schema: LONGEST }) })).output,
  },
  errors: async (at) => {
    const asking = ai.generateText({ model: modelOf(at), prompt: TOO_LONG, maxRetries: 0 })
    await expect(asking).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('maximum context length'),
    })
  },
}

type Asked = ReturnType<typeof agentOf> & { readonly messages: ai.ModelMessage[] }

const generated = async (request: Asked): Promise<readonly ai.ModelMessage[]> =>
  (await ai.generateText(request)).responseMessages

async function streamed(request: Asked): Promise<readonly ai.ModelMessage[]> {
  const errors: unknown[] = []
  const result = ai.streamText({ ...request, onError: ({ error }) => void errors.push(error) })
  await result.consumeStream()
  if (errors.length > 0) throw errors[0]
  return result.responseMessages
}

/** The model, and what has all of the conversation sent, thoughts included. */
type Setting = (at: Stand) => {
  readonly model: ai.LanguageModel
  readonly providerOptions: NonNullable<Parameters<typeof ai.generateText>[0]['providerOptions']>
  readonly maxOutputTokens?: number
}

function reading(packageName: string, setting: Setting): ThinkingLibrary {
  const readWith = (ask: typeof generated) => async (at: ThinkingStand) => {
    const { model, ...more } = setting(at)
    const messages: ai.ModelMessage[] = []
    for (const question of QUESTIONS) {
      messages.push({ role: 'user', content: question })
      const request = { ...agentOf(at, model), system: 'You read files.', messages, ...more }
      messages.push(...(await ask(request)))
      expect(JSON.stringify(messages.at(-1))).toContain(LAST_WORDS)
    }
  }
  return { name: 'Vercel AI SDK', packageName, plain: readWith(generated), streamed: readWith(streamed) }
}

/** It sends no reasoning to a model that it does not take for one that thinks; unless told not to store, old replies as references. */
export const aiSdkResponses = reading('@ai-sdk/openai', (at) => ({
  model: createOpenAI({ baseURL: at.url, apiKey: 'key' })('gpt-5.1'),
  providerOptions: { openai: { store: false } },
}))

export const aiSdkMessages = reading('@ai-sdk/anthropic', (at) => ({
  model: createAnthropic({ baseURL: at.url, apiKey: 'key' })('m'),
  maxOutputTokens: OUTPUT_TOKENS,
  providerOptions: { anthropic: { thinking: { type: 'adaptive' } } },
}))
