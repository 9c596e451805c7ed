import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { expect } from 'vitest'
import { z } from 'zod'
import type { ThinkingLibrary } from './errands.ts'
import { LAST_WORDS, OUTPUT_TOKENS, QUESTIONS, type ThinkingStand } from './stand/agent-stand.ts'

/** Anthropic's own client adds the `/v1`. Retries would hide what these tests look for. */
const clientOf = (at: ThinkingStand): Anthropic =>
  new Anthropic({ baseURL: at.url.replace(/\/v1$/, ''), apiKey: 'key', maxRetries: 0 })

const settings = {
  model: 'm',
  max_tokens: OUTPUT_TOKENS,
  system: 'You read files.',
  thinking: { type: 'adaptive' },
} as const

const described = { name: 'read_file', description: 'Reads a file.' }
const inputSchema = { type: 'object', properties: { path: { type: 'string' } } } as const

type Ask = (client: Anthropic, asked: Anthropic.MessageCreateParamsNonStreaming) => Promise<Anthropic.Message>

async function readWith(at: ThinkingStand, ask: Ask): Promise<void> {
  const client = clientOf(at)
  const tools = [{ ...described, input_schema: { ...inputSchema, required: ['path'] } }]
  const messages: Anthropic.MessageParam[] = []
  for (const question of QUESTIONS) {
    messages.push({ role: 'user', content: question })
    let text = ''
    while (text === '') {
      const { content } = await ask(client, { ...settings, tools, messages })
      const results = content.flatMap((block): Anthropic.ToolResultBlockParam[] => {
        if (block.type !== 'tool_use') return []
        const { path } = z.object({ path: z.string() }).parse(block.input)
        return [{ type: 'tool_result', tool_use_id: block.id, content: at.readFile(path) }]
      })
      messages.push({ role: 'assistant', content })
      if (results.length > 0) messages.push({ role: 'user', content: results })
      text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    }
    expect(text).toBe(LAST_WORDS)
  }
}

async function readWithRunner(at: ThinkingStand, stream: boolean): Promise<void> {
  const readFile = betaTool({
    ...described,
    inputSchema: { ...inputSchema, required: ['path'] } as const,
    run: ({ path }) => at.readFile(path),
  })
  const messages: Anthropic.Beta.BetaMessageParam[] = []
  for (const question of QUESTIONS) {
    messages.push({ role: 'user', content: question })
    const { messages: api } = clientOf(at).beta
    // Without a thread the server would keep the conversation, and the runner send only what is new.
    const runner = api.toolRunner({ ...settings, tools: [readFile], messages, stream, thread: false })
    const { content } = await runner
    expect(content.at(-1)).toMatchObject({ type: 'text', text: LAST_WORDS })
    messages.splice(0, messages.length, ...runner.params.messages)
  }
}

export const anthropic: ThinkingLibrary = {
  name: 'Anthropic SDK',
  packageName: '@anthropic-ai/sdk',
  plain: (at) => readWith(at, async (client, asked) => client.messages.create(asked)),
  streamed: (at) => readWith(at, (client, asked) => client.messages.stream(asked).finalMessage()),
}

export const anthropicRunner: ThinkingLibrary = {
  name: 'Anthropic SDK, its tool runner',
  packageName: '@anthropic-ai/sdk',
  plain: (at) => readWithRunner(at, false),
  streamed: (at) => readWithRunner(at, true),
}
