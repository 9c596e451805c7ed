import type { Pausable } from '../../json/source.ts'
import { editsOf } from '../edits.ts'
import { layoutOf, partTokens } from '../folded-parts.ts'
import { countBelow } from '../../conversation/structure.ts'
import type { Compaction, Fold, StandingSummary } from '../compaction.ts'
import { keptTokens } from '../history/kept-passages.ts'
import { sum } from '../../conversation/sizes.ts'
import { isInstruction, isSaidByUser, isTalk, readableTokens, type History } from '../history/history.ts'
import { lruCache, remembering } from '../../caches.ts'
import { RECAP_TOKENS_MIN } from '../recap/recap.ts'
import { SHARE } from '../shares.ts'
import type { Draft, Frame } from './frame.ts'
import type { Pins } from './pins.ts'

/**
 * The fold at a frontier, with what it keeps of old turns before it: summaries and a recap for what lies before the latest
 * user message, the same for what follows it where the frontier has passed it, and quoted system messages on top. Nothing
 * has more room than what it replaces, which is everything but the task and what is kept of old turns. Of `summaries` those
 * stand in it whose range is folded, if there is room for them.
 */
export function foldAt(
  frame: Frame,
  summaries: readonly StandingSummary[],
  frontier: number,
  kept: readonly number[] = [],
): Fold {
  const { counts, pins, options, caps, work } = frame
  const { history } = counts
  const { systemCount } = history.structure
  const recapsBeside = counts.profile.recap.beside_summaries
  const isPassed = isLatestPassed(pins, frontier)
  const latest = isPassed ? pins.latestUser : null
  const restated = restatedAt(history, options.point, frontier)
  const staying = [...kept, ...restated]
  const before = partAt(frame, summaries, systemCount, latest ?? frontier, staying)
  const after = latest === null ? NO_PART : partAt(frame, summaries, latest + 1, frontier, staying)
  const writtenTokens = before.writtenTokens + after.writtenTokens
  const besideTokens =
    recapsBeside && writtenTokens > 0
      ? Math.min(caps.besideTokensMin, caps.togetherTokensMax - writtenTokens)
      : 0
  const roomTokens = Math.max(besideTokens, Math.min(caps.recapTokensMax, caps.tokensMax - writtenTokens))
  const afterMost = Math.min(
    latest === null ? 0 : recapTokensOf(after.leftTokens),
    Math.floor(roomTokens * SHARE.latestTurnRecap),
  )
  // The recap of the latest turn takes its room in doublings: so the recap before it keeps its size, and its place in the
  // provider's cache, while a turn goes on.
  const doubled = afterMost <= 0 ? 0 : 2 ** Math.ceil(Math.log2(afterMost))
  const beforeMost = Math.max(roomTokens - doubled, Math.floor(roomTokens * (1 - SHARE.latestTurnRecap)))
  const isRecapOnly = before.writtenTokens === 0 && latest !== null
  const standing = isRecapOnly ? standingBefore(options.previous, pins) : null
  // The same bytes stay in the provider's cache, as long as they leave the latest turn its share.
  const isStanding = standing !== null && standing <= roomTokens - Math.min(afterMost, roomTokens / 4)
  const quoted = (start: number, end: number): number =>
    quotedTokens(history, start, end, caps.systemTokensMax)
  const beforeRecap = isStanding
    ? standing
    : Math.min(recapTokensOf(before.leftTokens), beforeMost) + quoted(systemCount, latest ?? frontier)
  const afterRecap = isStanding ? Math.min(afterMost, Math.floor(roomTokens - standing)) : afterMost
  const keptTokensMax =
    Math.min(keptTokens(history, frontier), caps.keptTokensMax) +
    (work !== null && work.from < frontier ? work.tokens : 0)
  const beforeTokensMax = before.writtenTokens + Math.max(0, beforeRecap)
  const afterTokensMax = after.writtenTokens + Math.max(0, afterRecap)
  return {
    frontier,
    kept,
    restated,
    // What stands word for word stands in the last recap.
    beforeTokensMax: latest === null ? beforeTokensMax + keptTokensMax : beforeTokensMax,
    afterTokensMax: latest === null ? 0 : afterTokensMax + keptTokensMax + quoted(latest + 1, frontier),
    systemTokensMax: caps.systemTokensMax,
    keptTokensMax,
    summaries: [...before.summaries, ...after.summaries],
    recapsBeside,
  }
}

/** A fold with nothing but recaps of so many tokens. */
export function bareFold(
  { counts, options }: Frame,
  frontier: number,
  kept: readonly number[],
  recapTokens: number,
): Fold {
  return {
    frontier,
    kept,
    restated: restatedAt(counts.history, options.point, frontier),
    beforeTokensMax: recapTokens,
    afterTokensMax: recapTokens,
    systemTokensMax: 0,
    keptTokensMax: Math.min(recapTokens, keptTokens(counts.history, frontier)),
    summaries: [],
    recapsBeside: false,
  }
}

/** Whether a frontier folds what follows the latest user message, so that a recap stands on either side of it. */
export function isLatestPassed({ task, latestUser }: Pins, frontier: number): boolean {
  return latestUser !== -1 && latestUser !== task && latestUser < frontier - 1
}

/**
 * Which messages before a frontier hold for all that follows: each that adds something, and of those that replace one another
 * the last before the point, unless it stands behind the frontier.
 */
function restatedAt(history: History, point: number, frontier: number): readonly number[] {
  const { each, replacing } = survivingIn(history)
  const added = each.slice(0, countBelow(each, frontier))
  const last = replacing[countBelow(replacing, point) - 1]
  if (last === undefined || last >= frontier) return added
  return added.toSpliced(countBelow(added, last), 0, last)
}

/** How many messages may be restated at a point: each frontier before it is weighed with all of them. */
export function restatedMost(history: History, point: number): number {
  return countBelow(survivingIn(history).each, point)
}

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

// --- internal ---

/** The words around a quoted system message. */
const QUOTE_TOKENS = 4

const NO_PART = { summaries: [], writtenTokens: 0, leftTokens: 0 } as const

/** What summaries of a run take, and what of it goes into a recap. */
function partAt(
  { counts, options, pins, caps }: Frame,
  summaries: readonly StandingSummary[],
  start: number,
  end: number,
  kept: readonly number[],
) {
  const { history, unboundTokens, profile } = counts
  const recapsBeside = profile.recap.beside_summaries
  let foldedTokens = unboundTokens(start, end)
  for (const index of new Set([pins.task, ...kept]))
    if (index >= start && index < end) foldedTokens -= readableTokens(history, index)
  if (options.plannedTokensMax !== null) {
    const writtenTokens = Math.min(foldedTokens, options.plannedTokensMax)
    return { summaries: [], writtenTokens, leftTokens: recapsBeside ? foldedTokens : 0 }
  }
  const standing =
    sum(summaries.map(({ tokens }) => tokens)) <= caps.tokensMax
      ? summaries.filter((summary) => summary.start >= start && summary.end <= end)
      : []
  let leftTokens = foldedTokens
  for (const summary of standing) {
    leftTokens -= unboundTokens(summary.start, summary.end)
    for (const index of summary.except) leftTokens += readableTokens(history, index)
  }
  return {
    summaries: standing,
    writtenTokens: sum(standing.map(({ tokens }) => tokens)),
    leftTokens: recapsBeside ? foldedTokens : Math.max(0, leftTokens),
  }
}

/** What the recap of so many tokens may take. */
function recapTokensOf(foldedTokens: number): number {
  return Math.min(foldedTokens, Math.max(RECAP_TOKENS_MIN, Math.floor(foldedTokens * SHARE.recapOfReplaced)))
}

/** The cap of the recap before the latest user message, where the compaction before had one before the same message. */
function standingBefore(previous: Compaction | null, { task, latestUser }: Pins): number | null {
  const isSameTurn = previous !== null && previous.latestUser === latestUser && previous.task === task
  const fold = isSameTurn ? previous.fold : null
  if (fold === null || fold.summaries.some(({ end }) => end <= latestUser)) return null
  return latestUser < fold.frontier - 1 ? fold.beforeTokensMax : null
}

/** What the distinct system messages from `start` up to `end` take when they are quoted, at most `tokensMax`. */
function quotedTokens(history: History, start: number, end: number, tokensMax: number): number {
  const known = quotesOf(history)
  const sums = known.get(String(start)) ?? quoteSums(history, start)
  known.set(String(start), sums)
  return Math.min(tokensMax, sums[Math.max(0, end - start)] ?? 0)
}

/**
 * Sums up to one message after the other. A compaction is planned anew at many request points of the same conversation: what
 * each of them would add up again is added up once.
 */
const quotesOf = remembering(
  (history: History) => history,
  () => lruCache<readonly number[]>(STARTS_MAX),
)

/** The start behind the leading system messages stays the same; the one behind the latest user message moves on. */
const STARTS_MAX = 2

function quoteSums(history: History, start: number): readonly number[] {
  const sums = [0]
  const seen = new Set<string>()
  for (const [offset, { facts }] of history.messages.slice(start).entries()) {
    const isNew = isInstruction(history, start + offset) && !seen.has(facts.meaning)
    if (isNew) seen.add(facts.meaning)
    sums.push((sums[offset] ?? 0) + (isNew ? (history.sizes[start + offset] ?? 0) + QUOTE_TOKENS : 0))
  }
  return sums
}

/** Many frontiers are looked at of one history: hardly any conversation has such messages. */
const survivingIn = remembering((history: History) => history, findSurviving)

/** The messages that hold for all that follows, ascending: each of them, or only the last. */
function findSurviving(history: History) {
  const { messages, structure } = history
  const each: number[] = []
  const replacing: number[] = []
  const calls = new Map<string, number>()
  const said = new Set<number>()
  for (const [index, { facts }] of messages.entries()) {
    if (index < structure.systemCount || facts.survives === undefined) continue
    if (facts.survives === 'last') {
      replacing.push(index)
      continue
    }
    // A call is said again with its result, or not at all: in a broken conversation its result may be of another kind.
    const unit = structure.unitStart(index)
    for (const id of facts.callIds) calls.set(`${unit} ${id}`, index)
    const [answered] = facts.answers
    const call =
      facts.survives === 'each-with-call'
        ? callIn(history, unit, index)
        : answered === undefined
          ? undefined
          : calls.get(`${unit} ${answered}`)
    if (call !== undefined) {
      // In a broken conversation a call may have two results: it is said again with the first.
      if (said.has(call)) continue
      said.add(call)
      each.push(call, index)
      calls.delete(`${unit} ${answered}`)
    } else if (facts.callIds.length === 0 && answered === undefined) each.push(index)
  }
  return { each: each.sort((one, other) => one - other), replacing }
}

/** The call in a unit that a result answers. */
function callIn({ messages }: History, unit: number, result: number): number | undefined {
  const [answered] = messages[result]?.facts.answers ?? []
  // Of a message with several calls the others would stay without results.
  const call = messages
    .slice(unit, result)
    .findIndex(({ facts: { callIds } }) => callIds.length === 1 && callIds[0] === answered)
  return call === -1 ? undefined : unit + call
}

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
