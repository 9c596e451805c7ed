import type { Compaction, Fold, StandingSummary } from '../compaction.ts'
import { keptTokens } from '../history/kept-passages.ts'
import { RECAP_TOKENS_MIN } from '../recap/recap.ts'
import { isInstruction, readableTokens, type Subject } from '../history/subject.ts'
import type { Frame } from './frame.ts'
import { SHARE } from './parts.ts'
import { countBelow } from '../../conversation/count-below.ts'

/** The most that stands for folded messages, in tokens. */
export type RecapCaps = ReturnType<typeof recapCaps>

/** How much stands for folded messages in the view of a compaction. */
export function recapCaps(frame: Frame) {
  const { shares, roomTokens, targetTokens } = frame
  const { recap } = frame.counts.policy
  const keptTokensMax = Math.floor(roomTokens * SHARE.kept)
  if (frame.options.smallest) {
    const tokensMax = Math.floor(roomTokens * SMALLEST_RECAP_SHARE)
    return {
      recapTokensMax: Math.min(SMALLEST_RECAP_TOKENS, tokensMax),
      tokensMax,
      besideTokensMin: 0,
      togetherTokensMax: tokensMax,
      systemTokensMax: quotedSystemTokensMax(roomTokens),
      keptTokensMax,
      work: frame.work,
    }
  }
  // What fixed parts and newest messages leave under the target; below zero where they take more.
  const { fixedTokens, recentTokens, cutUnit } = frame
  const leftTokens = targetTokens - fixedTokens - recentTokens - (cutUnit?.tokensMax ?? 0)
  const tokensMax = Math.max(shares.recapMin, Math.min(shares.recapMax, Math.floor(leftTokens)))
  return {
    /** Recaps. */
    recapTokensMax: Math.min(recap.max_tokens, tokensMax, Math.floor(roomTokens * RECAP_SHARE)),
    /** Recaps and summaries together … */
    tokensMax,
    /** … unless summaries leave less than this for the recaps beside them, which say first what the user said: … */
    besideTokensMin: Math.min(recap.max_tokens, shares.recapMin),
    /** … then both may take so much. */
    togetherTokensMax: shares.recapMax,
    /** Quoted system messages, on top. */
    systemTokensMax: quotedSystemTokensMax(targetTokens),
    /** What is kept word for word by request, on top of that. */
    keptTokensMax,
    /** The open list of work, on top of that. */
    work: frame.work,
  }
}

/** How much quoted system messages may take, in tokens: they come on top. */
export function quotedSystemTokensMax(targetTokens: number): number {
  return Math.max(0, Math.floor(targetTokens * QUOTED_SYSTEM_SHARE))
}

/** What a fold is planned with. */
export type FoldPlan = {
  readonly frame: Frame
  readonly caps: RecapCaps
  /** Summaries that may stand in the fold, in their order: those do whose range is folded, if there is room for them. */
  readonly summaries: readonly StandingSummary[]
}

/**
 * The fold at a frontier, with what it keeps of old turns before it: summaries and a recap for what lies before the latest
 * user message, the same for what follows it where the frontier has passed it, and quoted system messages on top. Nothing
 * has more room than what it replaces, which is everything but the task and what is kept of old turns.
 */
export function foldAt(plan: Folding, frontier: number, kept: readonly number[] = []): Fold {
  const { counts, pins, options } = plan.frame
  const { recapTokensMax, tokensMax, besideTokensMin, togetherTokensMax, systemTokensMax } = plan.caps
  const { subject } = counts
  const { systemCount } = subject.structure
  const recapsBeside = counts.policy.recap.beside_summaries
  const isPassed = pins.latestUser !== -1 && pins.latestUser !== pins.task && pins.latestUser < frontier - 1
  const latest = isPassed ? pins.latestUser : null
  const standing = isPassed ? standingBefore(options.previous, pins) : null
  const restated = restatedAt(subject, options.point, frontier)
  const staying = restated.length === 0 ? kept : [...kept, ...restated]
  const before = partAt(plan, systemCount, latest ?? frontier, staying)
  const after = latest === null ? NO_PART : partAt(plan, latest + 1, frontier, staying)
  const writtenTokens = before.writtenTokens + after.writtenTokens
  const besideTokens =
    recapsBeside && writtenTokens > 0 ? Math.min(besideTokensMin, togetherTokensMax - writtenTokens) : 0
  const roomTokens = Math.max(besideTokens, Math.min(recapTokensMax, tokensMax - writtenTokens))
  const afterMost = Math.min(
    latest === null ? 0 : recapTokensOf(after.leftTokens),
    Math.floor(roomTokens * AFTER_SHARE),
  )
  // The recap of the latest turn takes its room in doublings: so the recap before it keeps its size, and its place in the
  // provider's cache, while a turn goes on.
  const doubled = afterMost === 0 ? 0 : 2 ** Math.ceil(Math.log2(afterMost))
  const beforeMost = Math.max(roomTokens - doubled, Math.floor(roomTokens * (1 - AFTER_SHARE)))
  const isRecapOnly = before.writtenTokens === 0 && latest !== null
  // The same bytes stay in the provider's cache, as long as they leave the latest turn its share.
  const isStanding =
    isRecapOnly && standing !== null && standing <= roomTokens - Math.min(afterMost, roomTokens / 4)
  const beforeTokens = isStanding
    ? standing
    : Math.min(recapTokensOf(before.leftTokens), beforeMost) +
      quotedTokens(subject, systemCount, latest ?? frontier, systemTokensMax)
  const keptTokensMax = Math.min(keptTokens(subject, frontier), plan.caps.keptTokensMax)
  const { work } = plan.caps
  const wordForWordTokens = keptTokensMax + (work !== null && work.from < frontier ? work.tokens : 0)
  const [beforeKept, afterKept] = latest === null ? [wordForWordTokens, 0] : [0, wordForWordTokens]
  const afterRecap = isStanding ? Math.min(afterMost, Math.floor(roomTokens - standing)) : afterMost
  return {
    frontier,
    kept,
    restated,
    beforeTokensMax: before.writtenTokens + Math.max(0, beforeTokens) + beforeKept,
    afterTokensMax:
      latest === null
        ? 0
        : after.writtenTokens +
          Math.max(0, afterRecap) +
          afterKept +
          quotedTokens(subject, latest + 1, frontier, systemTokensMax),
    systemTokensMax,
    keptTokensMax: wordForWordTokens,
    summaries: [...before.summaries, ...after.summaries],
    recapsBeside,
  }
}

/**
 * Which messages before a frontier hold for all that follows: each that adds something, and of those that replace one another
 * the last before the point, unless it stands behind the frontier.
 */
export function restatedAt(subject: Subject, point: number, frontier: number): readonly number[] {
  const { each, replacing } = survivingIn(subject)
  const added = each.slice(0, countBelow(each, frontier))
  const last = replacing[countBelow(replacing, point) - 1]
  if (last === undefined || last >= frontier) return added
  return added.toSpliced(countBelow(added, last), 0, last)
}

/** How many messages may be restated at a point: each frontier before it is weighed with all of them. */
export function restatedMost(subject: Subject, point: number): number {
  return countBelow(survivingIn(subject).each, point)
}

// --- internal ---

/** What of it decides what a fold takes. */
type Folding = Omit<FoldPlan, 'frame'> & {
  readonly frame: Pick<Frame, 'counts' | 'pins'> & {
    readonly options: Pick<Frame['options'], 'previous' | 'plannedTokensMax' | 'point'>
  }
}

/** The recap of the smallest form: enough for the names of what was done last, and a quarter of what there is. */
const SMALLEST_RECAP_TOKENS = 128
const SMALLEST_RECAP_SHARE = 0.25

/** A recap without summaries takes at most this share of the room: the agent's own words are worth more than names of them. */
const RECAP_SHARE = 1 / 8

/** Folded system messages are quoted within this share of the target. */
const QUOTED_SYSTEM_SHARE = 0.25

/** A recap takes at most this share of what it replaces: nearly as long as that, it is not worth a cache miss. */
const CONTENT_SHARE = 0.6

/** Of two recaps the one of the latest turn takes at most this share of the room. */
const AFTER_SHARE = 0.5

/** The words around a quoted system message. */
const QUOTE_TOKENS = 4

const NO_PART = { summaries: [], writtenTokens: 0, leftTokens: 0 } as const

/** What summaries of a run take, and what of it goes into a recap. */
function partAt({ frame, caps, summaries }: Folding, start: number, end: number, kept: readonly number[]) {
  const { subject, unboundTokens, policy } = frame.counts
  const { plannedTokensMax } = frame.options
  const recapsBeside = policy.recap.beside_summaries
  let foldedTokens = unboundTokens(start, end)
  for (const index of new Set([frame.pins.task, ...kept]))
    if (index >= start && index < end) foldedTokens -= readableTokens(subject, index)
  if (plannedTokensMax !== null) {
    const writtenTokens = Math.min(foldedTokens, plannedTokensMax)
    return { summaries: [], writtenTokens, leftTokens: recapsBeside ? foldedTokens : 0 }
  }
  const standing: StandingSummary[] = []
  let allTokens = 0
  for (const { tokens } of summaries) allTokens += tokens
  let writtenTokens = 0
  let leftTokens = foldedTokens
  for (const summary of allTokens <= caps.tokensMax ? summaries : []) {
    if (summary.start < start || summary.end > end) continue
    standing.push(summary)
    writtenTokens += summary.tokens
    leftTokens -= unboundTokens(summary.start, summary.end)
    for (const index of summary.except) leftTokens += readableTokens(subject, index)
  }
  return {
    summaries: standing,
    writtenTokens,
    leftTokens: recapsBeside ? foldedTokens : Math.max(0, leftTokens),
  }
}

/** What the recap of so many tokens may take. */
function recapTokensOf(foldedTokens: number): number {
  return Math.min(foldedTokens, Math.max(RECAP_TOKENS_MIN, Math.floor(foldedTokens * CONTENT_SHARE)))
}

/** The cap of the recap before the latest user message, where the compaction before had one before the same message. */
function standingBefore(previous: Compaction | null, { task, latestUser }: Frame['pins']): number | null {
  const isSameTurn = previous !== null && previous.latestUser === latestUser && previous.task === task
  const fold = isSameTurn ? previous.fold : null
  if (fold === null || fold.summaries.some(({ end }) => end <= latestUser)) return null
  return latestUser < fold.frontier - 1 ? fold.beforeTokensMax : null
}

/** What the distinct system messages from `start` up to `end` take when they are quoted, at most `tokensMax`. */
function quotedTokens(subject: Subject, start: number, end: number, tokensMax: number): number {
  const known = quotesBySubject.get(subject) ?? new Map<number, readonly number[]>()
  quotesBySubject.set(subject, known)
  const sums = known.get(start) ?? quoteSums(subject, start)
  // The start behind the leading system messages stays the same; the one behind the latest user message moves on.
  if (!known.has(start) && known.size >= STARTS_MAX) known.delete([...known.keys()].at(-1) ?? start)
  known.set(start, sums)
  return Math.min(tokensMax, sums[Math.max(0, end - start)] ?? 0)
}

/**
 * Sums up to one message after the other. A compaction is planned anew at many request points of the same conversation: what
 * each of them would add up again is added up once.
 */
const quotesBySubject = new WeakMap<Subject, Map<number, readonly number[]>>()

const STARTS_MAX = 2

function quoteSums(subject: Subject, start: number): readonly number[] {
  const sums = [0]
  const seen = new Set<string>()
  for (const [offset, { facts }] of subject.messages.slice(start).entries()) {
    const isNew = isInstruction(subject, start + offset) && !seen.has(facts.meaning)
    if (isNew) seen.add(facts.meaning)
    sums.push((sums[offset] ?? 0) + (isNew ? (subject.sizes[start + offset] ?? 0) + QUOTE_TOKENS : 0))
  }
  return sums
}

/** The messages that hold for all that follows, ascending: each of them, or only the last. */
type Surviving = { readonly each: readonly number[]; readonly replacing: readonly number[] }

/** By subject, of which many frontiers are looked at: hardly any conversation has such messages. */
const survivingBySubject = new WeakMap<Subject, Surviving>()

function survivingIn(subject: Subject): Surviving {
  const known = survivingBySubject.get(subject)
  if (known !== undefined) return known
  const { messages, structure } = subject
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
        ? callIn(subject, unit, index)
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
  const surviving = { each: each.sort((one, other) => one - other), replacing }
  survivingBySubject.set(subject, surviving)
  return surviving
}

/** The call in a unit that a result answers. */
function callIn({ messages }: Subject, unit: number, result: number): number | undefined {
  const [answered] = messages[result]?.facts.answers ?? []
  for (let index = unit; index < result; index += 1) {
    const { callIds } = messages[index]?.facts ?? { callIds: [] }
    // Of a message with several calls the others would stay without results.
    if (answered !== undefined && callIds.length === 1 && callIds[0] === answered) return index
  }
  return undefined
}
