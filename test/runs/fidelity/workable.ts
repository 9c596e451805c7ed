import { systemCountOf, type RawMessage } from '../harness/recordings.ts'
import type { Tally } from './figures.ts'
import type { Standing, Standings } from './standing.ts'

type SizeOf = (message: RawMessage) => number

export type WorkableInput = {
  /** The client's request. */
  readonly client: readonly RawMessage[]
  /** What the upstream received for it. */
  readonly received: readonly RawMessage[]
  readonly standings: Standings
  /** A message by the upstream's count, in tokens. */
  readonly sizeOf: (message: RawMessage) => number
  /** The window less reserve, tools and leading system messages, by the upstream's count. */
  readonly roomTokens: number
}

/** Whether and how an agent could go on from a view: see the columns of `fidelity.ts`. */
export function workableFigures(input: WorkableInput): Partial<Tally> {
  const { client, received, standings, sizeOf, roomTokens } = input
  const standingAt = standings.of(client, received)
  const taskIndex = client.findIndex(({ message }) => message['role'] === 'user')
  const task = client[taskIndex]
  const isTaskThere =
    task === undefined || hasShare(standings.most(task, received), taskShare(task, roomTokens, sizeOf))
  const actions = newestOf(client, ACTIONS, ['assistant'])
  const observations = newestOf(client, OBSERVATIONS, ['tool', 'function'])
  return {
    newestAbsent: isNewestThere(input, standingAt) ? 0 : 1,
    taskGone: isTaskThere ? 0 : 1,
    actions: actions.length,
    actionsHeld: actions.filter((index) => standingAt.has(index)).length,
    observations: observations.length,
    observationsHeld: observations.filter((index) => isReadable(standingAt.get(index))).length,
  }
}

/** Of a request for which no room is left, all that can be asked for. */
export const newestFigure = (input: WorkableInput): Pick<Tally, 'newestAbsent'> => ({
  newestAbsent: isNewestThere(input, input.standings.of(input.client, input.received)) ? 0 : 1,
})

/** The share of the room that the newest messages take which were received byte for byte, one next to the other. */
export function recentShare({ client, received, sizeOf, roomTokens }: WorkableInput): number {
  const history = client.slice(systemCountOf(client))
  const changed = history.findLastIndex(
    ({ text }, index) => text !== received[received.length - history.length + index]?.text,
  )
  return history.slice(changed + 1).reduce((sum, message) => sum + sizeOf(message), 0) / roomTokens
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
export const newestRoundTokens = (roomTokens: number): number => NEWEST_ROUND_SHARE * roomTokens

/** How many tokens of the first or the latest user message have to be in the view, where it is not the newest. */
export const taskShare = (task: RawMessage, roomTokens: number, sizeOf: SizeOf): number =>
  Math.max(0, Math.min(sizeOf(task), TASK_SHARE * roomTokens))

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

const ACTIONS = 10
const OBSERVATIONS = 3

/** So much of a long result can be worked with, though it is less than half. */
const READABLE_TOKENS = 1000

function isNewestThere(input: WorkableInput, standingAt: ReadonlyMap<number, Standing>): boolean {
  const { client, received, standings, sizeOf, roomTokens } = input
  const newest = client.at(-1)
  if (newest === undefined) return true
  // A user's may have been joined with what stands before it.
  const standing = standingAt.get(client.length - 1) ?? standings.most(newest, received.slice(-1))
  return hasShare(standing, newestShare(client, roomTokens, sizeOf))
}

/** The indexes of the newest messages of these roles. */
const newestOf = (
  client: readonly RawMessage[],
  count: number,
  roles: readonly unknown[],
): readonly number[] =>
  client.flatMap(({ message }, index) => (roles.includes(message['role']) ? [index] : [])).slice(-count)

function isReadable(standing: Standing | undefined): boolean {
  if (standing === undefined) return false
  const { isWhole, textTokens, textTokensHeld } = standing
  return isWhole || textTokensHeld >= Math.min(textTokens / 2, READABLE_TOKENS)
}

const NEWEST_USER_SHARE = 3 / 4
const NEWEST_ROUND_SHARE = 1 / 2
const TASK_SHARE = 1 / 4

const SLACK_TOKENS = 16
const SLACK_RATIO = 0.1
/** Below it a message may have to stand as a mark, where system messages leave no room. */
const SMALL_TOKENS = 64
/** What a mark may have in common with any text by chance is less. */
const MORE_THAN_MARK_TOKENS = 8
