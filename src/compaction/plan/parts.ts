import type { Compaction } from '../compaction.ts'
import type { Policy } from '../policy.ts'
import { isSystem, type Subject } from '../history/subject.ts'
import type { TokenCounts } from '../token-counts.ts'

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

/**
 * What each part of a view has a right to, as shares of the room: what the budget leaves beside system messages and
 * tools. Promise P4, in its order of right.
 */
export const SHARE = {
  /** The newest assistant message and all that follows it. */
  newestRound: 1 / 2,
  /** A user message that is itself the newest. */
  newestUser: 3 / 4,
  /** The task, and the latest user message where it is older than the newest round. */
  pinned: 1 / 4,
  /** The newest messages as they were, the newest round among them, when a compaction ends. */
  recent: 1 / 3,
  /** What is kept word for word by request. */
  kept: 1 / 8,
  /** What stands for folded messages, at the most … */
  recap: 1 / 3,
  /** … and what it keeps of that beside parts which take more than their share. */
  leastRecap: 1 / 8,
} as const

/** What the parts take as they came, in tokens; 0 where there is no such part. */
export type PartSizes = {
  /** The newest round without its newest user message, task and latest user message. */
  readonly newestRound: number
  /** The user message that is the newest message of all. */
  readonly newestUser: number
  readonly task: number
  /** The latest user message, where it is neither the newest message nor the task. */
  readonly latestUser: number
}

/** What the parts are sure of, in tokens, and what is left for the others. */
export type Shares = {
  /** Whole, or cut down to this and no further while another part has more than its share. */
  readonly sure: PartSizes
  /** What task and latest user message may take while everything else has its share: the sure part, and what nobody needs. */
  readonly task: number
  readonly latestUser: number
  /** How much of the newest messages a compaction leaves as they were, the newest round included. */
  readonly recentMin: number
  /** Where a further message would leave no room for what comes before it in right. */
  readonly recentMax: number
  /** How much of them a profile may keep by number: half of the room beside the newest round. */
  readonly keptMax: number
  readonly recapMin: number
  readonly recapMax: number
}

/** Divides the room: each part gets its share in the order of right, and what one does not need the others get. */
export function sharesOf(roomTokens: number, sizes: PartSizes): Shares {
  const room = Math.max(0, roomTokens)
  const half = Math.floor(room * SHARE.newestRound)
  const pinned = Math.floor(room * SHARE.pinned)
  const newestUser = Math.min(sizes.newestUser, Math.floor(room * SHARE.newestUser))
  const newestRound = Math.min(sizes.newestRound, Math.max(0, half - newestUser))
  const task = Math.min(sizes.task, pinned)
  const latestUser = Math.min(sizes.latestUser, pinned)
  const newest = newestUser + newestRound
  const left = Math.max(0, room - newest - task - latestUser)
  const recapMin = Math.min(left, Math.floor(room * SHARE.leastRecap))
  const recapMax = Math.floor(room * SHARE.recap)
  const besideRecap = newest + left - recapMin
  const recentMin = Math.max(newest, Math.min(Math.floor(room * SHARE.recent), besideRecap))
  // Beside the newest messages, the least recap and one more round like the newest the task stays whole, then the latest user
  // message: without room for that round each request would be a compaction, and half of what is missing helps nobody.
  const spare = Math.max(0, left - (recentMin - newest) - recapMin - sizes.newestRound)
  const taskMore = sizes.task - task <= spare ? sizes.task - task : 0
  const latestMore = sizes.latestUser - latestUser <= spare - taskMore ? sizes.latestUser - latestUser : 0
  return {
    sure: { newestUser, newestRound, task, latestUser },
    task: task + taskMore,
    latestUser: latestUser + latestMore,
    recentMin,
    recentMax: Math.max(recentMin, Math.min(half, besideRecap)),
    keptMax: Math.max(recentMin, Math.min(half + newest, besideRecap)),
    recapMin,
    recapMax,
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
