import { lruCache } from '../../../src/caches.ts'
import { callsOf, isObject, mediaIn, textOf, textsOf, type WireMessage } from './wire-message.ts'

/** Tokens that the upstream adds after the last message to open its reply. */
export const REPLY_TOKENS = 3
/** Tokens around each message, its role included. */
export const MESSAGE_TOKENS = 3 + 1

export const CALL_TOKENS = 8
const TOOLS_TOKENS = 16
const TOOL_TOKENS = 8
const TOOLS_RATIO = 1.1
// What OpenAI's tile rule gives for a picture of 1,024 by 1,024 pixels.
export const MEDIA_TOKENS = 765

// A number a message; 100,000 of them are the conversations of a long replay, in about 10 MB.
const COUNTS_MAX = 100_000

/** Counts prompts as the strict upstream does. Each message is counted once and known by its hash thereafter. */
export type PromptCounter = {
  message(hash: string, message: WireMessage): number
  /** Nought where there are no tools. */
  tools(hash: string, tools: unknown): number
}

export function openPromptCounter(count: (text: string) => number): PromptCounter {
  const once = countingOnce()
  return {
    message: (hash, message) => once(hash, () => countMessage(count, message)),
    tools: (hash, tools) => once(hash, () => countTools(count, tools)),
  }
}

/** Works a number out once for each key. */
export function countingOnce(): (key: string, work: () => number) => number {
  const counts = lruCache<number>(COUNTS_MAX)
  return (key, work) => {
    const counted = counts.get(key) ?? work()
    counts.set(key, counted)
    return counted
  }
}

/** All texts of a value, wherever they stand: that counts an unknown one too. `known` says what a member counts otherwise. */
export function countTexts(
  count: (text: string) => number,
  value: unknown,
  known: (name: string) => number | null,
): number {
  if (typeof value === 'string') return count(value)
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + countTexts(count, one, known), 0)
  if (!isObject(value)) return 0
  return Object.entries(value).reduce((sum, [name, member]) => {
    if (member === null) return sum
    return sum + (known(name) ?? countTexts(count, member, known))
  }, 0)
}

function countMessage(count: (text: string) => number, message: WireMessage): number {
  const name = textOf(message.name ?? message.tool_name)
  let tokens = MESSAGE_TOKENS + count(name) + MEDIA_TOKENS * mediaIn(message)
  for (const text of textsOf(message.content)) tokens += count(text)
  for (const call of callsOf(message)) tokens += CALL_TOKENS + count(call.name) + count(call.argumentsText)
  return tokens
}

function countTools(count: (text: string) => number, tools: unknown): number {
  if (!Array.isArray(tools) || tools.length === 0) return 0
  let tokens = TOOLS_TOKENS
  for (const tool of tools as readonly unknown[]) {
    const described = isObject(tool) && isObject(tool['function']) ? tool['function'] : {}
    tokens += TOOL_TOKENS + count(textOf(described['name'])) + count(textOf(described['description']))
    tokens += described['parameters'] === undefined ? 0 : count(JSON.stringify(described['parameters']))
  }
  return Math.ceil(tokens * TOOLS_RATIO)
}
