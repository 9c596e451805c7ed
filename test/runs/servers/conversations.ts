import { rawMessage, readRecordings, type RawMessage } from '../harness/recordings.ts'
import { longRun } from '../../support/conversations.ts'
import { pointsOf } from './windows.ts'

/** The beginning of a conversation that makes so many requests, where there is one. */
export type Conversations = (requests: number) => readonly RawMessage[]

/** The run of an agent that was made up. */
export const madeConversation = (requests: number, seed = SEED): readonly RawMessage[] =>
  longRun(requests - 1, seed).map((message) =>
    rawMessage(JSON.stringify({ ...message, content: message['content'] ?? '' })),
  )

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

/** llama-cpp-python's server takes no content but text: where there was none it is empty. Null for parts. */
function withText({ text, message }: RawMessage): RawMessage | null {
  const { content } = message
  if (typeof content === 'string') return { text, message }
  return content === null || content === undefined
    ? rawMessage(JSON.stringify({ ...message, content: '' }))
    : null
}
