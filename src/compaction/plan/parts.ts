import type { Compaction } from '../compaction.ts'
import type { Policy } from '../policy.ts'
import { isSystem, type Subject } from '../../subject/subject.ts'
import type { TokenCounts } from '../token-counts.ts'
import { SHARE, type PartSizes } from './shares.ts'

/** The task and the latest user message, by their indexes; -1 where there is none. */
export type Pins = Pick<Compaction, 'task' | 'latestUser'>

/** The parts of a conversation that have a right to stand in its view: promise P4. */
export type Parts = {
  /** Where the newest round begins. */
  readonly newestFrom: number
  /** The user message that is the newest message of all, whatever system messages follow it; -1 where there is none. */
  readonly newestUser: number
  /** System messages in the newest round: they are neither moved nor cut, and no part may have what they take. In tokens. */
  readonly systemTokens: number
  readonly sizes: PartSizes
}

/** The messages that a compaction at this point pins by what they are. */
export function pinsAt({ structure }: Subject, policy: Policy, point: number): Pins {
  const { task } = structure
  return {
    task: policy.keep.task && task < point ? task : -1,
    latestUser: structure.latestUserBefore(point),
  }
}

/** Tokens of the messages that a compaction at this point pins, a message that is both counted once. */
export function pinnedTokens(subject: Subject, policy: Policy, point: number): number {
  const { task, latestUser } = pinsAt(subject, policy, point)
  let tokens = 0
  for (const index of new Set([task, latestUser])) tokens += subject.sizes[index] ?? 0
  return tokens
}

/** The parts of the conversation up to a request point, in a room of so many tokens. */
export function partsAt(
  { subject, unboundTokens }: TokenCounts,
  { task, latestUser }: Pins,
  point: number,
  roomTokens: number,
): Parts {
  const { sizes } = subject
  let newestSpoken = point - 1
  while (newestSpoken >= 0 && isSystem(subject, newestSpoken)) newestSpoken -= 1
  const newestUser = newestSpoken === latestUser ? latestUser : -1
  const newestFrom = newestRoundFrom(subject, unboundTokens, point, roomTokens * SHARE.newestRound)
  let systemTokens = 0
  for (let index = newestFrom; index < point; index += 1)
    if (isSystem(subject, index)) systemTokens += sizes[index] ?? 0
  let newestRound = unboundTokens(newestFrom, point) - systemTokens
  for (const index of new Set([task, latestUser])) if (index >= newestFrom) newestRound -= sizes[index] ?? 0
  return {
    newestFrom,
    newestUser,
    systemTokens,
    sizes: {
      newestRound,
      newestUser: sizes[newestUser] ?? 0,
      task: task === newestUser ? 0 : (sizes[task] ?? 0),
      latestUser: latestUser === newestUser || latestUser === task ? 0 : (sizes[latestUser] ?? 0),
    },
  }
}

// --- internal ---

/** More messages than this in one round are no round that a model has to see as one. */
const ROUND_UNITS_MAX = 8

/**
 * Where the newest round begins. A run of many user messages behind one word of the assistant is shortened at its
 * beginning: if all of them were cut down to one share, none could be read.
 */
function newestRoundFrom(
  { structure }: Subject,
  unboundTokens: TokenCounts['unboundTokens'],
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
