import { countBelow } from '../conversation/count-below.ts'
import type { Steps } from '../conversation/source.ts'
import { thresholdTokens } from '../tokens/budget.ts'
import { triggerOf } from '../profiles/effective.ts'
import { clipsByIndex, plannedTokens, UNTOUCHED } from './layout.ts'
import type { Ledger } from './ledger.ts'
import { hasLimit, isOverLimit, lengthOf } from './plan/limit.ts'
import { pinnedTokens, pinsAt } from './plan/pins.ts'
import type { PlanOptions, PreparedFold } from './plan/options.ts'
import { planCompaction } from './plan/plan.ts'
import type { Policy, Room } from './policy.ts'
import { SHARE } from './plan/shares.ts'
import { standingView, type ViewTools } from './view/standing-view.ts'
import type { Compaction, CompactionReason } from './compaction.ts'
import { isSaidByUser, type Subject } from './subject.ts'

export type AdvanceOptions = {
  /** The newest compaction on record that is a prefix of the conversation. */
  readonly newest: Compaction | null
  /** Up to which request point no further compaction was due, since that request was seen; null: its past is not known. */
  readonly seenUntil: number | null
  /**
   * Up to which point this conversation is the one that was seen before, where its client edits the end at each request;
   * null where it goes on from a whole request, or was never seen.
   */
  readonly sharedUntil: number | null
  readonly room: Room
  /** How much more the provider has counted of the view of `newest` than we did, in our tokens; may be below zero. */
  readonly differenceTokens: number
  readonly strict: boolean
  /** A compaction now, whatever the pressure. */
  readonly forced: boolean
  /** A fold whose summaries are there, for a compaction that is due now; else null. */
  readonly prepared: PreparedFold | null
}

/** The compaction that a conversation stands in, and what it was made from. */
export type Advanced = {
  readonly compaction: Compaction | null
  /** The compaction before it; null where there was none. */
  readonly previous: Compaction | null
  /** Tokens of the view before it, at its point, without what surrounds the conversation; null where none was made. */
  readonly beforeTokens: number | null
}

/**
 * The compaction that a conversation stands in: the newest on record, and one more if the request that is made now does not fit.
 * Where nothing is on record, the request points of the past are walked with the same numbers (P6).
 */
export function* advance(subject: Subject, tools: ViewTools, options: AdvanceOptions): Steps<Advanced> {
  const end = subject.messages.length
  const { ledger, policy } = tools
  const { newest, room, strict } = options
  const scale = createScale(subject, tools, newest)
  const walked = { previous: null as Compaction | null, beforeTokens: null as number | null }
  const at = (point: number): At => ({
    point,
    compaction: scale.compaction(),
    room,
    // The provider's count is known of the view of this very compaction, and of no other.
    differenceTokens: scale.compaction() === newest ? options.differenceTokens : 0,
    strict,
    forced: false,
    prepared: null,
  })
  for (const point of pastPoints(subject, options)) {
    const viewTokens = yield* scale.weigh(point)
    const next = yield* compactionAt(subject, ledger, policy, at(point), viewTokens)
    if (next === null) continue
    walked.previous = scale.compaction()
    walked.beforeTokens = viewTokens
    scale.change(next)
  }
  const { forced, prepared } = options
  const now = { ...at(end), forced, prepared }
  const viewTokens = yield* scale.weigh(end)
  const made =
    (yield* compactionWithin(subject, ledger, policy, now, viewTokens, options.sharedUntil)) ??
    (yield* compactionAt(subject, ledger, policy, now, viewTokens))
  if (made === null) return { compaction: scale.compaction(), ...walked }
  return { compaction: made, previous: now.compaction, beforeTokens: viewTokens }
}

/** Where the first pass begins, in tokens of the whole prompt: below it no size makes a compaction due. */
export function lowestThresholdTokens(policy: Policy, budgetTokens: number, fixedTokens: number): number {
  return Math.min(
    ...thresholdsOf(policy).map((setting) => thresholdTokens(setting, budgetTokens, fixedTokens)),
  )
}

/**
 * The room that a compaction is planned with, where the provider counts so much beyond our count of the view: it may stand in
 * the parts that stay. What we counted too much may lie in those that go, and most of a large excess does.
 */
export function lastingRoom(room: Room, differenceTokens: number): Room {
  const most = Math.floor(room.budgetTokens * LASTING_EXCESS_SHARE)
  return { ...room, aroundTokens: room.aroundTokens + Math.max(0, Math.min(differenceTokens, most)) }
}

// --- internal ---

/** Weighs the view of a compaction at one request point after the other; each message is weighed once. */
type Scale = {
  readonly compaction: () => Compaction | null
  readonly change: (compaction: Compaction) => void
  /** Tokens of the view up to `point`, without what surrounds it. Points only ascend. */
  readonly weigh: (point: number) => Steps<number>
}

/** The request points of the past that have to be walked, ascending: those since which nothing is known. */
function pastPoints(
  { structure, messages }: Subject,
  { newest, seenUntil, sharedUntil }: AdvanceOptions,
): readonly number[] {
  // Since a request that was seen, nothing was sent up to any point but this one.
  if (seenUntil !== null || sharedUntil !== null) return []
  const { requestPoints } = structure
  const known = newest?.point ?? 0
  return requestPoints.slice(countBelow(requestPoints, known + 1), countBelow(requestPoints, messages.length))
}

/**
 * The compaction that is due now, made at the point up to which its client leaves the conversation as it is: the next request
 * has the same beginning and finds it again. Null where none is due, or where what follows that point leaves too little.
 */
function* compactionWithin(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  at: At,
  viewTokens: number,
  sharedUntil: number | null,
): Steps<Compaction | null> {
  if (sharedUntil === null || sharedUntil <= (at.compaction?.point ?? 0) || at.prepared !== null) return null
  const { room } = at
  const behindTokens = ledger.originalTokens(sharedUntil, at.point)
  if (behindTokens > (room.budgetTokens - room.aroundTokens) * SHARE.newestRound) return null
  const reasons = reasonsAt(subject, ledger, policy, at, viewTokens)
  const around = { ...room, aroundTokens: room.aroundTokens + behindTokens }
  for (const reason of reasons) {
    const within = { ...at, point: sharedUntil, room: around }
    const compaction = yield* planCompaction(subject, ledger, policy, {
      ...planOptions(policy, within, reason),
      isBeyondBudget: isBeyondBudget(at, viewTokens),
      viewTokens: viewTokens - behindTokens,
    })
    if (compaction === null) continue
    const { systemCount } = subject.structure
    const tokens = around.aroundTokens + (yield* plannedTokens(ledger, compaction, systemCount, sharedUntil))
    if (tokens <= room.budgetTokens) return compaction
  }
  return null
}

function createScale(subject: Subject, tools: ViewTools, newest: Compaction | null): Scale {
  const { ledger } = tools
  const { systemCount } = subject.structure
  const clips = clipsByIndex([])
  let compaction = newest
  let weighed: { readonly point: number; readonly tokens: number } | null = null
  let made = 0
  return {
    compaction: () => compaction,
    change: (next) => {
      compaction = next
      weighed = null
    },
    weigh: function* weigh(point) {
      const start = weighed?.point ?? compaction?.point ?? systemCount
      const isMade = weighed === null && compaction !== null && made < MADE_MAX
      if (isMade) made += 1
      const base =
        weighed?.tokens ??
        (compaction === null ? 0 : yield* standingTokens(subject, tools, compaction, isMade))
      // Beyond its point a compaction treats nothing.
      const tokens = base + (yield* ledger.treatedTokens(start, point, NOWHERE, clips))
      weighed = { point, tokens }
      return tokens
    },
  }
}

/**
 * What stands up to a compaction's point weighs as it is sent: a recap is mostly smaller than it was planned. A walk through the
 * past has to make each of them, so that behind very many messages, and after very many compactions, the plan has to do.
 */
function* standingTokens(
  subject: Subject,
  tools: ViewTools,
  compaction: Compaction,
  isMade: boolean,
): Steps<number> {
  const { systemCount } = subject.structure
  if (!isMade || (compaction.fold?.frontier ?? 0) > MADE_FRONTIER_MAX)
    return yield* plannedTokens(tools.ledger, compaction, systemCount, compaction.point)
  const { messages } = yield* standingView(subject, tools, compaction)
  return messages.reduce((sum, { tokens }) => sum + tokens, 0)
}

/** A recap of so many messages is made only to be sent. */
const MADE_FRONTIER_MAX = 2000

/**
 * So many are made in one walk, tens of milliseconds each. A conversation of two megabytes that is seen for the first time
 * has hundreds behind it under a small window, and took a minute; those that agents have had so far stay below a hundred.
 */
const MADE_MAX = 128

const NOWHERE = { render: 0, preview: 0, clear: 0 } as const

type At = {
  readonly point: number
  readonly compaction: Compaction | null
  readonly room: Room
  readonly differenceTokens: number
  readonly strict: boolean
  readonly forced: boolean
  readonly prepared: PreparedFold | null
}

function* compactionAt(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  at: At,
  viewTokens: number,
): Steps<Compaction | null> {
  for (const reason of reasonsAt(subject, ledger, policy, at, viewTokens)) {
    const compaction = yield* planCompaction(subject, ledger, policy, {
      ...planOptions(policy, at, reason),
      isBeyondBudget: isBeyondBudget(at, viewTokens),
      viewTokens,
    })
    if (compaction !== null) return compaction
  }
  // What was prepared never keeps a compaction from being made that is due.
  return at.prepared === null
    ? null
    : yield* compactionAt(subject, ledger, policy, { ...at, prepared: null }, viewTokens)
}

function planOptions(
  policy: Policy,
  at: At,
  reason: CompactionReason,
): Omit<PlanOptions, 'isBeyondBudget' | 'viewTokens'> {
  return {
    point: at.point,
    previous: at.compaction,
    room: lastingRoom(at.room, at.differenceTokens),
    reason,
    keepRecent: policy.keep.recent_messages,
    smallest: false,
    strict: at.strict,
    prepared: at.prepared,
    plannedTokensMax: null,
  }
}

const LASTING_EXCESS_SHARE = 0.25

/** Why a compaction is due at a request point. Where the first reason makes none, there may be a second. */
function reasonsAt(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  at: At,
  viewTokens: number,
): readonly CompactionReason[] {
  // Asked for again at the same point, by a client that tries again, it has been made.
  if (at.forced && (at.compaction === null || at.compaction.point < at.point)) return ['forced']
  if (policy.trigger === 'off') return []
  const { room, point, compaction } = at
  if (isBeyondBudget(at, viewTokens)) return ['trigger']
  // Sent again as it was, a view whose count has come in meanwhile stays as it is.
  if (compaction !== null && compaction.point === point) return []
  const { systemCount } = subject.structure
  const tokens = room.aroundTokens + viewTokens + at.differenceTokens
  const since = compaction?.point ?? systemCount
  if (ledger.originalTokens(since, point) < policy.min_growth_tokens) return []
  const fixedTokens = room.aroundTokens + pinnedTokens(subject, pinsAt(subject, policy, point))
  const isLong =
    hasLimit(policy) && isOverLimit(policy, lengthOf(subject.structure, compaction ?? UNTOUCHED, point))
  const byLength: readonly CompactionReason[] = isLong ? ['limit'] : []
  if (tokens > lowestThresholdTokens(policy, room.budgetTokens, fixedTokens)) return ['trigger', ...byLength]
  return isDue(subject, policy, since, point) ? ['every', ...byLength] : byLength
}

/** Whether a view would not fit, by the provider's count of it as far as that is known. */
function isBeyondBudget({ room, differenceTokens }: At, viewTokens: number): boolean {
  return room.aroundTokens + viewTokens + differenceTokens > room.budgetTokens
}

/** The thresholds of all passes: the lowest begins a compaction, and each then runs if it has reached its own. */
function thresholdsOf(policy: Policy): number[] {
  const own = [
    policy.fold.at,
    policy.clear.enabled ? policy.clear.at : null,
    // At zero a pass runs from the first time a message is sent and needs no compaction for it.
    policy.preview.at === 0 ? null : policy.preview.at,
    policy.render.enabled && policy.render.at !== 0 ? policy.render.at : null,
  ]
  return [triggerOf(policy), ...own.filter((at) => at !== null)]
}

function isDue(subject: Subject, policy: Policy, since: number, point: number): boolean {
  const { turns, tool_calls: toolCalls } = policy.every
  if (turns === 0 && toolCalls === 0) return false
  // A turn has passed when the next begins: before the first compaction the first user message ends none.
  let users = since === subject.structure.systemCount ? -1 : 0
  let calls = 0
  for (let index = since; index < point; index += 1) {
    const facts = subject.messages[index]?.facts
    if (isSaidByUser(subject, index)) users += 1
    calls += facts?.callIds.length ?? 0
  }
  return (turns > 0 && users >= turns) || (toolCalls > 0 && calls >= toolCalls)
}
