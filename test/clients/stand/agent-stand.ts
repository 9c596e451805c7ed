import { openDice } from '../../../src/demo/dice.ts'
import { sampleSource } from '../../../src/demo/sample-text.ts'
import { startStrictUpstream, type StrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import type { Template } from '../../support/strict-upstream/message-rules.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { startFoldgate } from '../../support/foldgate.ts'

export const WINDOW_TOKENS = 6_000

/** Tool rounds that the model makes before it answers a user message. */
export const ROUNDS = 12

/** What a user asks for, one turn after the other. */
export const QUESTIONS = ['Read them all.', 'And the next ones?', 'Once more.'] as const

/** How a turn ends. */
export const LAST_WORDS = `All ${ROUNDS} files are read.`

/** What an agent reads. */
export type Files = {
  /** What the agent's tool returns. */
  readonly readFile: (path: string) => string
  /** Tokens of all that it has returned: what the client sends of it again with every request. */
  readonly returnedTokens: () => number
  /** The files that were read, in order. */
  readonly read: readonly string[]
}

export type AgentStand = Files & {
  /** What the client takes as its base URL. */
  readonly url: string
  readonly upstream: StrictUpstream
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * A Foldgate before an upstream that refuses invalid sequences and prompts over its small window, with a
 * model that reads a file in each of a few rounds, then answers.
 */
export async function agentStand(template: Template = 'lenient'): Promise<AgentStand> {
  const counter = await loadCounter('o200k_base')
  let round = 0
  const upstream = await startStrictUpstream({
    windowTokens: WINDOW_TOKENS,
    template,
    outputReserveChecked: true,
    count: counter.count,
    reply: ({ body }) => {
      if (body['response_format'] !== undefined) return { content: '{"longest":"src/main.ts","lines":20}' }
      if (!Array.isArray(body['tools'])) return { content: 'A plain answer.' }
      round += 1
      if (round % (ROUNDS + 1) === 0) return { content: LAST_WORDS }
      const path = `src/file-${round}.ts`
      return {
        content: round % 2 === 0 ? `Now ${path}.` : null,
        toolCalls: [{ id: `call_${round}`, name: 'read_file', argumentsText: JSON.stringify({ path }) }],
      }
    },
  })
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    profile: { window: { tokens: WINDOW_TOKENS, output_reserve: 512 }, template },
  })
  return {
    ...openFiles(counter.count),
    url: foldgate.url,
    upstream,
    [Symbol.asyncDispose]: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}

/** Files of source code, each another. */
export function openFiles(count: (text: string) => number): Files {
  const dice = openDice(21)
  const read: string[] = []
  let returnedTokens = 0
  return {
    read,
    returnedTokens: () => returnedTokens,
    readFile: (path) => {
      read.push(path)
      const source = sampleSource(dice, 60)
      returnedTokens += count(source)
      return source
    },
  }
}
