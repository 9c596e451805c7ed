import { rawMessage, type RawMessage } from '../harness/recordings.ts'

/** What a policy chooses from. */
export type PolicyInput = {
  readonly messages: readonly RawMessage[]
  /** What the messages may take together. */
  readonly budgetTokens: number
  readonly sizeOf: (message: RawMessage) => number
}

/**
 * What a client sends that compacts by itself. Those of this file choose anew at every request; those of
 * `lasting-policies.ts` remember what they took out, each of one conversation.
 */
export type Policy = (input: PolicyInput) => readonly RawMessage[]

/** As if the window were endless. */
export const everything = ({ messages }: PolicyInput): readonly RawMessage[] => messages

/**
 * The newest rounds that fit, and nothing in front of them: not even the system message. This is the cut that gives
 * the costs which were once measured for a sliding window (half of the prompt cached); with a pinned head in front
 * of it, a fifth more is cached.
 */
export const newestSuffix = (input: PolicyInput): readonly RawMessage[] =>
  newest(input, roundsOf(input.messages), input.budgetTokens).flat()

/** The same behind the system messages and the task. */
export function headAndSuffix(input: PolicyInput): readonly RawMessage[] {
  const { head, rest } = pinned(input.messages)
  const room = input.budgetTokens - sizeOfAll(input, head)
  return [...head, ...newest(input, roundsOf(rest), room).flat()]
}

/** Half of the room for the oldest rounds, the rest for the newest ones. */
export function middleOut(input: PolicyInput): readonly RawMessage[] {
  const { messages, budgetTokens } = input
  if (sizeOfAll(input, messages) <= budgetTokens) return messages
  const rounds = roundsOf(messages)
  const first = rounds.slice(0, newest(input, rounds.toReversed(), budgetTokens / 2).length)
  const room = budgetTokens - sizeOfAll(input, first.flat())
  return [...first, ...newest(input, rounds.slice(first.length), room)].flat()
}

/** Past six tenths of the budget, all but the newest six results are cleared; then the newest suffix. */
export function clearing(input: PolicyInput): readonly RawMessage[] {
  const { messages, budgetTokens } = input
  if (sizeOfAll(input, messages) <= CLEARED_PAST * budgetTokens) return messages
  return newestSuffix({ ...input, messages: withoutOldResults(messages) })
}

/** Where not all fits, all but the newest six results are masked, wherever they stand; then the newest rounds behind the head. */
export function masking(input: PolicyInput): readonly RawMessage[] {
  const { messages, budgetTokens } = input
  if (sizeOfAll(input, messages) <= budgetTokens) return messages
  return headAndSuffix({ ...input, messages: withoutOldResults(messages) })
}

/** Messages that are sent together or not at all: one that is no result, and the results that follow it. */
export type Round = readonly RawMessage[]

/** A conversation in rounds. What is cut between two of them leaves no result without its call. */
export function roundsOf(messages: readonly RawMessage[]): readonly Round[] {
  const rounds: RawMessage[][] = []
  for (const message of messages) {
    const last = rounds.at(-1)
    if (last !== undefined && message.message['role'] === 'tool') last.push(message)
    else rounds.push([message])
  }
  return rounds
}

/** The system messages and the task, and what follows them. */
export function pinned(messages: readonly RawMessage[]): {
  head: readonly RawMessage[]
  rest: readonly RawMessage[]
} {
  const firstOther = messages.findIndex(({ message }) => message['role'] !== 'system')
  const systemCount = firstOther === -1 ? messages.length : firstOther
  const hasTask = messages[systemCount]?.message['role'] === 'user'
  const count = systemCount + (hasTask ? 1 : 0)
  return { head: messages.slice(0, count), rest: messages.slice(count) }
}

const CLEARED_PAST = 0.6
const RESULTS_KEPT = 6

function withoutOldResults(messages: readonly RawMessage[]): readonly RawMessage[] {
  const results = messages.filter(({ message }) => message['role'] === 'tool')
  const old = new Set(results.slice(0, -RESULTS_KEPT))
  return messages.map((message) => (old.has(message) ? placeholder(message) : message))
}

/** As many of the last rounds as there is room for; the very last is sent whatever it takes. */
function newest(input: PolicyInput, rounds: readonly Round[], roomTokens: number): readonly Round[] {
  let room = roomTokens
  let from = rounds.length
  while (from > 0) {
    room -= sizeOfAll(input, rounds[from - 1] ?? [])
    if (room < 0 && from < rounds.length) break
    from -= 1
  }
  return rounds.slice(from)
}

export const sizeOfAll = ({ sizeOf }: PolicyInput, messages: readonly RawMessage[]): number =>
  messages.reduce((sum, message) => sum + sizeOf(message), 0)

export const placeholder = ({ message }: RawMessage): RawMessage =>
  rawMessage(JSON.stringify({ ...message, content: '[Old tool result content cleared]' }))
