import { expect } from 'vitest'
import { openDice } from '../../../src/commands/demo/dice.ts'
import { sampleSource } from '../../../src/commands/demo/tools.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { type RunningFoldgate, startFoldgate } from '../../support/foldgate.ts'
import { startMessagesUpstream } from '../../support/messages/messages-upstream.ts'
import type { ScriptedBlock } from '../../support/messages/script.ts'
import { isThinking } from '../../support/messages/wire-block.ts'
import { startResponsesUpstream } from '../../support/responses/responses-upstream.ts'
import { typeOf } from '../../support/responses/wire-item.ts'
import type { Template } from '../../support/strict-upstream/message-rules.ts'
import { startStrictUpstream, type StrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'

export const WINDOW_TOKENS = 6_000

/** What the client sets as the most that a reply may have, where it sets something. */
export const OUTPUT_TOKENS = 512

/** Tool rounds that the model makes before it answers a user message. */
export const ROUNDS = 12
export const QUESTIONS = ['Read them all.', 'And the next ones?', 'Once more.'] as const

export const LAST_WORDS = `All ${ROUNDS} files are read.`

/** A strict upstream with a small window, a model that reads a file in each of a few rounds, then answers, and what is read. */
export type Stand<Upstream extends Seen = Seen> = {
  readonly url: string
  readonly upstream: Upstream
  readonly readFile: (path: string) => string
  /** Tokens of all that it has returned: what the client sends of it again with every request. */
  readonly returnedTokens: () => number
  readonly read: readonly string[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

type Seen = Pick<StrictUpstream, 'url' | 'close'> & {
  readonly requests: readonly {
    readonly path: string
    readonly rejected: { readonly reason: string } | null
    readonly promptTokens: number
    readonly body: { readonly includes: (text: string) => boolean }
  }[]
}

export type AgentStand = Stand<StrictUpstream>

export async function agentStand(template: Template = 'lenient'): Promise<AgentStand> {
  let round = 0
  const upstream = await startStrictUpstream({
    ...(await strictness()),
    template,
    reply: ({ body }) => {
      if (body['response_format'] !== undefined) return { content: '{"longest":"src/main.ts","lines":20}' }
      if (!Array.isArray(body['tools'])) return { content: 'A plain answer.' }
      round += 1
      if (round % (ROUNDS + 1) === 0) return { content: LAST_WORDS }
      const path = `src/file-${round}.ts`
      const call = { id: `call_${round}`, name: 'read_file', argumentsText: JSON.stringify({ path }) }
      return { content: round % 2 === 0 ? `Now ${path}.` : null, toolCalls: [call] }
    },
  })
  return standBefore(upstream, 'through Foldgate', { template })
}

export type How = 'alone' | 'through Foldgate'

export type ThinkingStand = Stand & {
  /** Thoughts that the upstream left out, or changed, for what stood before them was another. */
  readonly lost: () => readonly unknown[]
  readonly isReminded: () => boolean
}

/**
 * An upstream of the Responses API, and a Foldgate before it or none. Reasoning that is sent back behind anything else than
 * what it was thought after is left out, and the upstream tells of it.
 */
export async function responsesStand(how: How): Promise<ThinkingStand> {
  let round = 0
  const upstream = await startResponsesUpstream({
    ...(await strictness()),
    reply: () => {
      round += 1
      const thought = { type: 'reasoning', tokens: 60 } as const
      if (round % (ROUNDS + 1) === 0) return { output: [thought, { type: 'message', text: LAST_WORDS }] }
      const call = {
        callId: `call_${round}`,
        name: 'read_file',
        arguments: `{"path":"src/file-${round}.ts"}`,
      }
      return { output: [thought, { type: 'function_call', ...call }] }
    },
  })
  return {
    ...(await standBefore(upstream, how)),
    lost: () => upstream.requests.flatMap(({ removed }) => removed),
    // The last round is shown with its thoughts even so.
    isReminded: () => upstream.requests.at(-1)?.items.some((item) => typeOf(item) === 'reasoning') ?? false,
  }
}

/**
 * The same of the Messages API, whose model thinks in words or hidden. Thinking that is sent back behind anything else than
 * what it was thought after is refused.
 */
export async function messagesStand(how: How): Promise<ThinkingStand> {
  let round = 0
  const upstream = await startMessagesUpstream({
    ...(await strictness()),
    // Signed thoughts are bound where the model is Anthropic's.
    answersAs: 'anthropic/m',
    reply: () => {
      round += 1
      const hidden: ScriptedBlock = { type: 'thinking', tokens: 60 }
      const thought =
        round % 2 === 0 ? hidden : ({ type: 'thinking', text: `Step ${round} is due.` } as const)
      if (round % (ROUNDS + 1) === 0) return { content: [thought, { type: 'text', text: LAST_WORDS }] }
      const input = { path: `src/file-${round}.ts` }
      return { content: [thought, { type: 'tool_use', id: `toolu_${round}`, name: 'read_file', input }] }
    },
  })
  return {
    ...(await standBefore(upstream, how)),
    lost: () => upstream.requests.flatMap(({ transformations }) => transformations),
    // What was thought since the last compaction is shown, and thinking comes back in most requests.
    isReminded: () => {
      const { requests } = upstream
      const thinking = requests.filter(({ messages }) =>
        messages.some(({ blocks }) => blocks.some(isThinking)),
      )
      return thinking.length > requests.length / 2
    },
  }
}

export type Made = {
  readonly form?: 'plain' | 'streamed'
  readonly path?: string
  readonly windowTokens?: number
}

/** So many requests were made, none was refused, each fitted the window, and Foldgate had to do something for it. */
export function expectCompacted({ upstream }: Stand, requests: number, made: Made = {}): void {
  const { form = 'plain', path = '/v1/chat/completions', windowTokens = WINDOW_TOKENS } = made
  const seen = upstream.requests
  expect(seen.map(({ rejected }) => rejected)).toEqual(Array(requests).fill(null))
  expect([...new Set(seen.map((request) => request.path))]).toEqual([path])
  for (const { promptTokens } of seen) expect(promptTokens).toBeLessThanOrEqual(windowTokens)
  expect(seen.every(({ body }) => body.includes('"stream":true') === (form === 'streamed'))).toBe(true)
  const last = seen.at(-1)?.body
  expect(['<conversation-recap>', '[cleared: '].some((mark) => last?.includes(mark) === true)).toBe(true)
}

/** The agent read each file of so many turns, more than the window holds, and all of it as `expectCompacted` says. */
export function expectTurns(at: Stand, turns: number, made: Made = {}): void {
  expect(at.read).toHaveLength(turns * ROUNDS)
  expect(new Set(at.read).size).toBe(turns * ROUNDS)
  expect(at.returnedTokens()).toBeGreaterThan(WINDOW_TOKENS)
  expectCompacted(at, turns * (ROUNDS + 1), made)
}

/** What an agent reads from at a URL: an upstream, or a Foldgate before it; both end with it. */
export async function readingFrom<Upstream extends Seen>(
  upstream: Upstream,
  foldgate: RunningFoldgate | null,
  url: string,
): Promise<Stand<Upstream>> {
  const { count } = await loadCounter('o200k_base')
  const dice = openDice(21)
  const read: string[] = []
  let returnedTokens = 0
  return {
    url,
    upstream,
    read,
    returnedTokens: () => returnedTokens,
    readFile: (path) => {
      read.push(path)
      const source = sampleSource(dice, 60)
      returnedTokens += count(source)
      return source
    },
    [Symbol.asyncDispose]: async () => {
      await foldgate?.close()
      await upstream.close()
    },
  }
}

async function strictness() {
  const { count } = await loadCounter('o200k_base')
  return { windowTokens: WINDOW_TOKENS, outputReserveChecked: true, count }
}

async function standBefore<Upstream extends Seen>(
  upstream: Upstream,
  how: How,
  more: object = {},
): Promise<Stand<Upstream>> {
  const profile = { window: { tokens: WINDOW_TOKENS, output_reserve: OUTPUT_TOKENS }, ...more }
  const foldgate = how === 'alone' ? null : await startFoldgate({ upstream: upstream.url, profile })
  return readingFrom(upstream, foldgate, foldgate?.url ?? upstream.url)
}
