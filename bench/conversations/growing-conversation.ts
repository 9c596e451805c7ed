import { loadCounter } from '../../src/tokens/encodings.ts'
import { postOf } from '../load/load.ts'
import { agentTools, openAgentRounds } from './agent-rounds.ts'

/** A conversation that only ever grows, as the bytes that a client sends. */
export type GrowingConversation = {
  /** Adds rounds of about 2 kB until the request's body has at least so many bytes. */
  readonly growTo: (bodyBytes: number) => void
  /** Adds one round of about so many bytes: an assistant message and a tool result. */
  readonly addRound: (bytes?: number) => void
  readonly bodyBytes: () => number
  readonly messages: () => number
  /** The whole request as it goes over the wire. Copies the body: not to be called while time is taken. */
  readonly request: () => Buffer
}

export type GrowingOptions = {
  readonly seed: number
  /** Default: `plain`, which the bench's upstream answers at once. */
  readonly model?: string
  /** Stands in every message. Default: the seed. */
  readonly stamp?: string
  /** Whether tools and settings stand before the messages or behind them, as SDKs in several languages write them. */
  readonly toolsFirst?: boolean
  readonly stream?: boolean
}

/** What a usual turn adds: one call and its result. */
export const USUAL_ROUND_BYTES = 2_000

export function openConversation(options: GrowingOptions): GrowingConversation {
  const { seed, model = 'plain', stamp = `run${seed}`, toolsFirst = false, stream = false } = options
  const rounds = openAgentRounds(seed, stamp)
  const settings = `"tools":${agentTools},"temperature":0.2${stream ? ',"stream":true' : ''}`
  const before = Buffer.from(`{"model":"${model}",${toolsFirst ? `${settings},` : ''}"messages":[`)
  const after = Buffer.from(toolsFirst ? ']}' : `],${settings}}`)
  // Twice as large whenever it is full: what stands in it is never made anew.
  let written = Buffer.alloc(1024 * 1024)
  let length = 0
  let messages = 2

  const bodyBytes = (): number => before.length + length + after.length

  function write(text: string): void {
    const bytes = Buffer.byteLength(text)
    if (length + bytes > written.length)
      written = Buffer.concat([written], 2 * Math.max(written.length, length + bytes))
    length += written.write(text, length)
  }

  function addRound(bytes = USUAL_ROUND_BYTES): void {
    write(rounds.next(bytes))
    messages += 2
  }

  write(rounds.opening)
  return {
    growTo: (bytes) => {
      while (bodyBytes() < bytes) addRound()
    },
    addRound,
    bodyBytes,
    messages: () => messages,
    request: () =>
      postOf('/v1/chat/completions', Buffer.concat([before, written.subarray(0, length), after])),
  }
}

/** How many bytes of such a body have about so many tokens of o200k_base, judged by its first megabyte. */
export async function bytesOfTokens(tokens: number): Promise<number> {
  const counter = await loadCounter('o200k_base')
  const rounds = openAgentRounds(1, 'run1')
  let text = rounds.opening
  while (text.length < 1_000_000) text += rounds.next(USUAL_ROUND_BYTES)
  const messages: unknown = JSON.parse(`[${text}]`)
  return Math.round((Buffer.byteLength(text) / counter.count(textsIn(messages).join('\n'))) * tokens)
}

// --- internal ---

/** Every text in a JSON value: names and braces are no part of what a message takes. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
