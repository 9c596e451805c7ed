import type { RawMessage } from '../replay/recordings.ts'
import { hasShare, newestShare, systemCountOf, taskShare } from './shares.ts'
import type { Standing, Standings } from './standing.ts'
import type { Tally } from './tally.ts'

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
    actionsHeld: actions.filter((index) => isOwnMessage(standingAt.get(index))).length,
    observations: observations.length,
    observationsHeld: observations.filter((index) => isReadable(standingAt.get(index))).length,
  }
}

/** Of a request for which no room is left, all that can be asked for. */
export function newestFigure(input: WorkableInput): Pick<Tally, 'newestAbsent'> {
  return { newestAbsent: isNewestThere(input, input.standings.of(input.client, input.received)) ? 0 : 1 }
}

/** The share of the room that the newest messages take which were received byte for byte, one next to the other. */
export function recentShare({ client, received, sizeOf, roomTokens }: WorkableInput): number {
  const history = client.slice(systemCountOf(client))
  const changed = history.findLastIndex(
    ({ text }, index) => text !== received[received.length - history.length + index]?.text,
  )
  return history.slice(changed + 1).reduce((sum, message) => sum + sizeOf(message), 0) / roomTokens
}

// --- internal ---

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
function newestOf(
  client: readonly RawMessage[],
  count: number,
  roles: readonly unknown[],
): readonly number[] {
  return client
    .flatMap(({ message }, index) => (roles.includes(message['role']) ? [index] : []))
    .slice(-count)
}

function isOwnMessage(standing: Standing | undefined): boolean {
  return standing !== undefined
}

function isReadable(standing: Standing | undefined): boolean {
  if (standing === undefined) return false
  const { isWhole, textTokens, textTokensHeld } = standing
  return isWhole || textTokensHeld >= Math.min(textTokens / 2, READABLE_TOKENS)
}
