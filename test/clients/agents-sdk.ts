import * as sdk from '@openai/agents'
import OpenAI from 'openai'
import { expect } from 'vitest'
import { z } from 'zod'
import { longConversation } from '../support/long-conversation.ts'
import { LONGEST, type ChatLibrary, type ThinkingLibrary } from './errands.ts'
import { LAST_WORDS, QUESTIONS, ROUNDS, type Stand } from './stand/agent-stand.ts'

// Its traces would go to OpenAI.
sdk.setTracingDisabled(true)

const maxTurns = ROUNDS + 2
const clientOf = (at: Stand): OpenAI => new OpenAI({ baseURL: at.url, apiKey: 'key', maxRetries: 0 })
const chatModel = (at: Stand) => new sdk.OpenAIChatCompletionsModel(clientOf(at), 'm')

function agentOf(at: Stand, model: sdk.Model | string) {
  const readFile = sdk.tool({
    name: 'read_file',
    description: 'Reads a file.',
    parameters: z.object({ path: z.string() }),
    execute: async ({ path }) => at.readFile(path),
  })
  return new sdk.Agent({ name: 'Reader', instructions: 'You read files.', model, tools: [readFile] })
}

type Ran = { readonly finalOutput?: unknown; readonly history: sdk.AgentInputItem[] }

async function runTurns(run: (history: sdk.AgentInputItem[]) => Promise<Ran>): Promise<void> {
  let history: sdk.AgentInputItem[] = []
  for (const question of QUESTIONS) {
    const result = await run([...history, sdk.user(question)])
    expect(result.finalOutput).toBe(LAST_WORDS)
    history = result.history
  }
}

export const agentsSdk: ChatLibrary = {
  name: 'OpenAI Agents SDK',
  packageName: '@openai/agents',
  loop: {
    turns: QUESTIONS.length,
    run: (at) => runTurns((history) => sdk.run(agentOf(at, chatModel(at)), history, { maxTurns })),
  },
  streamedLoop: {
    turns: 1,
    run: async (at) => {
      const result = await sdk.run(agentOf(at, chatModel(at)), QUESTIONS[0], { stream: true, maxTurns })
      let text = ''
      for await (const piece of result.toTextStream()) text += piece
      await result.completed
      expect(text).toContain(LAST_WORDS)
    },
  },
  structured: {
    plain: async (at) => {
      const described = { name: 'Measurer', instructions: 'You measure.', model: chatModel(at) }
      const history = longConversation().map(({ role, content }) =>
        role === 'user' ? sdk.user(content) : sdk.assistant(content),
      )
      return (await sdk.run(new sdk.Agent({ ...described, outputType: LONGEST }), history)).finalOutput
    },
  },
}

/** With the model class that it takes if it is told of none. */
function runnerOf(at: Stand): sdk.Runner {
  const modelProvider = new sdk.OpenAIProvider({ openAIClient: clientOf(at) })
  return new sdk.Runner({ modelProvider, tracingDisabled: true })
}

export const agentsSdkResponses: ThinkingLibrary = {
  name: 'OpenAI Agents SDK',
  packageName: '@openai/agents',
  plain: (at) => {
    const [runner, agent] = [runnerOf(at), agentOf(at, 'gpt-5.1')]
    return runTurns((history) => runner.run(agent, history, { maxTurns }))
  },
  streamed: (at) => {
    const [runner, agent] = [runnerOf(at), agentOf(at, 'gpt-5.1')]
    return runTurns(async (history) => {
      const result = await runner.run(agent, history, { maxTurns, stream: true })
      await result.completed
      return result
    })
  },
}
