import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { openDice } from '../../src/demo/dice.ts'
import { samplePath, sampleSource } from '../../src/demo/sample-text.ts'
import { agentStand, ROUNDS, WINDOW_TOKENS, type AgentStand } from './agent-stand.ts'
import { readFileTool } from './read-file-tool.ts'

type Messages = OpenAI.ChatCompletionMessageParam[]

/** Retries would hide what these tests look for. */
function clientOf(at: AgentStand): OpenAI {
  return new OpenAI({ baseURL: at.url, apiKey: 'key', maxRetries: 0 })
}

/** Nothing was refused, everything fitted, and Foldgate had to do something for it. */
function expectCompacted(at: AgentStand, requests: number): void {
  expect(at.upstream.requests.map(({ rejected }) => rejected)).toEqual(Array(requests).fill(null))
  const last = at.upstream.requests.at(-1)
  expect(last?.promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
  expect(last?.body.toString()).toContain('<conversation-recap>')
}

const dice = openDice(6)
const long: Messages = Array.from({ length: 30 }, () => [
  { role: 'user' as const, content: `What does ${samplePath(dice)} do?` },
  { role: 'assistant' as const, content: sampleSource(dice, 20) },
]).flat()
long.push({ role: 'user', content: 'Which of them was the longest?' })

describe('the official OpenAI SDK', () => {
  test('holds a conversation longer than the window, plainly', async () => {
    await using at = await agentStand()
    const chat = clientOf(at).chat.completions
    const { data, response } = await chat.create({ model: 'm', messages: long }).withResponse()
    expect(data.choices[0]?.message.content).toBe('A plain answer.')
    expect(data.usage?.prompt_tokens).toBeLessThanOrEqual(WINDOW_TOKENS)
    expect(response.headers.get('x-foldgate-action')).toBe('compacted')
    expectCompacted(at, 1)
  })

  test('as a stream, with its usage', async () => {
    await using at = await agentStand()
    const stream = await clientOf(at).chat.completions.create({
      model: 'm',
      messages: long,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let promptTokens = 0
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      promptTokens = chunk.usage?.prompt_tokens ?? promptTokens
    }
    expect(text).toBe('A plain answer.')
    expect(promptTokens).toBeGreaterThan(0)
    expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
    expectCompacted(at, 1)
  })

  test.each(['lenient', 'strict'] as const)(
    'runTools over several turns, under a %s template',
    async (template) => {
      await using at = await agentStand(template)
      const client = clientOf(at)
      const messages: Messages = [{ role: 'system', content: 'You read files.' }]
      for (const question of ['Read them all.', 'And the next ones?', 'Once more.']) {
        messages.push({ role: 'user', content: question })
        const runner = client.chat.completions.runTools(
          { model: 'm', messages, tools: [readFileTool(at.readFile)] },
          { maxChatCompletions: ROUNDS + 2 },
        )
        expect(await runner.finalContent()).toBe(`All ${ROUNDS} files are read.`)
        messages.splice(0, messages.length, ...runner.messages)
      }
      expect(at.read).toHaveLength(3 * ROUNDS)
      expect(new Set(at.read).size).toBe(3 * ROUNDS)
      expectCompacted(at, 3 * (ROUNDS + 1))
    },
  )

  test('runTools as a stream', async () => {
    await using at = await agentStand()
    const runner = clientOf(at).chat.completions.runTools(
      {
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: 'Read them all.' }],
        tools: [readFileTool(at.readFile)],
      },
      { maxChatCompletions: ROUNDS + 2 },
    )
    expect(await runner.finalContent()).toBe(`All ${ROUNDS} files are read.`)
    expect(at.read).toHaveLength(ROUNDS)
    expectCompacted(at, ROUNDS + 1)
  })

  test("an upstream's refusal is the SDK's own error, with its code", async () => {
    await using at = await agentStand()
    const question = 'a very long question '.repeat(3_000)
    const asking = clientOf(at).chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: question }],
    })
    await expect(asking).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' })
  })

  test("Foldgate's own errors, too", async () => {
    await using at = await agentStand()
    const asking = clientOf(at).chat.completions.create(
      { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
      { headers: { 'x-foldgate-profile': 'nobody' } },
    )
    await expect(asking).rejects.toMatchObject({
      status: 400,
      code: 'unknown_profile',
      type: 'foldgate_error',
    })
  })

  test('lists models through Foldgate', async () => {
    await using at = await agentStand()
    const models = await clientOf(at).models.list()
    expect(models.data.map(({ id }) => id)).toEqual(['strict-model'])
  })
})
