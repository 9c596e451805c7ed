import { isObject, textOf } from '../../support/strict-upstream/wire-message.ts'
import type { Agent, Turn, TurnOptions } from './growing-agent.ts'

/** Turns of an agent up to the first for which this holds, that one included. Fails where none comes. */
export async function turnsUntil(
  agent: Agent,
  isLast: (turn: Turn) => boolean,
  options?: TurnOptions,
): Promise<readonly Turn[]> {
  const turns: Turn[] = []
  while (turns.length < TURNS_MAX) {
    const turn = await agent.turn(options)
    turns.push(turn)
    await options?.pause?.()
    if (isLast(turn)) return turns
  }
  throw new Error(
    `no such turn came: ${turns.map(({ action, summary }) => `${action} ${summary}`).join(', ')}`,
  )
}

/** Summaries are asked for with this turn. */
export const isPending = ({ summary }: Turn): boolean => summary === 'pending'

/** The first request in a compaction's view. */
export const isCompacted = ({ action }: Turn): boolean => action === 'compacted'

/** The contents of the messages in a view that hold a summary. */
export function summariesIn({ received }: Pick<Turn, 'received'>): readonly string[] {
  return received.filter((message) => message.includes(SUMMARY_OPEN)).map(contentOf)
}

/** The contents of those that hold a recap. */
export function recapsIn({ received }: Pick<Turn, 'received'>): readonly string[] {
  return received.filter((message) => message.includes('<conversation-recap>')).map(contentOf)
}

/** The text of a message with string content. */
export function contentOf(message: string): string {
  return rawMember(message, 'content')
}

/** A member of a raw message, as text. */
export function rawMember(message: string, name: string): string {
  const read: unknown = JSON.parse(message)
  return isObject(read) ? textOf(read[name]) : ''
}

// --- internal ---

const TURNS_MAX = 40
const SUMMARY_OPEN = '<conversation-summary>'
