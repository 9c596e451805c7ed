import { AzureOpenAI } from 'openai'
import { describe, expect, test } from 'vitest'
import type { Matrix } from './matrix.ts'
import { agentStand, LAST_WORDS, QUESTIONS, ROUNDS, type AgentStand } from './stand/agent-stand.ts'
import { expectCompacted } from './stand/expect-compacted.ts'
import { longConversation } from '../support/long-conversation.ts'
import { readFileTool } from './stand/read-file-tool.ts'

/** The official SDK's client for Azure: its deployments in the path, its key in a header of its own. */
export function azureOpenai(matrix: Matrix): void {
  const shows = matrix.client('OpenAI SDK, Azure', 'openai')
  describe('OpenAI SDK, Azure', () => {
    test(
      'a long conversation, with the deployment in the path',
      shows('chat', async () => {
        await using at = await agentStand()
        const { completions } = clientOf(at).chat
        const answer = await completions.create({ model: 'dep', messages: [...longConversation()] })
        expect(answer.choices[0]?.message.content).toBe('A plain answer.')
        const [request] = at.upstream.requests
        expect(request?.path).toBe(
          '/v1/openai/deployments/dep/chat/completions?api-version=2025-04-01-preview',
        )
        expect(request?.headers['api-key']).toBe('azure-key')
        return expectCompacted(at, 1, { path: PATH })
      }),
    )

    test(
      'runTools as a stream',
      shows('streamedLoop', async () => {
        await using at = await agentStand()
        const runner = clientOf(at).chat.completions.runTools(
          {
            model: 'dep',
            stream: true,
            messages: [{ role: 'user', content: QUESTIONS[0] }],
            tools: [readFileTool(at.readFile)],
          },
          { maxChatCompletions: ROUNDS + 2 },
        )
        expect(await runner.finalContent()).toBe(LAST_WORDS)
        return expectCompacted(at, ROUNDS + 1, { form: 'streamed', path: PATH })
      }),
    )
  })
}

// --- internal ---

const PATH = '/v1/openai/deployments/dep/chat/completions?api-version=2025-04-01-preview'

function clientOf(at: AgentStand): AzureOpenAI {
  return new AzureOpenAI({
    endpoint: new URL(at.url).origin,
    apiKey: 'azure-key',
    apiVersion: '2025-04-01-preview',
    maxRetries: 0,
  })
}
