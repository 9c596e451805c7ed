import { countBelow } from '../../conversation/structure.ts'
import { parseEntry } from '../../formats/entry-facts.ts'
import type { Pausable } from '../../json/source.ts'
import type { Fold } from '../compaction.ts'
import { isTalk, replyAt, type History } from '../history/history.ts'
import type { Frame } from './frame.ts'
import { templateFits } from './fold.ts'
import { bringsDown, type Folded, isOverLimit, type Length, lengthOf } from './view-length.ts'
import { isPinned } from './pins.ts'

/** Where a fold by turns ends, and what it keeps of those that it takes. */
export type TurnsFold = Pick<Fold, 'frontier' | 'kept'>

/**
 * The fold of a profile with a limit: the older half of the turns goes, again and again until the view is
 * short and small enough. Turns go whole. Once fewer than five are left, the older ones first come down to
 * their requests and replies. Where the newest turns hold too many messages by themselves, the older half of
 * their rounds goes. What is short and small enough first is taken, else the furthest; null where nothing can be folded.
 */
export function* foldTurns(
  frame: Frame,
  isSmallEnough: ((fold: TurnsFold) => Pausable<boolean>) | null,
): Pausable<TurnsFold | null> {
  let furthest: TurnsFold | null = null
  for (const fold of turnsFolds(frame)) {
    const isShort = !isOverLimit(frame.counts.profile, lengthWith(frame, fold))
    if (isShort && (isSmallEnough === null || (yield* isSmallEnough(fold)))) return fold
    furthest = fold
  }
  return foldRounds(frame, furthest) ?? furthest
}

/** The same where only the length of the view asks for it; null too where it would bring too little for a compaction. */
export function* foldOverLimit(frame: Frame): Pausable<TurnsFold | null> {
  const { counts, options, before } = frame
  const length = lengthOf(counts.history.structure, before, options.point)
  const isWorth = (fold: TurnsFold): boolean => bringsDown(counts.profile, length, lengthWith(frame, fold))
  // Asked at every request of a conversation that stays over its limit: no turn is looked at in vain.
  if (!isWorth({ frontier: furthestCut(frame), kept: [] })) return null
  const fold = yield* foldTurns(frame, null)
  return fold !== null && isWorth(fold) ? fold : null
}

// --- internal ---

/** With fewer turns than this their requests and replies are worth more than any of them whole. */
const TURNS_FEW = 5

/** A turn that a view holds: whole, what is left of it, or brought down to its request and reply. */
type HeldTurn = {
  /** Where a frontier stands that folds all turns before this one. */
  readonly start: number
  readonly end: number
  /** What stays of it before the frontier; null where it stands in the tail as it is. */
  readonly kept: readonly number[] | null
}

/** No cut lies behind the beginning of the protected tail, but that of an earlier compaction may. */
function furthestCut({ before, recentFrom }: Frame): number {
  return Math.max(recentFrom, before.fold?.frontier ?? 0)
}

function lengthWith({ counts, options, before, pins }: Frame, fold: TurnsFold | null): Length {
  return lengthOf(counts.history.structure, { ...pins, fold: fold ?? before.fold }, options.point)
}

/** The folds that take ever more turns. */
function* turnsFolds(frame: Frame): Generator<TurnsFold> {
  const { counts, options, before, pins } = frame
  const turns = heldTurns(counts.history, before, options.point)
  const last = turns.findLastIndex(({ start }) => start <= furthestCut(frame))
  const keptOf = (some: readonly HeldTurn[], of: (turn: HeldTurn) => readonly number[]): number[] =>
    some.flatMap(of).filter((index) => !isPinned(pins, index))

  for (let first = 0; ;) {
    const older = turns.slice(first, last)
    const start = turns[first]?.start
    if (first > 0 && start !== undefined)
      yield { frontier: start, kept: keptOf(older, ({ kept }) => kept ?? []) }
    const frontier = turns[last]?.start
    const isFew = turns.length - first < TURNS_FEW
    if (isFew && frontier !== undefined && older.some(({ kept }) => kept === null)) {
      yield { frontier, kept: keptOf(older, (turn) => requestAndReply(counts.history, before, turn)) }
    }
    const next = Math.min(first + Math.floor((turns.length - first) / 2), last)
    if (next <= first) return
    first = next
  }
}

/**
 * The older half of the messages behind the frontier, at a cut between rounds, again and again until there are no
 * more than the limit allows.
 */
function foldRounds(frame: Frame, furthest: TurnsFold | null): TurnsFold | null {
  const { counts, options, before, recentFrom } = frame
  const { structure } = counts.history
  const { messages } = counts.profile.limit
  const isTooLong = (fold: TurnsFold | null): boolean => lengthWith(frame, fold).messages > messages
  if (messages === 0 || !isTooLong(furthest)) return null
  const begin = furthest?.frontier ?? before.fold?.frontier ?? structure.systemCount
  const fits = options.strict && begin < recentFrom ? templateFits(counts.history, options.point) : []
  const cuts: number[] = []
  for (let index = begin + 1; index <= recentFrom; index += 1) {
    if (structure.isFrontier(index) && fits[index] !== 'badly') cuts.push(index)
  }
  let fold: TurnsFold | null = null
  for (let from = begin; ;) {
    const half = from + Math.ceil((options.point - from) / 2)
    const cut = cuts.find((index) => index >= half) ?? cuts.at(-1)
    if (cut === undefined || cut <= from) return fold
    fold = { frontier: cut, kept: [] }
    if (!isTooLong(fold)) return fold
    from = cut
  }
}

/**
 * The turns that the view of a compaction holds at a point, oldest first. Where one cannot be told from the one
 * before it by a cut, because a tool round reaches over its beginning, both are one.
 */
function heldTurns(history: History, { fold }: Folded, point: number): HeldTurn[] {
  const { turns, systemCount, isFrontier } = history.structure
  const frontier = fold?.frontier ?? systemCount
  const byTurn = Map.groupBy(fold?.kept ?? [], (index) => countBelow(turns, index + 1))
  const reduced = [...byTurn.values()].map((kept) => ({ start: frontier, end: frontier, kept }))
  // What lies before the first turn goes with it.
  const first = countBelow(turns, frontier) === 0 ? (turns[0] ?? frontier) : frontier
  const starts = turns.slice(countBelow(turns, first + 1), countBelow(turns, point)).filter(isFrontier)
  if (frontier < point) starts.unshift(frontier)
  return [
    ...reduced,
    ...starts.map((start, position) => ({ start, end: starts[position + 1] ?? point, kept: null })),
  ]
}

/**
 * A turn brought down: its request, and its last reply with text and without calls. A request that was folded before does
 * not come back.
 */
function requestAndReply(
  history: History,
  { latestUser }: Folded,
  { start, end, kept }: HeldTurn,
): readonly number[] {
  if (kept !== null) return kept
  const { dialect, structure, messages, source } = history
  const { turns } = structure
  const begun = turns[countBelow(turns, start + 1) - 1]
  const next = turns[countBelow(turns, start)]
  const request = begun === start || begun === latestUser ? begun : next
  const pair = request !== undefined && (request === begun || request < end) ? [request] : []
  for (let index = end - 1; index >= start; index -= 1) {
    const message = messages[index]
    if (message === undefined || !isTalk(history, index)) continue
    if (parseEntry(dialect, source, message).text.trim() === '') continue
    const reply = replyAt(history, index)
    for (let part = reply.start; part < reply.end; part += 1) pair.push(part)
    return pair
  }
  return pair
}
