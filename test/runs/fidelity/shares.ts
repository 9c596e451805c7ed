import type { RawMessage } from '../replay/recordings.ts'
import type { Standing } from './standing.ts'

type SizeOf = (message: RawMessage) => number

/** How many system and developer messages a conversation begins with. */
export function systemCountOf(messages: readonly RawMessage[]): number {
  const firstOther = messages.findIndex(({ message }) => !SYSTEM_ROLES.has(message['role']))
  return firstOther === -1 ? messages.length : firstOther
}

/** How many tokens of the newest message have to be in the view (P4), at a room of so many. */
export function newestShare(client: readonly RawMessage[], roomTokens: number, sizeOf: SizeOf): number {
  const newest = client.at(-1)
  if (newest === undefined || roomTokens <= 0) return 0
  const size = sizeOf(newest)
  if (newest.message['role'] === 'user') return Math.min(size, NEWEST_USER_SHARE * roomTokens)
  const assistant = client.findLastIndex(({ message }) => message['role'] === 'assistant')
  const round = client.slice(Math.max(assistant, systemCountOf(client.slice(0, -1))))
  return Math.min(size, waterLevel(round.map(sizeOf), newestRoundTokens(roomTokens)))
}

/** What the newest round may take of a room, in tokens. */
export function newestRoundTokens(roomTokens: number): number {
  return NEWEST_ROUND_SHARE * roomTokens
}

/** How many tokens of the first or the latest user message have to be in the view, where it is not the newest. */
export function taskShare(task: RawMessage, roomTokens: number, sizeOf: SizeOf): number {
  return Math.max(0, Math.min(sizeOf(task), TASK_SHARE * roomTokens))
}

/** The level at which sizes, each cut down to it, come to what is allowed; no bound where all of them fit. */
export function waterLevel(sizes: readonly number[], allowed: number): number {
  let left = allowed
  for (const [index, size] of sizes.toSorted((one, other) => one - other).entries()) {
    const level = left / (sizes.length - index)
    if (size > level) return level
    left -= size
  }
  return Number.POSITIVE_INFINITY
}

/** Whether a message that stands in a view has its share there, with some slack for marks and the places of cuts. */
export function hasShare(standing: Standing | null, shareTokens: number): boolean {
  if (standing === null) return false
  if (standing.isWhole) return true
  const { sizeTokens, textTokens, textTokensHeld, tokensHeld } = standing
  if (sizeTokens >= SMALL_TOKENS) {
    const slackTokens = Math.max(SLACK_TOKENS, SLACK_RATIO * shareTokens)
    const dueTokens = Math.min(shareTokens, sizeTokens) - slackTokens
    return textTokensHeld >= MORE_THAN_MARK_TOKENS && tokensHeld >= dueTokens
  }
  // The slack would excuse the whole of a small message. It has no reason to be cut, unless not even it has room.
  return shareTokens < sizeTokens || textTokensHeld >= textTokens / 2
}

// --- internal ---

const SYSTEM_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer'])

const NEWEST_USER_SHARE = 3 / 4
const NEWEST_ROUND_SHARE = 1 / 2
const TASK_SHARE = 1 / 4

const SLACK_TOKENS = 16
const SLACK_RATIO = 0.1
/** Below it a message may have to stand as a mark, where system messages leave no room. */
const SMALL_TOKENS = 64
/** What a mark may have in common with any text by chance is less. */
const MORE_THAN_MARK_TOKENS = 8
