import type { RawMessage } from '../replay/recordings.ts'

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
