import type { Steps } from '../../json/source.ts'
import { type Layout, layoutOf, partTokens } from '../layout.ts'
import { isSaidByUser, isTalk, replyAt, type Subject } from '../history/subject.ts'
import { editsOf } from '../edits.ts'
import type { Draft } from './draft.ts'
import { foldAt, type FoldPlan, restatedMost } from './fold-at.ts'
import { countBelow } from '../../conversation/count-below.ts'
import { parseEntry } from '../../formats/entry-facts.ts'
import type { Fold } from '../compaction.ts'
import { type Frame, isPinned } from './frame.ts'
import { bringsDown, type Folded, isOverLimit, type Length, lengthOf } from './limit.ts'

/**
 * The first frontier at which the view comes down to the aim, else the last one before the protected tail. Under strict
 * placement those that a template takes go first.
 */
export function* chooseFrontier(plan: FoldPlan, draft: Draft, aimTokens: number): Steps<number | null> {
  const { counts, options, pins } = plan.frame
  const { subject, editedTokens, followingTokens } = counts
  const { structure } = subject
  const { point, room, strict } = options
  let edits = editsOf(draft)
  const fits = strict ? templateFits(subject, point) : []
  const firstToReach: Partial<Record<Fit, number>> = {}
  const last: Partial<Record<Fit, number>> = {}
  const after = draft.fold?.frontier ?? structure.systemCount
  let tailTokens = yield* editedTokens(after, point, edits)
  const apart = 1 + Math.floor(restatedMost(subject, point) / RESTATED_PER_FRONTIER)
  let looked = 0
  for (let index = after + 1; index <= draft.protectedFrom; index += 1) {
    // What refers to a message that is folded is sent with its text.
    const further = { ...edits, frontier: index }
    tailTokens -= yield* editedTokens(index - 1, index, edits)
    tailTokens += yield* followingTokens(index - 1, point, edits, further)
    edits = further
    if (!structure.isFrontier(index) || (!strict && partsAnswer(subject, index))) continue
    looked += 1
    if (looked % apart !== 0) continue
    if (apart > 1) yield
    const layout = layoutOf({ ...pins, fold: foldAt(plan, index) }, structure.systemCount)
    if (layout.before === null && layout.after === null) continue
    const isApart = fits[index] === 'joined' && endsInResult(subject, layout)
    const fit = isApart ? 'badly' : (fits[index] ?? 'well')
    let tokens = partTokens(layout.before) + partTokens(layout.after) + tailTokens
    for (const pinned of layout.pinned) tokens += yield* editedTokens(pinned, pinned + 1, edits)
    last[fit] = index
    if (tokens > aimTokens - room.aroundTokens) continue
    if (fit === 'well') return index
    firstToReach[fit] ??= index
  }
  // One message more in the tail is a small price for a cut that joins nothing.
  const joined = firstToReach.joined ?? last.joined ?? NONE
  const taken = last.well !== undefined && last.well >= joined - 1 ? last.well : joined
  if (taken !== NONE) return taken
  // A view that the template refuses helps nobody: rather than that, newest messages are folded too, but for the open round.
  const openFrom = last.badly === undefined ? NONE : structure.lastUnitStart(point)
  for (let index = draft.protectedFrom + 1; index <= openFrom; index += 1) {
    if (structure.isFrontier(index) && fits[index] !== 'badly') return index
  }
  return firstToReach.badly ?? last.badly ?? null
}

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
  isSmallEnough: ((fold: TurnsFold) => Steps<boolean>) | null,
): Steps<TurnsFold | null> {
  let furthest: TurnsFold | null = null
  for (const fold of turnsFolds(frame)) {
    const isShort = !isOverLimit(frame.counts.policy, lengthWith(frame, fold))
    if (isShort && (isSmallEnough === null || (yield* isSmallEnough(fold)))) return fold
    furthest = fold
  }
  return foldRounds(frame, furthest) ?? furthest
}

/** The same where only the length of the view asks for it; null too where it would bring too little for a compaction. */
export function* foldOverLimit(frame: Frame): Steps<TurnsFold | null> {
  const { counts, options, before } = frame
  const length = lengthOf(counts.subject.structure, before, options.point)
  const isWorth = (fold: TurnsFold): boolean => bringsDown(counts.policy, length, lengthWith(frame, fold))
  // Asked at every request of a conversation that stays over its limit: no turn is looked at in vain.
  if (!isWorth({ frontier: furthestCut(frame), kept: [] })) return null
  const fold = yield* foldTurns(frame, null)
  return fold !== null && isWorth(fold) ? fold : null
}

// --- internal ---

/**
 * How a strict template takes a cut. `well`: before an assistant message, and the roles alternate from there
 * on; `joined`: before a user message, which then becomes one with what stands before it; `badly`: not at all.
 */
type Fit = 'well' | 'joined' | 'badly'

const NONE = -1

/**
 * If more messages than this hold for all that follows, not every frontier is looked at: each takes as long as there are such
 * messages before it, and a conversation may have tens of thousands of both.
 */
const RESTATED_PER_FRONTIER = 256

/** Whether a cut takes what the user asked and leaves the answer. */
function partsAnswer(subject: Subject, index: number): boolean {
  return isTalk(subject, index) && isSaidByUser(subject, index - 1)
}

/** Whether a result that is said again stands before the tail: a user's message behind it can be joined with none before. */
function endsInResult({ messages }: Subject, { restated }: Layout): boolean {
  return messages[restated.at(-1) ?? NONE]?.facts.role === 'tool'
}

/** How each cut is taken. Tool rounds take no turn, so what counts is who speaks first behind them. */
export function templateFits(subject: Subject, point: number): Fit[] {
  // As long as it will be: filled from its end, it would grow into something much slower.
  const fits = Array.from<Fit>({ length: point })
  let speaksFirst: 'user' | 'assistant' | null = null
  for (let index = point - 1; index >= 0; index -= 1) {
    const facts = subject.messages[index]?.facts
    // What a user says along with results takes no turn either.
    if (facts?.role === 'user' && facts.joinsPrevious !== true) speaksFirst = 'user'
    else if (isTalk(subject, index)) speaksFirst = 'assistant'
    if (facts?.role === 'user') fits[index] = 'joined'
    else fits[index] = facts?.role === 'assistant' && speaksFirst !== 'user' ? 'well' : 'badly'
  }
  return fits
}

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
  return lengthOf(counts.subject.structure, { ...pins, fold: fold ?? before.fold }, options.point)
}

/** The folds that take ever more turns. */
function* turnsFolds(frame: Frame): Generator<TurnsFold> {
  const { counts, options, before, pins } = frame
  const turns = heldTurns(counts.subject, before, options.point)
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
      yield { frontier, kept: keptOf(older, (turn) => requestAndReply(counts.subject, before, turn)) }
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
  const { structure } = counts.subject
  const { messages } = counts.policy.limit
  const isTooLong = (fold: TurnsFold | null): boolean => lengthWith(frame, fold).messages > messages
  if (messages === 0 || !isTooLong(furthest)) return null
  const begin = furthest?.frontier ?? before.fold?.frontier ?? structure.systemCount
  const fits = options.strict && begin < recentFrom ? templateFits(counts.subject, options.point) : []
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
function heldTurns(subject: Subject, { fold }: Folded, point: number): HeldTurn[] {
  const { turns, systemCount, isFrontier } = subject.structure
  const frontier = fold?.frontier ?? systemCount
  const byTurn = Map.groupBy(fold?.kept ?? [], (index) => countBelow(turns, index + 1))
  const held: HeldTurn[] = [...byTurn.values()].map((kept) => ({ start: frontier, end: frontier, kept }))
  // What lies before the first turn goes with it.
  const first = countBelow(turns, frontier) === 0 ? (turns[0] ?? frontier) : frontier
  const starts = turns.slice(countBelow(turns, first + 1), countBelow(turns, point)).filter(isFrontier)
  if (frontier < point) starts.unshift(frontier)
  for (const [position, start] of starts.entries()) {
    held.push({ start, end: starts[position + 1] ?? point, kept: null })
  }
  return held
}

/**
 * A turn brought down: its request, and its last reply with text and without calls. A request that was folded before does
 * not come back.
 */
function requestAndReply(
  subject: Subject,
  { latestUser }: Folded,
  { start, end, kept }: HeldTurn,
): readonly number[] {
  if (kept !== null) return kept
  const { dialect, structure, messages, source } = subject
  const { turns } = structure
  const begun = turns[countBelow(turns, start + 1) - 1]
  const next = turns[countBelow(turns, start)]
  const request = begun === start || begun === latestUser ? begun : next
  const pair = request !== undefined && (request === begun || request < end) ? [request] : []
  for (let index = end - 1; index >= start; index -= 1) {
    const message = messages[index]
    if (message === undefined || !isTalk(subject, index)) continue
    if (parseEntry(dialect, source, message).text.trim() === '') continue
    const reply = replyAt(subject, index)
    for (let part = reply.start; part < reply.end; part += 1) pair.push(part)
    return pair
  }
  return pair
}
