import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { createAgent, tool } from 'langchain'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { json, stream } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import type { Matrix } from './matrix.ts'
import { agentStand, LAST_WORDS, QUESTIONS, ROUNDS, type AgentStand } from './stand/agent-stand.ts'
import { expectCompacted, expectTurns } from './stand/expect-compacted.ts'
import { longConversation } from '../support/long-conversation.ts'

/** LangChain's model for OpenAI-compatible servers, and its agent. */
export function langchain(matrix: Matrix): void {
  const shows = matrix.client('LangChain', '@langchain/openai')
  describe('LangChain', () => {
    test(
      'holds a conversation longer than the window, plainly',
      shows('chat', async () => {
        await using at = await agentStand()
        const { content } = await modelOf(at).invoke(longMessages())
        expect(content).toBe('A plain answer.')
        return expectCompacted(at, 1)
      }),
    )

    test(
      'as a stream',
      shows('stream', async () => {
        await using at = await agentStand()
        let text = ''
        for await (const piece of await modelOf(at).stream(longMessages())) text += piece.text
        expect(text).toBe('A plain answer.')
        return expectCompacted(at, 1, { form: 'streamed' })
      }),
    )

    test(
      'an agent that reads files over several turns',
      shows('loop', async () => {
        await using at = await agentStand()
        await runAgent(at)
        expect(at.read).toHaveLength(QUESTIONS.length * ROUNDS)
        return expectTurns(at, QUESTIONS.length)
      }),
    )

    test(
      'the same under a strict template',
      shows('strict', async () => {
        await using at = await agentStand('strict')
        await runAgent(at)
        expect(at.read).toHaveLength(QUESTIONS.length * ROUNDS)
        return expectTurns(at, QUESTIONS.length)
      }),
    )

    test(
      'an agent whose answers are streamed',
      shows('streamedLoop', async () => {
        await using at = await agentStand()
        let text = ''
        const events = await agentOf(at, true).stream(
          { messages: [new HumanMessage(QUESTIONS[0])] },
          { streamMode: 'messages', recursionLimit: RECURSION },
        )
        for await (const [piece] of events) {
          if (piece.type === 'ai') text += piece.text
        }
        expect(text).toContain(LAST_WORDS)
        expect(at.read).toHaveLength(ROUNDS)
        return expectTurns(at, 1, { form: 'streamed' })
      }),
    )

    test(
      'an object of a schema',
      shows('structured', async () => {
        await using at = await agentStand()
        const longest = z.object({ longest: z.string(), lines: z.number() })
        const model = modelOf(at).withStructuredOutput(longest, { method: 'jsonSchema' })
        expect(await model.invoke(longMessages())).toEqual({ longest: 'src/main.ts', lines: 20 })
        return expectCompacted(at, 1)
      }),
    )

    test(
      "the upstream's refusal is known for what it is",
      shows('errors', async () => {
        await using at = await agentStand()
        const question = new HumanMessage('a very long question '.repeat(3_000))
        await expect(modelOf(at).invoke([question])).rejects.toMatchObject({
          name: 'ContextOverflowError',
          cause: { status: 400, code: 'context_length_exceeded' },
        })
        return 'yes'
      }),
    )

    test(
      'an abort in the middle of a stream reaches the upstream',
      shows('abort', async () => {
        await using at = await standWith(stream('A few words and then nothing more. ', 'never'))
        const leaving = new AbortController()
        const reading = (async () => {
          const options = { signal: leaving.signal }
          for await (const piece of await modelOf(at).stream([new HumanMessage('hi')], options)) {
            if (piece.content === 'words ') leaving.abort()
          }
        })()
        await expect(reading).rejects.toThrow(/abort/i)
        await expect.poll(() => at.upstream.requests.map(({ left }) => left)).toEqual([true])
        return 'yes'
      }),
    )

    test(
      'embeddings are relayed as they are sent',
      shows('embeddings', async () => {
        const answer = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }] }
        await using at = await standWith(json(answer))
        for (const { url } of [at, at.upstream]) {
          const embeddings = new OpenAIEmbeddings({
            model: 'e',
            apiKey: 'key',
            encodingFormat: 'float',
            configuration: { baseURL: url },
          })
          expect(await embeddings.embedQuery('zwei')).toEqual([0.5, -0.25])
        }
        const [through, direct] = at.upstream.requests
        expect(through?.body.length).toBeGreaterThan(0)
        expect(through?.body).toEqual(direct?.body)
        return 'yes'
      }),
    )
  })
}

// --- internal ---

/** Two steps of its graph for each round, and more than the agent takes. */
const RECURSION = 4 * ROUNDS

function modelOf(at: { readonly url: string }, streaming = false): ChatOpenAI {
  return new ChatOpenAI({
    model: 'm',
    apiKey: 'key',
    maxRetries: 0,
    // Where it says no, even what is asked for as a stream is none.
    ...(streaming && { streaming }),
    configuration: { baseURL: at.url },
  })
}

function agentOf(at: AgentStand, streaming = false) {
  const readFile = tool(({ path }: { path: string }) => at.readFile(path), {
    name: 'read_file',
    description: 'Reads a file.',
    schema: z.object({ path: z.string() }),
  })
  return createAgent({ model: modelOf(at, streaming), tools: [readFile], systemPrompt: 'You read files.' })
}

function longMessages(): BaseMessage[] {
  return longConversation().map(({ role, content }) =>
    role === 'user' ? new HumanMessage(content) : new AIMessage(content),
  )
}

async function runAgent(at: AgentStand): Promise<void> {
  const agent = agentOf(at)
  let messages: BaseMessage[] = []
  for (const question of QUESTIONS) {
    const input = { messages: [...messages, new HumanMessage(question)] }
    const state = await agent.invoke(input, { recursionLimit: RECURSION })
    messages = state.messages
    expect(messages.at(-1)?.content).toBe(LAST_WORDS)
  }
}
