import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { openDice } from '../../src/demo/dice.ts'
import { sampleSource } from '../../src/demo/sample-text.ts'
import { startStrictUpstream } from '../support/strict-upstream/strict-upstream.ts'
import { isObject } from '../support/strict-upstream/wire-message.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { readFileTool } from './stand/read-file-tool.ts'

/** The official SDK, with a model that reads back what was folded. */
export function openaiRecall(): void {
  describe('runTools of the official OpenAI SDK, where the model reads back what was folded forty rounds ago', () => {
    test.each(['plain', 'streamed'] as const)(
      '%s: the agent sees nothing of it and gets its answer',
      async (form) => {
        await using at = await recallStand()
        const { client, tools, messages } = at
        const options = { model: 'm', messages, tools }
        const limits = { maxChatCompletions: ROUNDS + 10 }
        const runner =
          form === 'streamed'
            ? client.chat.completions.runTools({ ...options, stream: true }, limits)
            : client.chat.completions.runTools(options, limits)
        expect(await runner.finalContent()).toBe('All read, and the vault is open.')

        expect(at.upstream.requests.every(({ rejected }) => rejected === null)).toBe(true)
        expect(at.read.at(-1)).toBe(`vault/${FACT}`)
        expect(at.read).toHaveLength(ROUNDS + 1)
        // One request more than the agent made: the detour.
        expect(at.upstream.requests).toHaveLength(ROUNDS + 3)
        const asked = at.upstream.requests[ROUNDS]?.body.toString() ?? ''
        expect(asked).not.toContain(FACT)
        expect(JSON.stringify(runner.messages)).not.toMatch(/recall_conversation|#\d/)
        expect(runner.messages.at(-3)).toMatchObject({ role: 'assistant', content: 'I have it.' })
      },
    )
  })
}

// --- internal ---

const WINDOW_TOKENS = 8_000
const ROUNDS = 44
const FACT = 'marigold'

/**
 * An agent whose first file tells a word. Forty rounds later its model asks for that word, which it cannot see, reads a
 * last file under the name that it found, and answers.
 */
async function recallStand() {
  const counter = await loadCounter('o200k_base')
  const dice = openDice(31)
  const read: string[] = []
  let round = 0
  const upstream = await startStrictUpstream({
    windowTokens: WINDOW_TOKENS,
    template: 'lenient',
    outputReserveChecked: true,
    count: counter.count,
    reply: ({ body }) => {
      const messages = Array.isArray(body['messages']) ? body['messages'] : []
      const last: unknown = messages.at(-1)
      const content = isObject(last) ? String(last['content']) : ''
      const found = /vault word is (\w+)/.exec(content)?.[1]
      if (found !== undefined && round >= ROUNDS)
        return call('read_file', { path: `vault/${found}` }, 'I have it.')
      if (content.includes('the vault is open')) return { content: 'All read, and the vault is open.' }
      round += 1
      if (round <= ROUNDS) return call('read_file', { path: `src/file-${round}.ts` })
      return call('recall_conversation', { search: 'vault word' })
    },
  })
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    profile: { window: { tokens: WINDOW_TOKENS, output_reserve: 512 }, recall: { enabled: true } },
  })

  function call(name: string, input: object, content: string | null = null) {
    return {
      content,
      toolCalls: [{ id: `call_${round}_${name}`, name, argumentsText: JSON.stringify(input) }],
    }
  }
  return {
    upstream,
    read,
    client: new OpenAI({ baseURL: foldgate.url, apiKey: 'key', maxRetries: 0 }),
    tools: [
      readFileTool((path) => {
        read.push(path)
        if (path === `vault/${FACT}`) return 'the vault is open'
        return path === 'src/file-1.ts'
          ? `${sampleSource(dice, 30)}// The vault word is ${FACT}\n${sampleSource(dice, 60)}`
          : sampleSource(dice, 30)
      }),
    ],
    messages: [{ role: 'user' as const, content: 'Read the files, then open the vault.' }],
    [Symbol.asyncDispose]: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}
