import { countBelow } from '../conversation/count-below.ts'
import type { Steps } from '../conversation/source.ts'
import { noExcess, type Excess } from '../pressure/calibration/expected.ts'
import { thresholdTokens } from '../pressure/pressure.ts'
import { triggerOf } from '../profiles/thresholds.ts'
import { carriedTo, carryOn, type Carried } from './carried.ts'
import { clipsByIndex, plannedTokens, UNTOUCHED } from './layout.ts'
import type { Ledger } from './ledger.ts'
import { hasLimit, isOverLimit, lengthOf } from './limit.ts'
import { pinnedTokens, pinsAt } from './pins.ts'
import type { PlanOptions, PreparedFold } from './plan-frame.ts'
import { planStride } from './plan.ts'
import type { Policy, Room } from './policy.ts'
import type { Stride, StrideReason } from './stride.ts'
import { isSaidByUser, type Subject } from './subject.ts'

export type AdvanceOptions = {
  /** The newest stride on record that is a prefix of the conversation. */
  readonly newest: Stride | null
  /** Numbers that today's calibration and one request's odd limit do not move: the past is derived with them. */
  readonly nominal: Room
  /** Today's numbers: they decide whether one more stride is needed now. */
  readonly actual: Room
  /** How the provider's count of the view of `newest` differs from ours. */
  readonly excess: Excess
  readonly strict: boolean
  /** A stride now, whatever the pressure. */
  readonly forced: boolean
  /** A fold whose summaries are there, for a stride that is due now; else null. */
  readonly prepared: PreparedFold | null
}

/** The stride that a conversation stands in, and what it was made from. */
export type Advanced = {
  readonly stride: Stride | null
  /** The stride before it; null where there was none. */
  readonly previous: Stride | null
  /** Tokens of the view before it, at its point, without what surrounds the conversation; null where none was made. */
  readonly beforeTokens: number | null
}

/**
 * The stride that a conversation stands in: from the newest on record the past request points are walked
 * with nominal numbers, then today's numbers may add one at the end. So a conversation that arrives
 * without records gets the strides that it would have had (P6).
 */
export function* advance(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  options: AdvanceOptions,
): Steps<Advanced> {
  const end = subject.messages.length
  const walk = walkBefore(subject, policy, options)
  const scale = createScale(subject, ledger, options.newest, walk)
  let previous: Stride | null = null
  let beforeTokens: number | null = null
  const { requestPoints } = subject.structure
  const from = walk?.point ?? options.newest?.point ?? null
  const walked = from === null ? 0 : countBelow(requestPoints, from + 1)
  for (const point of requestPoints.slice(walked)) {
    const stride = scale.stride()
    if (stride !== null && point <= stride.point) continue
    const at = {
      point,
      stride,
      room: options.nominal,
      excess: noExcess,
      strict: options.strict,
      forced: false,
      prepared: point === end ? options.prepared : null,
    }
    const viewTokens = yield* scale.weigh(point)
    const next = yield* strideAt(subject, ledger, policy, at, viewTokens)
    if (next === null) continue
    previous = stride
    beforeTokens = viewTokens
    scale.change(next)
  }
  const stride = scale.stride()
  if (stride !== null && options.prepared === null) {
    const { nominal, strict } = options
    carryOn(subject, policy, stride, {
      walk: { nominal, strict, point: end, tokens: yield* scale.weigh(end) },
    })
  }
  const excess = stride === options.newest ? options.excess : noExcess
  const last = { ...options, point: end, stride, room: options.actual, excess }
  const viewTokens = yield* scale.weigh(end)
  const next = yield* strideAt(subject, ledger, policy, last, viewTokens)
  if (next === null) return { stride, previous, beforeTokens }
  return { stride: next, previous: stride, beforeTokens: viewTokens }
}

/** Where the first pass begins, in tokens of the whole prompt: below it no size makes a stride due. */
export function lowestThresholdTokens(policy: Policy, budgetTokens: number, fixedTokens: number): number {
  return Math.min(
    ...thresholdsOf(policy).map((setting) => thresholdTokens(setting, budgetTokens, fixedTokens)),
  )
}

/**
 * The room that a stride is planned with, where the provider counts so much beyond our count of the view: it may stand in
 * the parts that stay. What we counted too much may lie in those that go, and most of a large excess does.
 */
export function lastingRoom(room: Room, differenceTokens: number): Room {
  const most = Math.floor(room.budgetTokens * LASTING_EXCESS_SHARE)
  return { ...room, aroundTokens: room.aroundTokens + Math.max(0, Math.min(differenceTokens, most)) }
}

// --- internal ---

/** Weighs the view of a stride at one request point after the other; each message is weighed once. */
type Scale = {
  readonly stride: () => Stride | null
  readonly change: (stride: Stride) => void
  /** Tokens of the view up to `point`, without what surrounds it. Points only ascend. */
  readonly weigh: (point: number) => Steps<number>
}

/** How far an earlier request has walked with the same numbers; null where none is known to have. Not to its own end. */
function walkBefore(
  subject: Subject,
  policy: Policy,
  { newest, nominal, strict }: AdvanceOptions,
): Carried['walk'] {
  const walk = newest === null ? null : carriedTo(subject, policy, newest).walk
  if (walk === null || walk.point >= subject.messages.length) return null
  return walk.strict === strict && isSameRoom(walk.nominal, nominal) ? walk : null
}

function isSameRoom(one: Room, other: Room): boolean {
  return (
    one.budgetTokens === other.budgetTokens &&
    one.aroundTokens === other.aroundTokens &&
    one.slackTokens === other.slackTokens
  )
}

function createScale(subject: Subject, ledger: Ledger, newest: Stride | null, walk: Carried['walk']): Scale {
  const { systemCount } = subject.structure
  const clips = clipsByIndex([])
  let stride = newest
  let weighed: { readonly point: number; readonly tokens: number } | null = walk
  return {
    stride: () => stride,
    change: (next) => {
      stride = next
      weighed = null
    },
    weigh: function* weigh(point) {
      const start = weighed?.point ?? stride?.point ?? systemCount
      const base = weighed?.tokens ?? (yield* plannedTokens(ledger, stride ?? UNTOUCHED, systemCount, start))
      // Beyond its point a stride treats nothing.
      const tokens = base + (yield* ledger.treatedTokens(start, point, NOWHERE, clips))
      weighed = { point, tokens }
      return tokens
    },
  }
}

const NOWHERE = { render: 0, preview: 0, clear: 0 } as const

type At = {
  readonly point: number
  readonly stride: Stride | null
  readonly room: Room
  readonly excess: Excess
  readonly strict: boolean
  readonly forced: boolean
  readonly prepared: PreparedFold | null
}

function* strideAt(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  at: At,
  viewTokens: number,
): Steps<Stride | null> {
  for (const reason of reasonsAt(subject, ledger, policy, at, viewTokens)) {
    const stride = yield* planStride(subject, ledger, policy, planOptions(policy, at, reason, viewTokens))
    if (stride !== null) return stride
  }
  // What was prepared never keeps a stride from being made that is due.
  return at.prepared === null
    ? null
    : yield* strideAt(subject, ledger, policy, { ...at, prepared: null }, viewTokens)
}

function planOptions(policy: Policy, at: At, reason: StrideReason, viewTokens: number): PlanOptions {
  return {
    point: at.point,
    previous: at.stride,
    room: lastingRoom(at.room, at.excess.differenceTokens),
    reason,
    isBeyondBudget: isBeyondBudget(at, viewTokens),
    keepRecent: policy.keep.recent_messages,
    smallest: false,
    strict: at.strict,
    prepared: at.prepared,
    plannedTokensMax: null,
  }
}

const LASTING_EXCESS_SHARE = 0.25

/** Why a stride is due at a request point. Where the first reason makes none, there may be a second. */
function reasonsAt(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  at: At,
  viewTokens: number,
): readonly StrideReason[] {
  // Asked for again at the same point, by a client that tries again, it has been made.
  if (at.forced && (at.stride === null || at.stride.point < at.point)) return ['forced']
  if (policy.trigger === 'off') return []
  const { room, point, stride } = at
  if (isBeyondBudget(at, viewTokens)) return ['trigger']
  // Sent again as it was, a view whose count has come in meanwhile stays as it is.
  if (stride !== null && stride.point === point) return []
  const { systemCount } = subject.structure
  const tokens = room.aroundTokens + viewTokens + at.excess.differenceTokens
  const since = stride?.point ?? systemCount
  if (ledger.originalTokens(since, point) < policy.min_growth_tokens) return []
  const fixedTokens = room.aroundTokens + pinnedTokens(subject, pinsAt(subject, policy, point))
  const isLong =
    hasLimit(policy) && isOverLimit(policy, lengthOf(subject.structure, stride ?? UNTOUCHED, point))
  const byLength: readonly StrideReason[] = isLong ? ['limit'] : []
  if (tokens >= lowestThresholdTokens(policy, room.budgetTokens, fixedTokens)) return ['trigger', ...byLength]
  return isDue(subject, policy, since, point) ? ['every', ...byLength] : byLength
}

/** Whether a view would not fit, by the provider's count of it as far as that is known. */
function isBeyondBudget({ room, excess }: At, viewTokens: number): boolean {
  const tokens = room.aroundTokens + viewTokens + excess.differenceTokens + excess.marginTokens
  return tokens > room.budgetTokens + room.slackTokens
}

/** The thresholds of all passes: the lowest begins a stride, and each then runs if it has reached its own. */
function thresholdsOf(policy: Policy): number[] {
  const own = [
    policy.fold.at,
    policy.clear.enabled ? policy.clear.at : null,
    // At zero a pass runs from the first time a message is sent and needs no stride for it.
    policy.preview.at === 0 ? null : policy.preview.at,
    policy.render.enabled && policy.render.at !== 0 ? policy.render.at : null,
  ]
  return [triggerOf(policy), ...own.filter((at) => at !== null)]
}

function isDue(subject: Subject, policy: Policy, since: number, point: number): boolean {
  const { turns, tool_calls: toolCalls } = policy.every
  if (turns === 0 && toolCalls === 0) return false
  // A turn has passed when the next begins: before the first stride the first user message ends none.
  let users = since === subject.structure.systemCount ? -1 : 0
  let calls = 0
  for (let index = since; index < point; index += 1) {
    const facts = subject.messages[index]?.facts
    if (isSaidByUser(subject, index)) users += 1
    calls += facts?.callIds.length ?? 0
  }
  return (turns > 0 && users >= turns) || (toolCalls > 0 && calls >= toolCalls)
}
