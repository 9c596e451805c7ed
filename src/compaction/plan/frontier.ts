import type { Pausable } from '../../json/source.ts'
import type { StandingSummary } from '../compaction.ts'
import { editsOf } from '../edits.ts'
import { isSaidByUser, isTalk, type History } from '../history/history.ts'
import { layoutOf, partTokens } from '../layout.ts'
import type { Draft, Frame } from './frame.ts'
import { foldAt, restatedMost } from './fold.ts'

/**
 * The first frontier at which the view comes down to the aim, else the last one before the protected tail. Under strict
 * placement those that a template takes go first.
 */
export function* chooseFrontier(
  frame: Frame,
  summaries: readonly StandingSummary[],
  draft: Draft,
  aimTokens: number,
): Pausable<number | null> {
  const { counts, options } = frame
  const { history, editedTokens, followingTokens } = counts
  const { structure } = history
  const { point, room, strict } = options
  let edits = editsOf(draft)
  const fits = strict ? templateFits(history, point) : []
  const firstToReach: Partial<Record<Fit, number>> = {}
  const last: Partial<Record<Fit, number>> = {}
  const after = draft.fold?.frontier ?? structure.systemCount
  let tailTokens = yield* editedTokens(after, point, edits)
  const apart = 1 + Math.floor(restatedMost(history, point) / RESTATED_PER_FRONTIER)
  let looked = 0
  for (let index = after + 1; index <= draft.protectedFrom; index += 1) {
    // What refers to a message that is folded is sent with its text.
    const further = { ...edits, frontier: index }
    tailTokens -= yield* editedTokens(index - 1, index, edits)
    tailTokens -= yield* followingTokens(index - 1, point, edits)
    tailTokens += yield* followingTokens(index - 1, point, further)
    edits = further
    if (!structure.isFrontier(index)) continue
    // No cut takes what the user asked and leaves the answer.
    if (!strict && isTalk(history, index) && isSaidByUser(history, index - 1)) continue
    looked += 1
    if (looked % apart !== 0) continue
    if (apart > 1) yield
    const layout = layoutOf({ ...draft, fold: foldAt(frame, summaries, index) }, structure.systemCount)
    if (layout.before === null && layout.after === null) continue
    // Behind a result that is said again, a user's message can be joined with none before.
    const isApart = history.messages[layout.restated.at(-1) ?? NONE]?.facts.role === 'tool'
    const fit = isApart && fits[index] === 'joined' ? 'badly' : (fits[index] ?? 'well')
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

/** How each cut is taken. Tool rounds take no turn, so what counts is who speaks first behind them. */
export function templateFits(history: History, point: number): Fit[] {
  // As long as it will be: filled from its end, it would grow into something much slower.
  const fits = Array.from<Fit>({ length: point })
  let speaksFirst: 'user' | 'assistant' | null = null
  for (let index = point - 1; index >= 0; index -= 1) {
    const facts = history.messages[index]?.facts
    // What a user says along with results takes no turn either.
    if (facts?.role === 'user' && facts.joinsPrevious !== true) speaksFirst = 'user'
    else if (isTalk(history, index)) speaksFirst = 'assistant'
    if (facts?.role === 'user') fits[index] = 'joined'
    else fits[index] = facts?.role === 'assistant' && speaksFirst !== 'user' ? 'well' : 'badly'
  }
  return fits
}
