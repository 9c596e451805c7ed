import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool, type ModelMessage } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Matrix } from './matrix.ts'
import {
  agentStand,
  LAST_WORDS,
  QUESTIONS,
  ROUNDS,
  WINDOW_TOKENS,
  type AgentStand,
} from './stand/agent-stand.ts'
import { expectCompacted, expectTurns } from './stand/expect-compacted.ts'
import { longConversation } from '../support/long-conversation.ts'

/** Vercel's AI SDK. */
export function aiSdk(matrix: Matrix): void {
  const shows = matrix.client('Vercel AI SDK', 'ai')
  describe('Vercel AI SDK', () => {
    test(
      'holds a conversation longer than the window, plainly',
      shows('chat', async () => {
        await using at = await agentStand()
        const { text } = await generateText({
          model: modelOf(at),
          messages: [...longConversation()],
          maxRetries: 0,
        })
        expect(text).toBe('A plain answer.')
        return expectCompacted(at, 1)
      }),
    )

    test(
      'generates text with tools',
      shows('loop', async () => {
        await using at = await agentStand()
        const result = await generateText({ ...agentOf(at), prompt: QUESTIONS[0] })
        expect(result.text).toBe(LAST_WORDS)
        expect(at.read).toHaveLength(ROUNDS)
        return expectTurns(at, 1)
      }),
    )

    test(
      'streams text with tools over several steps and turns',
      shows(['stream', 'streamedLoop'], async () => {
        await using at = await agentStand()
        await streamTurns(at)
        expect(at.read).toHaveLength(QUESTIONS.length * ROUNDS)
        return expectTurns(at, QUESTIONS.length, { form: 'streamed' })
      }),
    )

    test(
      'the same under a strict template',
      shows('strict', async () => {
        await using at = await agentStand('strict')
        await streamTurns(at)
        expect(at.read).toHaveLength(QUESTIONS.length * ROUNDS)
        return expectTurns(at, QUESTIONS.length, { form: 'streamed' })
      }),
    )

    test(
      'an object of a schema',
      shows('structured', async () => {
        await using at = await agentStand()
        const { output } = await generateText({
          model: modelOf(at),
          messages: [...longConversation()],
          output: Output.object({ schema: z.object({ longest: z.string(), lines: z.number() }) }),
          maxRetries: 0,
        })
        expect(output).toEqual({ longest: 'src/main.ts', lines: 20 })
        return expectCompacted(at, 1)
      }),
    )

    test(
      "the upstream's refusal is an error with its status and text",
      shows('errors', async () => {
        await using at = await agentStand()
        const prompt = 'a very long question '.repeat(3_000)
        await expect(generateText({ model: modelOf(at), prompt, maxRetries: 0 })).rejects.toMatchObject({
          statusCode: 400,
          message: expect.stringContaining('maximum context length'),
        })
        return 'yes'
      }),
    )
  })
}

// --- internal ---

function modelOf(at: AgentStand) {
  const provider = createOpenAICompatible({
    name: 'foldgate',
    baseURL: at.url,
    apiKey: 'key',
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
  return provider('m')
}

function agentOf(at: AgentStand) {
  return {
    model: modelOf(at),
    tools: {
      read_file: tool({
        description: 'Reads a file.',
        inputSchema: jsonSchema<{ path: string }>({
          type: 'object',
          properties: { path: { type: 'string' } },
          required: ['path'],
        }),
        execute: async ({ path }) => at.readFile(path),
      }),
    },
    stopWhen: stepCountIs(ROUNDS + 2),
    maxRetries: 0,
  }
}

async function streamTurns(at: AgentStand): Promise<void> {
  const messages: ModelMessage[] = []
  for (const question of QUESTIONS) {
    messages.push({ role: 'user', content: question })
    const errors: unknown[] = []
    const result = streamText({
      ...agentOf(at),
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
}
