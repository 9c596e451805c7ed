import type { Steps } from '../../conversation/source.ts'
import { templateFits } from './frontier.ts'
import { heldTurns, requestAndReply, type HeldTurn } from './held-turns.ts'
import { bringsDown, isOverLimit, lengthOf, type Folded, type Length } from './limit.ts'
import type { Pins } from './pins.ts'
import type { Policy } from '../policy.ts'
import type { Fold } from '../compaction.ts'
import type { Subject } from '../subject.ts'

/** Where a fold by turns ends, and what it keeps of those that it takes. */
export type TurnsFold = Pick<Fold, 'frontier' | 'kept'>

export type TurnsChoice = {
  /** The compaction so far. */
  readonly before: Folded
  readonly pins: Pins
  readonly point: number
  readonly protectedFrom: number
  readonly strict: boolean
}

/**
 * The fold of a profile with a limit: the older half of the turns goes, again and again until the view is
 * short and small enough. Turns go whole. Once fewer than five are left, the older ones first come down to
 * their requests and replies. Where the newest turns hold too many messages by themselves, the older half of
 * their rounds goes. What is enough first is taken, else the furthest; null where nothing can be folded.
 */
export function* foldTurns(
  subject: Subject,
  policy: Policy,
  choice: TurnsChoice,
  isSmallEnough: (fold: TurnsFold) => Steps<boolean>,
): Steps<TurnsFold | null> {
  let furthest: TurnsFold | null = null
  for (const fold of turnsFolds(subject, choice)) {
    const isShort = !isOverLimit(policy, lengthWith(subject, choice, fold))
    if (isShort && (yield* isSmallEnough(fold))) return fold
    furthest = fold
  }
  return foldRounds(subject, policy, choice, furthest) ?? furthest
}

/** The same where only the length of the view asks for it; null too where it would bring too little for a compaction. */
export function* foldOverLimit(
  subject: Subject,
  policy: Policy,
  choice: TurnsChoice,
): Steps<TurnsFold | null> {
  const length = lengthOf(subject.structure, choice.before, choice.point)
  const isWorth = (fold: TurnsFold): boolean => bringsDown(policy, length, lengthWith(subject, choice, fold))
  // Asked at every request of a conversation that stays over its limit: no turn is looked at in vain.
  if (!isWorth({ frontier: furthestCut(choice), kept: [] })) return null
  const fold = yield* foldTurns(subject, policy, choice, always)
  return fold !== null && isWorth(fold) ? fold : null
}

// --- internal ---

function* always(): Steps<boolean> {
  yield
  return true
}

/** No cut lies behind the beginning of the protected tail, but that of an earlier compaction may. */
function furthestCut({ before, protectedFrom }: TurnsChoice): number {
  return Math.max(protectedFrom, before.fold?.frontier ?? 0)
}

function lengthWith(subject: Subject, { before, pins, point }: TurnsChoice, fold: TurnsFold | null): Length {
  return lengthOf(subject.structure, { ...pins, fold: fold ?? before.fold }, point)
}

/** With fewer turns than this their requests and replies are worth more than any of them whole. */
const TURNS_FEW = 5

function* turnsFolds(subject: Subject, choice: TurnsChoice): Generator<TurnsFold> {
  const { before, pins, point } = choice
  const turns = heldTurns(subject, before, point)
  const last = turns.findLastIndex(({ start }) => start <= furthestCut(choice))
  const isPinned = (index: number): boolean => index === pins.task || index === pins.latestUser
  const keptOf = (some: readonly HeldTurn[], of: (turn: HeldTurn) => readonly number[]): number[] =>
    some.flatMap(of).filter((index) => !isPinned(index))

  for (let first = 0; ;) {
    const older = turns.slice(first, last)
    const start = turns[first]?.start
    if (first > 0 && start !== undefined)
      yield { frontier: start, kept: keptOf(older, ({ kept }) => kept ?? []) }
    const frontier = turns[last]?.start
    const isFew = turns.length - first < TURNS_FEW
    if (isFew && frontier !== undefined && older.some(({ kept }) => kept === null)) {
      yield { frontier, kept: keptOf(older, (turn) => requestAndReply(subject, before, turn)) }
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
function foldRounds(
  subject: Subject,
  { limit }: Policy,
  choice: TurnsChoice,
  furthest: TurnsFold | null,
): TurnsFold | null {
  const { structure } = subject
  const { before, point, protectedFrom, strict } = choice
  const isTooLong = (fold: TurnsFold | null): boolean =>
    lengthWith(subject, choice, fold).messages > limit.messages
  if (limit.messages === 0 || !isTooLong(furthest)) return null
  const begin = furthest?.frontier ?? before.fold?.frontier ?? structure.systemCount
  const fits = strict && begin < protectedFrom ? templateFits(subject, point) : []
  const cuts: number[] = []
  for (let index = begin + 1; index <= protectedFrom; index += 1) {
    if (structure.isFrontier(index) && fits[index] !== 'badly') cuts.push(index)
  }
  let fold: TurnsFold | null = null
  for (let from = begin; ;) {
    const half = from + Math.ceil((point - from) / 2)
    const cut = cuts.find((index) => index >= half) ?? cuts.at(-1)
    if (cut === undefined || cut <= from) return fold
    fold = { frontier: cut, kept: [] }
    if (!isTooLong(fold)) return fold
    from = cut
  }
}
