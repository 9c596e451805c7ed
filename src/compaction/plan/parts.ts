import type { Ledger } from '../ledger.ts'
import type { Pins } from './pins.ts'
import { SHARE, type PartSizes } from './shares.ts'
import type { Subject } from '../subject.ts'

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

export type RecentOptions = {
  readonly point: number
  readonly parts: Parts
  /** How many of the newest messages are meant to stay, in messages. */
  readonly keepRecent: number
  /** How much of them those may take, in tokens. */
  readonly keptTokensMax: number
  /** How much of the newest messages stays as it was anyway, and how much where a whole unit exceeds that, in tokens. */
  readonly tokensMin: number
  readonly tokensMax: number
}

export type Recent = {
  /** Where they begin. */
  readonly from: number
  /** What they take beside pinned ones, in tokens. */
  readonly tokens: number
  /** Where they do not come to their share, because the unit before them is too large to stay whole: where that begins. */
  readonly cutFrom: number | null
}

/**
 * The newest messages that a compaction leaves as they were: the newest round, and before it whole units, for at least
 * their share and for as many messages as the profile keeps, as far as there is room.
 */
export function recentMessages(subject: Subject, ledger: Ledger, pins: Pins, options: RecentOptions): Recent {
  const { structure } = subject
  const { point, parts } = options
  let start = parts.newestFrom
  let tokens = parts.sizes.newestRound + parts.sizes.newestUser
  while (start > structure.systemCount) {
    const isKept = point - start < options.keepRecent
    if (tokens >= options.tokensMin && !isKept) break
    const unit = Math.max(structure.systemCount, structure.unitStart(start - 1))
    let unitTokens = ledger.originalTokens(unit, start)
    for (const index of new Set([pins.task, pins.latestUser]))
      if (index >= unit && index < start) unitTokens -= subject.sizes[index] ?? 0
    const tokensMax = isKept ? Math.max(options.keptTokensMax, options.tokensMax) : options.tokensMax
    if (tokens + unitTokens > tokensMax) {
      return { from: start, tokens, cutFrom: tokens < options.tokensMin ? unit : null }
    }
    tokens += unitTokens
    start = unit
  }
  return { from: start, tokens, cutFrom: null }
}

// --- internal ---

/** The newest message that is no system message; -1 where there is none. */
function newestSpoken(subject: Subject, point: number): number {
  for (let index = point - 1; index >= subject.structure.systemCount; index -= 1) {
    if (!isSystem(subject, index)) return index
  }
  return -1
}

function isSystem(subject: Subject, index: number): boolean {
  const role = subject.messages[index]?.facts.role
  return role === 'system' || role === 'developer'
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
