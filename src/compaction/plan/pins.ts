import type { Treatment } from '../compaction.ts'
import type { Profile } from '../../profiles/schema.ts'
import { isSystem, type History } from '../history/history.ts'
import { SHARE, type PartSizes } from '../shares.ts'
import type { TokenCounts } from '../token-counts.ts'

/** The task and the latest user message, by their indexes; -1 where there is none. */
export type Pins = Pick<Treatment, 'task' | 'latestUser'>

/** The messages that a compaction at this point pins by what they are. */
export function pinsAt({ structure }: History, profile: Profile, point: number): Pins {
  const { task } = structure
  return {
    task: profile.keep.task && task < point ? task : -1,
    latestUser: structure.latestUserBefore(point),
  }
}

/** Whether a message is task or latest user message. */
export function isPinned({ task, latestUser }: Pins, index: number): boolean {
  return index === task || index === latestUser
}

/** Tokens of the messages that a compaction at this point pins. */
export function pinnedTokens(history: History, profile: Profile, point: number): number {
  return pinnedBetween(history, pinsAt(history, profile, point), 0, point)
}

/** What the messages from `start` up to `end` take, without those that are pinned. */
export function tokensBesidePins(
  { history, unboundTokens }: TokenCounts,
  pins: Pins,
  start: number,
  end: number,
): number {
  return unboundTokens(start, end) - pinnedBetween(history, pins, start, end)
}

/** The parts of the conversation up to a request point that have a right to stand in its view: promise P4. */
export function partsAt(counts: TokenCounts, pins: Pins, point: number, roomTokens: number) {
  const { history } = counts
  const { sizes } = history
  const { task, latestUser } = pins
  let newestSpoken = point - 1
  while (newestSpoken >= 0 && isSystem(history, newestSpoken)) newestSpoken -= 1
  const newestUser = newestSpoken === latestUser ? latestUser : -1
  const newestFrom = newestRoundFrom(counts, point, roomTokens * SHARE.newestRound)
  let systemTokens = 0
  for (let index = newestFrom; index < point; index += 1)
    if (isSystem(history, index)) systemTokens += sizes[index] ?? 0
  const partSizes: PartSizes = {
    newestRound: tokensBesidePins(counts, pins, newestFrom, point) - systemTokens,
    newestUser: sizes[newestUser] ?? 0,
    task: task === newestUser ? 0 : (sizes[task] ?? 0),
    latestUser: latestUser === newestUser || latestUser === task ? 0 : (sizes[latestUser] ?? 0),
  }
  return {
    /** Where the newest round begins. */
    newestFrom,
    /** The user message that is the newest message of all, whatever system messages follow it; -1 where there is none. */
    newestUser,
    /** System messages in the newest round: they are neither moved nor cut, and no part may have what they take. In tokens. */
    systemTokens,
    sizes: partSizes,
  }
}

// --- internal ---

/** Tokens of the pinned messages from `start` up to `end`, a message that is both counted once. */
function pinnedBetween({ sizes }: History, { task, latestUser }: Pins, start: number, end: number): number {
  let tokens = 0
  for (const index of task === latestUser ? [task] : [task, latestUser])
    if (index >= start && index < end) tokens += sizes[index] ?? 0
  return tokens
}

/** More messages than this in one round are no round that a model has to see as one. */
const ROUND_UNITS_MAX = 8

/**
 * Where the newest round begins. A run of many user messages behind one word of the assistant is shortened at its
 * beginning: if all of them were cut down to one share, none could be read.
 */
function newestRoundFrom(
  { history: { structure }, unboundTokens }: TokenCounts,
  point: number,
  tokensMax: number,
): number {
  const from = Math.max(structure.systemCount, structure.newestRoundStart(point))
  if (unboundTokens(from, point) <= tokensMax) return from
  const cuts: number[] = []
  for (let index = from + 1; index <= structure.lastUnitStart(point); index += 1)
    if (structure.isFrontier(index)) cuts.push(index)
  if (cuts.length < ROUND_UNITS_MAX) return from
  return cuts.find((cut) => unboundTokens(cut, point) <= tokensMax) ?? cuts.at(-1) ?? from
}
