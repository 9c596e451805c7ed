import { openDice } from '../../src/demo/dice.ts'
import { sampleSource } from '../../src/demo/sample-text.ts'
import { startStrictUpstream, type StrictUpstream } from '../../src/demo/strict-upstream.ts'
import type { Template } from '../../src/demo/message-rules.ts'
import { loadCounter } from '../../src/pressure/encodings.ts'
import { startFoldgate } from '../support/foldgate.ts'

export const WINDOW_TOKENS = 6_000

/** Tool rounds that the model makes before it answers a user message. */
export const ROUNDS = 8

export type AgentStand = {
  /** What the client takes as its base URL. */
  readonly url: string
  readonly upstream: StrictUpstream
  /** What the agent's tool returns. */
  readonly readFile: (path: string) => string
  /** The files that were read, in order. */
  readonly read: readonly string[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * A Foldgate before an upstream that refuses invalid sequences and prompts over its small window, with a
 * model that reads a file in each of a few rounds, then answers.
 */
export async function agentStand(template: Template = 'lenient'): Promise<AgentStand> {
  const counter = await loadCounter('o200k_base')
  const dice = openDice(21)
  const read: string[] = []
  let round = 0
  const upstream = await startStrictUpstream({
    windowTokens: WINDOW_TOKENS,
    template,
    outputReserveChecked: true,
    count: counter.count,
    reply: ({ body }) => {
      if (!Array.isArray(body['tools'])) return { content: 'A plain answer.' }
      round += 1
      if (round % (ROUNDS + 1) === 0) return { content: `All ${ROUNDS} files are read.` }
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
    url: foldgate.url,
    upstream,
    read,
    readFile: (path) => {
      read.push(path)
      return sampleSource(dice, 60)
    },
    [Symbol.asyncDispose]: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}
