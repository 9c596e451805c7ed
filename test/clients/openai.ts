import OpenAI, { toFile } from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bytes, json, stream, type Script } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
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
import { readFileTool } from './stand/read-file-tool.ts'

type Messages = OpenAI.ChatCompletionMessageParam[]

/** The official SDK. */
export function openai(matrix: Matrix): void {
  const shows = matrix.client('OpenAI SDK', 'openai')
  describe('OpenAI SDK', () => {
    test(
      'holds a conversation longer than the window, plainly',
      shows('chat', async () => {
        await using at = await agentStand()
        const asking = clientOf(at).chat.completions.create({ model: 'm', messages: [...longConversation()] })
        const { data, response } = await asking.withResponse()
        expect(data.choices[0]?.message.content).toBe('A plain answer.')
        expect(data.usage?.prompt_tokens).toBeLessThanOrEqual(WINDOW_TOKENS)
        expect(response.headers.get('x-foldgate-action')).toBe('compacted')
        return expectCompacted(at, 1)
      }),
    )

    test(
      'as a stream, with its usage',
      shows('stream', async () => {
        await using at = await agentStand()
        const answer = await clientOf(at).chat.completions.create({
          model: 'm',
          messages: [...longConversation()],
          stream: true,
          stream_options: { include_usage: true },
        })
        let text = ''
        let promptTokens = 0
        for await (const chunk of answer) {
          text += chunk.choices[0]?.delta.content ?? ''
          promptTokens = chunk.usage?.prompt_tokens ?? promptTokens
        }
        expect(text).toBe('A plain answer.')
        expect(promptTokens).toBeGreaterThan(0)
        expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
        return expectCompacted(at, 1, { form: 'streamed' })
      }),
    )

    test(
      'runTools over several turns',
      shows('loop', async () => {
        await using at = await agentStand()
        await runTools(at)
        expect(at.read).toHaveLength(QUESTIONS.length * ROUNDS)
        return expectTurns(at, QUESTIONS.length)
      }),
    )

    test(
      'runTools over several turns, under a strict template',
      shows('strict', async () => {
        await using at = await agentStand('strict')
        await runTools(at)
        expect(at.read).toHaveLength(QUESTIONS.length * ROUNDS)
        return expectTurns(at, QUESTIONS.length)
      }),
    )

    test(
      'runTools as a stream',
      shows('streamedLoop', async () => {
        await using at = await agentStand()
        const runner = clientOf(at).chat.completions.runTools(
          {
            model: 'm',
            stream: true,
            messages: [{ role: 'user', content: QUESTIONS[0] }],
            tools: [readFileTool(at.readFile)],
          },
          { maxChatCompletions: ROUNDS + 2 },
        )
        expect(await runner.finalContent()).toBe(LAST_WORDS)
        expect(at.read).toHaveLength(ROUNDS)
        return expectTurns(at, 1, { form: 'streamed' })
      }),
    )

    test(
      'the parse helper',
      shows('structured', async () => {
        await using at = await agentStand()
        const { choices } = await clientOf(at).chat.completions.parse(wanted)
        expect(choices[0]?.message.parsed).toEqual({ longest: 'src/main.ts', lines: 20 })
        return expectCompacted(at, 1)
      }),
    )

    test(
      'the parse helper over a stream',
      shows('structured', async () => {
        await using at = await agentStand()
        const { choices } = await clientOf(at).chat.completions.stream(wanted).finalChatCompletion()
        expect(choices[0]?.message.parsed).toEqual({ longest: 'src/main.ts', lines: 20 })
        return expectCompacted(at, 1, { form: 'streamed' })
      }),
    )

    test(
      "refusals, the upstream's and Foldgate's, are the SDK's own errors",
      shows('errors', async () => {
        await using at = await agentStand()
        const { completions } = clientOf(at).chat
        const tooLong = { role: 'user' as const, content: 'a very long question '.repeat(3_000) }
        await expect(completions.create({ model: 'm', messages: [tooLong] })).rejects.toMatchObject({
          status: 400,
          code: 'context_length_exceeded',
        })
        const asking = completions.create(
          { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
          { headers: { 'x-foldgate-profile': 'nobody' } },
        )
        await expect(asking).rejects.toMatchObject({
          status: 400,
          code: 'unknown_profile',
          type: 'foldgate_error',
        })
        const models = await clientOf(at).models.list()
        expect(models.data.map(({ id }) => id)).toEqual(['strict-model'])
        return 'yes'
      }),
    )

    test(
      'an abort in the middle of a stream reaches the upstream',
      shows('abort', async () => {
        await using at = await standWith(stream('A few words and then nothing more. ', 'never'))
        const answer = await clientOf(at).chat.completions.create({
          model: 'm',
          messages: [{ role: 'user', content: 'hi' }],
          stream: true,
        })
        for await (const chunk of answer) {
          if (chunk.choices[0]?.delta.content === 'words ') answer.controller.abort()
        }
        await expect.poll(() => at.upstream.requests.map(({ left }) => left)).toEqual([true])
        return 'yes'
      }),
    )

    test(
      'embeddings are relayed as they are sent',
      shows('embeddings', async () => {
        const answer = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }] }
        return sameBytesWithAndWithout(json(answer), async (client) => {
          const input = { model: 'e', input: ['one', 'zwei'], encoding_format: 'float' as const }
          const { data } = await client.embeddings.create(input)
          expect(data[0]?.embedding).toEqual([0.5, -0.25])
        })
      }),
    )

    test(
      'files are uploaded and downloaded as they are',
      shows('files', async () => {
        const content = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256))
        await using at = await standWith((request, ...rest) => {
          const answer = request.method === 'POST' ? json({ id: 'file-1', object: 'file' }) : bytes(content)
          return answer(request, ...rest)
        })
        const { files } = clientOf(at)
        const file = await toFile(content, 'lines.jsonl')
        expect(await files.create({ file, purpose: 'batch' })).toMatchObject({ id: 'file-1' })
        expect(at.upstream.requests[0]?.body.includes(content)).toBe(true)
        const downloaded = await (await files.content('file-1')).arrayBuffer()
        expect(Buffer.from(downloaded).equals(content)).toBe(true)
        return 'yes'
      }),
    )
  })
}

// --- internal ---

const wanted = {
  model: 'm',
  messages: [...longConversation()],
  response_format: zodResponseFormat(z.object({ longest: z.string(), lines: z.number() }), 'longest'),
}

/** Retries would hide what these tests look for. */
function clientOf(at: { readonly url: string }): OpenAI {
  return new OpenAI({ baseURL: at.url, apiKey: 'key', maxRetries: 0 })
}

async function runTools(at: AgentStand): Promise<void> {
  const messages: Messages = [{ role: 'system', content: 'You read files.' }]
  for (const question of QUESTIONS) {
    messages.push({ role: 'user', content: question })
    const runner = clientOf(at).chat.completions.runTools(
      { model: 'm', messages, tools: [readFileTool(at.readFile)] },
      { maxChatCompletions: ROUNDS + 2 },
    )
    expect(await runner.finalContent()).toBe(LAST_WORDS)
    messages.splice(0, messages.length, ...runner.messages)
  }
}

/** The client's requests are the same bytes through Foldgate as at the upstream itself. */
async function sameBytesWithAndWithout(
  script: Script,
  use: (client: OpenAI) => Promise<void>,
): Promise<string> {
  await using at = await standWith(script)
  await use(clientOf(at))
  await use(clientOf(at.upstream))
  const [through, direct] = at.upstream.requests
  expect(through?.body.length).toBeGreaterThan(0)
  expect(through?.body).toEqual(direct?.body)
  expect(through?.url).toBe(direct?.url)
  return 'yes'
}
