import { openDice, type Dice } from '../../../src/demo/dice.ts'
import { textOf } from '../../support/strict-upstream/wire-message.ts'
import { thingsOf } from '../fidelity/wanted.ts'
import { rawMessage, readRecordings, type RawMessage } from '../harness/recordings.ts'
import { longRun } from '../../support/conversations.ts'
import { pointsOf } from './windows.ts'

/** The beginning of a conversation that makes so many requests, where there is one. */
export type Conversations = (requests: number) => readonly RawMessage[]

/**
 * The run of an agent that was made up. Before each call it names two things that it has come across: one in the newest
 * messages, one in any before them, which is what a view may have lost.
 */
export function madeConversation(requests: number, seed = SEED): readonly RawMessage[] {
  const dice = openDice(seed)
  const messages = longRun(requests - 1, seed)
  const named: (readonly string[])[] = []
  return messages.map((message) => {
    const isAssistant = message.role === 'assistant'
    const content = isAssistant ? remark(dice, named) : message['content']
    if (!isAssistant) named.push([...thingsOf(textOf(content))])
    return rawMessage(JSON.stringify({ ...message, content }))
  })
}

/** The recorded conversation of a folder that makes the most requests, of those that are text alone. */
export function recordedConversation(folder: string): Conversations | string {
  const [longest] = readRecordings(folder, null)
    .map(({ messages }) => messages.map(withText))
    .filter((messages) => messages.every((message) => message !== null))
    .toSorted((one, other) => other.length - one.length)
  if (longest === undefined) return `There is no recorded conversation (*.jsonl) of text alone in ${folder}.`
  return (requests) => longest.slice(0, pointsOf(longest)[requests - 1])
}

const SEED = 22
const NEWEST = 3

function remark(dice: Dice, named: readonly (readonly string[])[]): string {
  const near = pick(dice, named.slice(-NEWEST).flat())
  const far = pick(dice, named.slice(0, -NEWEST).flat())
  return far === null ? `Next I look at ${near}.` : `Next I look at ${near}, as with ${far} before.`
}

const pick = (dice: Dice, things: readonly string[]): string | null =>
  things[dice.below(Math.max(1, things.length))] ?? null

/** llama-cpp-python's server takes no content but text: where there was none it is empty. Null for parts. */
function withText({ text, message }: RawMessage): RawMessage | null {
  const { content } = message
  if (typeof content === 'string') return { text, message }
  return content === null || content === undefined
    ? rawMessage(JSON.stringify({ ...message, content: '' }))
    : null
}
