import { countBelow } from '../../conversation/structure.ts'
import type { Pausable } from '../../json/source.ts'
import { type Edits, editsOf } from '../edits.ts'
import { supersededIn } from '../history/calls/deeds.ts'
import { mayBeCleared, newestResultsFrom } from '../passes/clear.ts'
import { textPasses } from '../passes/passes.ts'
import { type Draft, type Frame, runs, thresholdOf } from './frame.ts'

/**
 * The passes that edit single messages, in the order in which they cost the next step least for what they free, until the aim
 * is met: what says as much in fewer words (what terminals would not show), results that a later one supersedes, what says less
 * (the middle of very large ones), then old and large results. What the agent said and called stays, and so do the newest `keptResults` results.
 */
export function* editedByWorth(
  frame: Frame,
  begun: Draft,
  aimTokens: number,
  keptResults: number,
): Pausable<Draft> {
  const keptFrom = newestKept(frame, keptResults)
  const clearedUpTo = Math.min(begun.protectedFrom, keptFrom)
  let draft = begun
  for (const pass of textPasses)
    if (!pass.losesText) draft = yield* editedUpTo(frame, draft, pass, aimTokens, begun.protectedFrom)
  draft = yield* cleared(frame, draft, aimTokens, 'superseded', clearedUpTo)
  yield
  for (const pass of textPasses)
    if (pass.losesText) draft = yield* editedUpTo(frame, draft, pass, aimTokens, clearedUpTo)
  return yield* cleared(frame, draft, aimTokens, 'any', clearedUpTo)
}

/**
 * Edits that are enough although they do not reach the aim: half of the way down is, and nothing has to be folded. The results
 * that are kept by their number go for it, the oldest first. What was read last stays whole if the view only fits, unless it was
 * compacted just before: then another round has to fit, too. Null where no edits are enough.
 */
export function* editedEnough(
  frame: Frame,
  edited: Draft,
  aimTokens: number,
  halfWayTokens: number,
): Pausable<Draft | null> {
  const { counts, options, triggerTokens, nextRoundTokens, aheadTokens, worthTokens, growthTokens } = frame
  const roomyTokens = Math.min(halfWayTokens, triggerTokens - (nextRoundTokens ?? 0))
  const fittingTokens = isSoonAfter(frame) ? roomyTokens : triggerTokens
  // How many results the profile keeps by their number, of those that there are.
  const results = counts.history.messages.slice(0, options.point).filter(({ facts }) => facts.role === 'tool')
  const keptMost = Math.min(counts.profile.clear.keep_results, results.length)
  let draft = edited
  for (let kept = keptMost; kept >= 0; kept -= 1) {
    // Mostly they stand among the newest messages, which no pass reaches.
    if (kept < keptMost && newestKept(frame, kept + 1) < edited.protectedFrom)
      draft = yield* editedByWorth(frame, edited, aimTokens, kept)
    const enoughTokens = Math.min(kept === 0 ? halfWayTokens : fittingTokens, worthTokens + growthTokens)
    if (draft.tokens <= enoughTokens - aheadTokens) return draft
  }
  return null
}

/** The results back that this compaction has cleared and for which there is room after all, those first that are worth most. */
export function* putBack(frame: Frame, begun: Draft, aimTokens: number): Pausable<Draft> {
  const { counts, before } = frame
  const goalTokens = goalOf(frame, counts.profile.clear.at, aimTokens)
  const earlier = new Set<number>(before.cleared)
  const gone = new Set(begun.cleared)
  const edits = { ...editsOf(begun), cleared: gone }
  let { tokens } = begun
  for (const index of begun.cleared.toReversed()) {
    if (earlier.has(index) || index < edits.frontier) continue
    const more = yield* tokensMore(frame, edits, index, () => gone.delete(index))
    if (tokens + more <= goalTokens) tokens += more
    else gone.add(index)
  }
  return { ...begun, cleared: [...gone], tokens }
}

// --- internal ---

/** Where the results begin that are kept by their number; the smallest form keeps none. */
function newestKept({ counts, options }: Frame, keptResults: number): number {
  return newestResultsFrom(counts.history.messages, options.point, options.smallest ? 0 : keptResults)
}

/** So few rounds after a compaction another one has to go further, or each request would be one. */
const SOON_ROUNDS = 8

function isSoonAfter({ counts, options, before }: Frame): boolean {
  const { requestPoints: points } = counts.history.structure
  const roundsApart = countBelow(points, options.point) - countBelow(points, before.point)
  return before.point > 0 && roundsApart < SOON_ROUNDS
}

/** Where a pass aims at: one that begins below the target has nothing to aim at but its whole reach. */
function goalOf(frame: Frame, at: number | null, aimTokens: number): number {
  return at !== null && thresholdOf(frame, at) <= frame.targetTokens ? 0 : aimTokens
}

function startOf({ counts }: Frame, { fold }: Draft): number {
  return fold?.frontier ?? counts.history.structure.systemCount
}

/** A pass over the oldest messages first, as far as it has to reach and no further than `end`. */
function* editedUpTo(
  frame: Frame,
  begun: Draft,
  { name, treats }: (typeof textPasses)[number],
  aimTokens: number,
  end: number,
): Pausable<Draft> {
  const { profile } = frame.counts
  const { at } = profile[name]
  if (!treats(profile, Infinity) || !runs(frame, at)) return begun
  const goalTokens = goalOf(frame, at, aimTokens)
  const reach = { ...begun.reach }
  const edits = { ...editsOf(begun), reach }
  const start = Math.max(startOf(frame, begun), reach[name] ?? 0)
  let { tokens } = begun
  for (let index = start; index < end && tokens > goalTokens; index += 1)
    tokens += yield* tokensMore(frame, edits, index, () => (reach[name] = index + 1))
  return { ...begun, reach, tokens }
}

/** Results before `end` cleared, those first that are missed least. */
function* cleared(
  frame: Frame,
  begun: Draft,
  aimTokens: number,
  which: 'superseded' | 'any',
  end: number,
): Pausable<Draft> {
  const { clear } = frame.counts.profile
  if (!clear.enabled || !runs(frame, clear.at)) return begun
  const goalTokens = goalOf(frame, clear.at, aimTokens)
  if (begun.tokens <= goalTokens) return begun
  const gone = new Set(begun.cleared)
  const edits = { ...editsOf(begun), cleared: gone }
  let { tokens } = begun
  for (const result of yield* clearableResults(frame, edits, startOf(frame, begun), end)) {
    if (which === 'superseded' && !result.isSuperseded) continue
    if (tokens <= goalTokens) break
    tokens += yield* tokensMore(frame, edits, result.index, () => gone.add(result.index))
  }
  return { ...begun, cleared: [...gone], tokens }
}

/** Smaller results are hardly larger than the line that stands in their place. */
const CLEARED_TOKENS_MIN = 64

/** So many replies later a result counts for half as much again. */
const AGE_REPLIES = 10

/** How much sooner a result goes of whose file a later one tells. */
const FOLLOWED_WEIGHT = 4

/**
 * The results from `start` up to `end` that may be cleared, those first that a next step misses least: large and old ones, those
 * sooner whose file a later one tells of. `isSuperseded`: a later one says otherwise, or the same again.
 */
function* clearableResults({ counts, options: { point } }: Frame, edits: Edits, start: number, end: number) {
  const { history, profile, editedTokens } = counts
  const { isStale, isRepeated, isFollowed, latestEqual } = yield* supersededIn(history)
  const found = []
  const ages = new Map<number, number>()
  let age = 0
  for (let index = point - 1; index >= start; index -= 1) {
    const facts = history.messages[index]?.facts
    if (facts?.opensReply === true) age += 1
    if (facts?.role !== 'tool') continue
    ages.set(index, age)
    if (index >= end || edits.cleared.has(index)) continue
    if (!mayBeCleared(history, profile.clear.except_tools, index)) continue
    const tokens = yield* editedTokens(index, index + 1, edits)
    if (tokens < CLEARED_TOKENS_MIN) continue
    const isSuperseded = isStale(index, point) || isRepeated(index, point)
    // Of equal results the earliest stays, and is as young as the latest of them.
    const latest = latestEqual(index, point)
    const weight = latest === index && isFollowed(index, point) ? FOLLOWED_WEIGHT : 1
    const replies = ages.get(latest) ?? age
    found.push({ index, isSuperseded, worthlessness: tokens * (1 + replies / AGE_REPLIES) * weight })
  }
  return found.sort((one, other) => other.worthlessness - one.worthlessness)
}

/** How much more a view takes after a change to one message; what refers to it is sent with its text once it is gone. */
function* tokensMore(
  { counts, options }: Frame,
  edits: Edits,
  index: number,
  change: () => unknown,
): Pausable<number> {
  const own = (): Pausable<number> => counts.editedTokens(index, index + 1, edits)
  const following = (): Pausable<number> => counts.followingTokens(index, options.point, edits)
  const before = (yield* own()) + (yield* following())
  change()
  return (yield* own()) + (yield* following()) - before
}
