import type { Ledger } from '../ledger.ts'
import { isSystem, type Subject } from '../subject.ts'
import type { Pins } from './pins.ts'
import { SHARE, type PartSizes } from './shares.ts'

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

/** The parts of the conversation up to a request point. */
export function partsAt(
  subject: Subject,
  ledger: Ledger,
  pins: Pins,
  { point, roomTokens }: { readonly point: number; readonly roomTokens: number },
): Parts {
  const { task, latestUser } = pins
  const sizeOf = (index: number): number => (index === -1 ? 0 : (subject.sizes[index] ?? 0))
  const newestUser = newestSpoken(subject, point) === latestUser ? latestUser : -1
  const newestFrom = newestRoundFrom(subject, ledger, point, roomTokens * SHARE.newestRound)
  const within = new Set([task, latestUser].filter((index) => index >= newestFrom))
  let systemTokens = 0
  for (let index = newestFrom; index < point; index += 1)
    if (isSystem(subject, index)) systemTokens += sizeOf(index)
  let newestRound = ledger.originalTokens(newestFrom, point) - systemTokens
  for (const index of within) newestRound -= sizeOf(index)
  return {
    newestFrom,
    newestUser,
    systemTokens,
    sizes: {
      newestRound,
      newestUser: sizeOf(newestUser),
      task: task === newestUser ? 0 : sizeOf(task),
      latestUser: latestUser === newestUser || latestUser === task ? 0 : sizeOf(latestUser),
    },
  }
}

// --- internal ---

/** The newest message that is no system message; -1 where there is none. */
function newestSpoken(subject: Subject, point: number): number {
  for (let index = point - 1; index >= subject.structure.systemCount; index -= 1) {
    if (!isSystem(subject, index)) return index
  }
  return -1
}

/** More messages than this in one round are no round that a model has to see as one. */
const ROUND_UNITS_MAX = 8

/**
 * Where the newest round begins. A run of many user messages behind one word of the assistant is shortened at its
 * beginning: cut down to its share, none of its messages could be read.
 */
function newestRoundFrom(subject: Subject, ledger: Ledger, point: number, tokensMax: number): number {
  const { structure } = subject
  const from = Math.max(structure.systemCount, structure.newestRoundStart(point))
  if (ledger.originalTokens(from, point) <= tokensMax) return from
  const cuts: number[] = []
  for (let index = from + 1; index <= structure.lastUnitStart(point); index += 1)
    if (structure.isFrontier(index)) cuts.push(index)
  if (cuts.length < ROUND_UNITS_MAX) return from
  return cuts.find((cut) => ledger.originalTokens(cut, point) <= tokensMax) ?? cuts.at(-1) ?? from
}
