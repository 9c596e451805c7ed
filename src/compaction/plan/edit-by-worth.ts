import { countBelow } from '../../conversation/count-below.ts'
import type { Steps } from '../../json/source.ts'
import { supersededIn } from '../history/calls/superseded.ts'
import { editsOf, mayBeCleared, type Edits } from '../edits.ts'
import type { Draft } from './draft.ts'
import { runs, thresholdOf, type Frame } from './frame.ts'

/**
 * The passes that edit single messages, in the order in which they cost the next step least for what they free, until the aim
 * is met: what terminals would not show, results that a later one supersedes, the middle of very large ones, then old and
 * large results. What the agent said and called stays, and so do the newest `keptResults` results.
 */
export function* editedByWorth(
  frame: Frame,
  begun: Draft,
  aimTokens: number,
  keptResults: number,
): Steps<Draft> {
  const keptFrom = keptResultsFrom(frame, keptResults)
  let draft = yield* editedUpTo(frame, begun, 'render', aimTokens, begun.protectedFrom)
  draft = yield* cleared(frame, draft, aimTokens, 'superseded', keptFrom)
  yield
  draft = yield* editedUpTo(frame, draft, 'preview', aimTokens, Math.min(begun.protectedFrom, keptFrom))
  return yield* cleared(frame, draft, aimTokens, 'any', keptFrom)
}

/**
 * Edits that are enough although they do not reach the aim: half of the way down is, and nothing has to be folded. The results
 * that are kept by their number go for it, the oldest first. What was read last stays whole if the view only fits, unless it was
 * compacted just before: then another round has to fit, too. Null where no edits are enough. `mostTokens`: what is still worth a
 * compaction.
 */
export function* editedEnough(
  frame: Frame,
  edited: Draft,
  { aimTokens, halfWayTokens, mostTokens }: Record<'aimTokens' | 'halfWayTokens' | 'mostTokens', number>,
): Steps<Draft | null> {
  const { triggerTokens, nextRoundTokens, aheadTokens } = frame
  const roomyTokens = Math.min(halfWayTokens, triggerTokens - (nextRoundTokens ?? 0))
  const fittingTokens = isSoonAfter(frame) ? roomyTokens : triggerTokens
  const keptMost = keptResultsMost(frame)
  let draft = edited
  for (let kept = keptMost; kept >= 0; kept -= 1) {
    // Mostly they stand among the newest messages, which no pass reaches.
    if (kept < keptMost && keptResultsFrom(frame, kept + 1) < edited.protectedFrom)
      draft = yield* editedByWorth(frame, edited, aimTokens, kept)
    const enoughTokens = Math.min(kept === 0 ? halfWayTokens : fittingTokens, mostTokens)
    if (draft.tokens <= enoughTokens - aheadTokens) return draft
  }
  return null
}

/** The results back that this compaction has cleared and for which there is room after all, those first that are worth most. */
export function* putBack(frame: Frame, begun: Draft, aimTokens: number): Steps<Draft> {
  const { counts, before } = frame
  const goalTokens = goalOf(frame, counts.policy.clear.at, aimTokens)
  const earlier = new Set<number>(before.cleared)
  const gone = new Set(begun.cleared)
  const now = { ...editsOf(begun), cleared: gone }
  let { tokens } = begun
  for (const index of begun.cleared.toReversed()) {
    if (earlier.has(index) || index < now.frontier) continue
    const more = yield* tokensMore(frame, now, index, () => gone.delete(index))
    if (tokens + more <= goalTokens) tokens += more
    else gone.add(index)
  }
  return { ...begun, cleared: [...gone], tokens }
}

// --- internal ---

/** So few rounds after a compaction another one has to go further, or each request would be one. */
const SOON_ROUNDS = 8

function isSoonAfter({ counts, options, before }: Frame): boolean {
  const { requestPoints: points } = counts.subject.structure
  const roundsApart = countBelow(points, options.point) - countBelow(points, before.point)
  return before.point > 0 && roundsApart < SOON_ROUNDS
}

/** How many results a profile keeps by their number, of those that there are. */
function keptResultsMost({ counts, options }: Frame): number {
  const before = counts.subject.messages.slice(0, options.point)
  const results = before.filter(({ facts }) => facts.role === 'tool')
  return Math.min(counts.policy.clear.keep_results, results.length)
}

/** Where the newest so many results begin. */
function keptResultsFrom({ counts, options }: Frame, keptResults: number): number {
  const { messages } = counts.subject
  let left = options.smallest ? 0 : keptResults
  let from = options.point
  for (let index = options.point - 1; index >= 0 && left > 0; index -= 1) {
    if (messages[index]?.facts.role !== 'tool') continue
    from = index
    left -= 1
  }
  return from
}

/** A result that may be cleared. */
type Clearable = { readonly index: number; readonly worthlessness: number; readonly isSuperseded: boolean }

/** Smaller results are hardly larger than the line that stands in their place. */
const CLEARED_TOKENS_MIN = 64

/** So many replies later a result counts for half as much again. */
const AGE_REPLIES = 10

/** How much sooner a result goes of whose file a later one tells. */
const FOLLOWED_WEIGHT = 4

/** Where a pass aims at: one that begins below the target has nothing to aim at but its whole reach. */
function goalOf(frame: Frame, at: number | null, aimTokens: number): number {
  return at !== null && thresholdOf(frame, at) <= frame.targetTokens ? 0 : aimTokens
}

function startOf({ counts }: Frame, { fold }: Draft): number {
  return fold?.frontier ?? counts.subject.structure.systemCount
}

function isClearable({ counts: { subject, policy } }: Frame, index: number): boolean {
  const isResult = subject.messages[index]?.facts.role === 'tool'
  return isResult && mayBeCleared(subject, policy.clear.except_tools, index)
}

/** A pass over the oldest messages first, as far as it has to reach and no further than `end`. */
function* editedUpTo(
  frame: Frame,
  begun: Draft,
  pass: 'render' | 'preview',
  aimTokens: number,
  end: number,
): Steps<Draft> {
  const { counts, options } = frame
  const { policy, editedTokens, followingTokens } = counts
  const settings = policy[pass]
  if (('enabled' in settings && !settings.enabled) || !runs(frame, settings.at)) return begun
  const goalTokens = goalOf(frame, settings.at, aimTokens)
  const edits = editsOf(begun)
  let { reach, tokens } = begun
  for (
    let index = Math.max(startOf(frame, begun), reach[pass]);
    index < end && tokens > goalTokens;
    index += 1
  ) {
    const now = { ...edits, reach }
    const further = { ...edits, reach: { ...reach, [pass]: index + 1 } }
    tokens -= yield* editedTokens(index, index + 1, now)
    tokens += yield* editedTokens(index, index + 1, further)
    tokens += yield* followingTokens(index, options.point, now, further)
    reach = further.reach
  }
  return { ...begun, reach, tokens }
}

/** Results cleared, those first that are missed least. */
function* cleared(
  frame: Frame,
  begun: Draft,
  aimTokens: number,
  which: 'superseded' | 'any',
  keptFrom: number,
): Steps<Draft> {
  const { policy } = frame.counts
  if (!policy.clear.enabled || !runs(frame, policy.clear.at)) return begun
  const goalTokens = goalOf(frame, policy.clear.at, aimTokens)
  if (begun.tokens <= goalTokens) return begun
  const clearable = (yield* clearableIn(frame, begun, keptFrom)).filter(
    ({ isSuperseded }) => which === 'any' || isSuperseded,
  )
  const edits = editsOf(begun)
  const gone = new Set(edits.cleared)
  const now = { ...edits, cleared: gone }
  let { tokens } = begun
  for (const { index } of clearable.sort((one, other) => other.worthlessness - one.worthlessness)) {
    if (tokens <= goalTokens) break
    tokens += yield* tokensMore(frame, now, index, () => gone.add(index))
  }
  return { ...begun, cleared: [...gone], tokens }
}

/** How much more a view takes after a result was cleared or put back; what refers to it is sent with its text once it is gone. */
function* tokensMore(
  { counts, options }: Frame,
  edits: Edits,
  index: number,
  change: () => unknown,
): Steps<number> {
  const followers = counts.subject.references.followersOf(index).filter((each) => each < options.point)
  let tokens = 0
  for (const each of [index, ...followers]) tokens -= yield* counts.editedTokens(each, each + 1, edits)
  change()
  for (const each of [index, ...followers]) tokens += yield* counts.editedTokens(each, each + 1, edits)
  return tokens
}

function* clearableIn(frame: Frame, draft: Draft, keptFrom: number): Steps<Clearable[]> {
  const { counts, options } = frame
  const { subject, editedTokens } = counts
  const { point } = options
  const { isStale, isRepeated, isFollowed, latestEqual } = yield* supersededIn(subject)
  const edits = editsOf(draft)
  const found: Clearable[] = []
  const ages = new Map<number, number>()
  let age = 0
  for (let index = point - 1; index >= startOf(frame, draft); index -= 1) {
    const facts = subject.messages[index]?.facts
    if (facts?.opensReply === true) age += 1
    if (facts?.role !== 'tool') continue
    ages.set(index, age)
    if (index >= Math.min(draft.protectedFrom, keptFrom) || edits.cleared.has(index)) continue
    if (!isClearable(frame, index)) continue
    const tokens = yield* editedTokens(index, index + 1, edits)
    if (tokens < CLEARED_TOKENS_MIN) continue
    const isSuperseded = isStale(index, point) || isRepeated(index, point)
    // Of equal results the earliest stays, and is as young as the latest of them.
    const latest = latestEqual(index, point)
    const weight = latest === index && isFollowed(index, point) ? FOLLOWED_WEIGHT : 1
    const replies = ages.get(latest) ?? age
    found.push({ index, isSuperseded, worthlessness: tokens * (1 + replies / AGE_REPLIES) * weight })
  }
  return found
}
