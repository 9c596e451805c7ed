import {
  Agent,
  assistant,
  OpenAIChatCompletionsModel,
  run,
  setTracingDisabled,
  tool,
  user,
  type AgentInputItem,
} from '@openai/agents'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Matrix } from './matrix.ts'
import { agentStand, LAST_WORDS, QUESTIONS, ROUNDS, type AgentStand } from './stand/agent-stand.ts'
import { expectCompacted, expectTurns } from './stand/expect-compacted.ts'
import { longConversation } from '../support/long-conversation.ts'

/** OpenAI's Agents SDK, set to chat completions. */
export function agentsSdk(matrix: Matrix): void {
  // Its traces would go to OpenAI.
  setTracingDisabled(true)

  const shows = matrix.client('OpenAI Agents SDK', '@openai/agents', { lacks: ['embeddings', 'files'] })
  describe('OpenAI Agents SDK', () => {
    test(
      'an agent that reads files over several turns',
      shows('loop', async () => {
        await using at = await agentStand()
        await runTurns(at)
        expect(at.read).toHaveLength(QUESTIONS.length * ROUNDS)
        return expectTurns(at, QUESTIONS.length)
      }),
    )

    test(
      'the same under a strict template',
      shows('strict', async () => {
        await using at = await agentStand('strict')
        await runTurns(at)
        expect(at.read).toHaveLength(QUESTIONS.length * ROUNDS)
        return expectTurns(at, QUESTIONS.length)
      }),
    )

    test(
      'an agent whose answers are streamed',
      shows('streamedLoop', async () => {
        await using at = await agentStand()
        const result = await run(agentOf(at), QUESTIONS[0], { stream: true, maxTurns: ROUNDS + 2 })
        let text = ''
        for await (const piece of result.toTextStream()) text += piece
        await result.completed
        expect(text).toContain(LAST_WORDS)
        expect(at.read).toHaveLength(ROUNDS)
        return expectTurns(at, 1, { form: 'streamed' })
      }),
    )

    test(
      'an object of a schema',
      shows('structured', async () => {
        await using at = await agentStand()
        const outputType = z.object({ longest: z.string(), lines: z.number() })
        const agent = new Agent({
          name: 'Measurer',
          instructions: 'You measure.',
          model: modelOf(at),
          outputType,
        })
        const { finalOutput } = await run(
          agent,
          longConversation().map(({ role, content }) =>
            role === 'user' ? user(content) : assistant(content),
          ),
        )
        expect(finalOutput).toEqual({ longest: 'src/main.ts', lines: 20 })
        return expectCompacted(at, 1)
      }),
    )
  })
}

// --- internal ---

function modelOf(at: AgentStand): OpenAIChatCompletionsModel {
  return new OpenAIChatCompletionsModel(new OpenAI({ baseURL: at.url, apiKey: 'key', maxRetries: 0 }), 'm')
}

function agentOf(at: AgentStand) {
  const readFile = tool({
    name: 'read_file',
    description: 'Reads a file.',
    parameters: z.object({ path: z.string() }),
    execute: async ({ path }) => at.readFile(path),
  })
  return new Agent({
    name: 'Reader',
    instructions: 'You read files.',
    model: modelOf(at),
    tools: [readFile],
  })
}

async function runTurns(at: AgentStand): Promise<void> {
  const agent = agentOf(at)
  let history: AgentInputItem[] = []
  for (const question of QUESTIONS) {
    const result = await run(agent, [...history, user(question)], { maxTurns: ROUNDS + 2 })
    expect(result.finalOutput).toBe(LAST_WORDS)
    history = result.history
  }
}
