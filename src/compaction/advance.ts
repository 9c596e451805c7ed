import type { Steps } from '../conversation/source.ts'
import { thresholdTokens } from '../pressure/pressure.ts'
import { plannedTokens, UNTOUCHED } from './layout.ts'
import type { Ledger } from './ledger.ts'
import { pinnedTokens, pinsAt } from './pins.ts'
import { planStride, type PlanOptions } from './plan.ts'
import type { Policy, Room } from './policy.ts'
import type { Stride, StrideReason } from './stride.ts'
import type { Subject } from './subject.ts'

export type AdvanceOptions = {
  /** The newest stride on record that is a prefix of the conversation. */
  readonly newest: Stride | null
  /** Numbers that today's calibration and one request's odd limit do not move: the past is derived with them. */
  readonly nominal: Room
  /** Today's numbers: they decide whether one more stride is needed now. */
  readonly actual: Room
  readonly strict: boolean
  /** A stride now, whatever the pressure. */
  readonly forced: boolean
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
): Steps<Stride | null> {
  const end = subject.messages.length
  let stride = options.newest
  for (const point of subject.structure.requestPoints) {
    if (stride !== null && point <= stride.point) continue
    stride =
      (yield* strideAt(subject, ledger, policy, {
        ...options,
        point,
        stride,
        room: options.nominal,
        forced: false,
      })) ?? stride
  }
  const last = { ...options, point: end, stride, room: options.actual }
  return (yield* strideAt(subject, ledger, policy, last)) ?? stride
}

/** Where the first pass begins, in tokens of the whole prompt: below it no size makes a stride due. */
export function lowestThresholdTokens(policy: Policy, budgetTokens: number, fixedTokens: number): number {
  return Math.min(
    ...thresholdsOf(policy).map((setting) => thresholdTokens(setting, budgetTokens, fixedTokens)),
  )
}

// --- internal ---

type At = {
  readonly point: number
  readonly stride: Stride | null
  readonly room: Room
  readonly strict: boolean
  readonly forced: boolean
}

function* strideAt(subject: Subject, ledger: Ledger, policy: Policy, at: At): Steps<Stride | null> {
  const reason = yield* reasonAt(subject, ledger, policy, at)
  if (reason === null) return null
  const options: PlanOptions = {
    point: at.point,
    previous: at.stride,
    room: at.room,
    reason,
    keepRecent: policy.keep.recent_messages,
    smallest: false,
    strict: at.strict,
  }
  return yield* planStride(subject, ledger, policy, options)
}

/** Why a stride is due at a request point; null where none is. */
function* reasonAt(subject: Subject, ledger: Ledger, policy: Policy, at: At): Steps<StrideReason | null> {
  if (at.forced) return 'forced'
  if (policy.trigger === 'off') return null
  const { room, point, stride } = at
  const { systemCount } = subject.structure
  const tokens = room.aroundTokens + (yield* plannedTokens(ledger, stride ?? UNTOUCHED, systemCount, point))
  if (tokens > room.budgetTokens + room.slackTokens) return 'trigger'
  const since = stride?.point ?? systemCount
  if (ledger.originalTokens(since, point) < policy.min_growth_tokens) return null
  const fixedTokens = room.aroundTokens + pinnedTokens(subject, pinsAt(subject, policy, point))
  if (tokens >= lowestThresholdTokens(policy, room.budgetTokens, fixedTokens)) return 'trigger'
  return isDue(subject, policy, since, point) ? 'every' : null
}

/** The thresholds of all passes: the lowest begins a stride, and each then runs if it has reached its own. */
function thresholdsOf(policy: Policy): number[] {
  const trigger = policy.trigger === 'off' ? 1 : policy.trigger
  const own = [
    policy.fold.at,
    policy.clear.enabled ? policy.clear.at : null,
    // At zero a pass runs from the first time a message is sent and needs no stride for it.
    policy.preview.at === 0 ? null : policy.preview.at,
    policy.render.enabled && policy.render.at !== 0 ? policy.render.at : null,
  ]
  return [trigger, ...own.filter((at) => at !== null)]
}

function isDue(subject: Subject, policy: Policy, since: number, point: number): boolean {
  const { turns, tool_calls: toolCalls } = policy.every
  if (turns === 0 && toolCalls === 0) return false
  let users = 0
  let calls = 0
  for (let index = since; index < point; index += 1) {
    const facts = subject.messages[index]?.facts
    if (facts?.role === 'user') users += 1
    calls += facts?.callIds.length ?? 0
  }
  return (turns > 0 && users > turns) || (toolCalls > 0 && calls >= toolCalls)
}
