import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, stepCountIs, streamText, tool, type ModelMessage } from 'ai'
import { describe, expect, test } from 'vitest'
import { agentStand, ROUNDS, WINDOW_TOKENS, type AgentStand } from './agent-stand.ts'

function settingsOf(at: AgentStand) {
  const provider = createOpenAICompatible({
    name: 'foldgate',
    baseURL: at.url,
    apiKey: 'key',
    includeUsage: true,
  })
  return {
    model: provider('m'),
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

function expectCompacted(at: AgentStand, requests: number): void {
  expect(at.upstream.requests.map(({ rejected }) => rejected)).toEqual(Array(requests).fill(null))
  for (const { promptTokens } of at.upstream.requests) expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
  expect(at.upstream.requests.at(-1)?.body.toString()).toContain('<conversation-recap>')
}

describe('the Vercel AI SDK', () => {
  test.each(['lenient', 'strict'] as const)(
    'streams text with tools over several steps and turns, under a %s template',
    async (template) => {
      await using at = await agentStand(template)
      const messages: ModelMessage[] = []
      for (const question of ['Read them all.', 'And the next ones?', 'Once more.']) {
        messages.push({ role: 'user', content: question })
        const errors: unknown[] = []
        const result = streamText({
          ...settingsOf(at),
          system: 'You read files.',
          messages,
          onError: ({ error }) => void errors.push(error),
        })
        let text = ''
        for await (const piece of result.textStream) text += piece
        expect(errors).toEqual([])
        expect(text).toContain(`All ${ROUNDS} files are read.`)
        expect(await result.finishReason).toBe('stop')
        const steps = await result.steps
        expect(steps).toHaveLength(ROUNDS + 1)
        for (const step of steps) expect(step.usage.inputTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
        messages.push(...(await result.response).messages)
      }
      expect(new Set(at.read).size).toBe(3 * ROUNDS)
      expectCompacted(at, 3 * (ROUNDS + 1))
    },
  )

  test('generates text with tools', async () => {
    await using at = await agentStand()
    const result = await generateText({ ...settingsOf(at), prompt: 'Read them all.' })
    expect(result.text).toBe(`All ${ROUNDS} files are read.`)
    expect(at.read).toHaveLength(ROUNDS)
    expectCompacted(at, ROUNDS + 1)
  })
})
