import type { Steps } from '../conversation/source.ts'
import { thresholdTokens } from '../pressure/pressure.ts'
import { planClips } from './plan-clips.ts'
import { layoutOf, plannedTokens, recapTokens, clipsByIndex, UNTOUCHED } from './layout.ts'
import type { Ledger } from './ledger.ts'
import type { Policy, Room } from './policy.ts'
import { FOLD_VERSION, type Fold, type Reach, type Stride, type StrideReason } from './stride.ts'
import type { Subject } from './subject.ts'

export type PlanOptions = {
  readonly point: number
  readonly previous: Stride | null
  readonly room: Room
  readonly reason: StrideReason
  /** How many of the newest messages to pin; the profile's number, halved by each overflow. */
  readonly keepRecent: number
  /** As little as possible: the last attempt of a recovery. */
  readonly smallest: boolean
  /** Whether frontiers before an assistant message are preferred. */
  readonly strict: boolean
}

/**
 * The next stride at a request point: the passes, cheapest first, until the view is at or below the
 * target; null where it would free too little to be worth a cache miss and nothing forces it.
 */
export function* planStride(
  subject: Subject,
  ledger: Ledger,
  policy: Policy,
  options: PlanOptions,
): Steps<Stride | null> {
  const { point, previous, room, reason } = options
  const { structure } = subject
  const systemCount = structure.systemCount
  const pins = pinsAt(subject, policy, point)
  const fixedTokens = room.aroundTokens + pinnedTokens(subject, pins)
  const targetTokens = options.smallest ? 0 : thresholdTokens(policy.target, room.budgetTokens, fixedTokens)
  const before = previous ?? UNTOUCHED
  const beforeTokens = room.aroundTokens + (yield* plannedTokens(ledger, before, systemCount, point))
  const mustFit = beforeTokens > room.budgetTokens + room.slackTokens
  const demanded = mustFit || reason === 'forced' || reason === 'overflow'
  const protectedFrom = protectedStart(subject, ledger, pins, options, targetTokens - fixedTokens)

  if (!demanded) {
    const freedMost = beforeTokens - fixedTokens - ledger.originalTokens(protectedFrom, point)
    if (freedMost < savingsMinTokens(room)) return null
  }
  const runs = (at: number | null): boolean =>
    demanded ||
    (at === null && policy.trigger === 'off') ||
    beforeTokens >= thresholdTokens(at ?? ratioOrTokens(policy), room.budgetTokens, fixedTokens)

  let reach: Reach = before.reach
  let fold: Fold | null = before.fold
  const carried = before.clips
  const weigh = function* weigh(): Steps<number> {
    return (
      room.aroundTokens +
      (yield* plannedTokens(ledger, { ...pins, fold, clips: carried, reach }, systemCount, point))
    )
  }
  // Pins may have moved since the stride before, so the sum under today's pins is where this one starts.
  let tokens = yield* weigh()

  if (policy.render.enabled && runs(policy.render.at) && tokens > targetTokens) {
    reach = { ...reach, render: Math.max(reach.render, protectedFrom) }
    tokens = yield* weigh()
  }
  if (runs(policy.preview.at) && tokens > targetTokens) {
    reach = { ...reach, preview: Math.max(reach.preview, protectedFrom) }
    tokens = yield* weigh()
  }
  if (policy.clear.enabled && runs(policy.clear.at) && tokens > targetTokens) {
    const keep = options.smallest ? 0 : policy.clear.keep_results
    reach = { ...reach, clear: Math.max(reach.clear, clearEnd(subject, point, protectedFrom, keep)) }
    tokens = yield* weigh()
  }
  if (runs(policy.fold.at) && tokens > targetTokens) {
    const capTokens = options.smallest
      ? Math.min(SMALLEST_RECAP_TOKENS, Math.max(0, Math.floor((room.budgetTokens - fixedTokens) / 4)))
      : recapCapTokens(policy, targetTokens - fixedTokens)
    const systemTokensMax = options.smallest ? 0 : Math.max(0, Math.floor(targetTokens * QUOTED_SYSTEM_SHARE))
    const foldAt = folding(subject, pins, capTokens, systemTokensMax)
    const frontier = yield* chooseFrontier(subject, ledger, {
      pins,
      reach,
      clips: carried,
      foldAt,
      targetTokens: targetTokens - room.aroundTokens,
      point,
      protectedFrom,
      after: fold?.frontier ?? systemCount,
      strict: options.strict,
    })
    if (frontier !== null) {
      fold = foldAt(frontier)
      tokens = yield* weigh()
    }
  }

  let clips: Stride['clips'] = carried.filter(
    (clip) =>
      clip.index >= (fold?.frontier ?? 0) || clip.index === pins.task || clip.index === pins.latestUser,
  )
  if (tokens > room.budgetTokens + room.slackTokens) {
    const planned = yield* planClips(subject, ledger, {
      pins,
      fold,
      reach,
      clips,
      point,
      allowedTokens: room.budgetTokens + room.slackTokens - room.aroundTokens,
      openFrom: structure.lastUnitStart(point),
    })
    clips = planned.clips
    fold = planned.fold
    tokens = room.aroundTokens + planned.tokens
  }

  if (!demanded && beforeTokens - tokens < savingsMinTokens(room)) return null
  if (tokens >= beforeTokens) return null
  return { version: FOLD_VERSION, reason, point, ...pins, reach, fold, clips }
}

/** The messages that a stride at this point pins by what they are. */
export function pinsAt(subject: Subject, policy: Policy, point: number): Pins {
  const task = subject.structure.task
  return {
    task: policy.keep.task && task !== -1 && task < point ? task : -1,
    latestUser: subject.structure.latestUserBefore(point),
  }
}

export type Pins = Pick<Stride, 'task' | 'latestUser'>

/** Tokens of the pinned messages, a message that is both counted once. */
export function pinnedTokens(subject: Subject, pins: Pins): number {
  const task = pins.task === -1 ? 0 : (subject.sizes[pins.task] ?? 0)
  const latest =
    pins.latestUser === -1 || pins.latestUser === pins.task ? 0 : (subject.sizes[pins.latestUser] ?? 0)
  return task + latest
}

/** A stride that would free less waits until the budget forces it. */
export function savingsMinTokens(room: Room): number {
  return Math.max(SAVINGS_MIN_TOKENS, Math.floor(room.budgetTokens * SAVINGS_MIN_SHARE))
}

// --- internal ---

const SAVINGS_MIN_TOKENS = 1024
const SAVINGS_MIN_SHARE = 0.1

/** The recap of the smallest form: enough for the names of what was done last. */
const SMALLEST_RECAP_TOKENS = 128

/** A recap never takes more than this share of the room under the target. */
const RECAP_SHARE = 0.3

function recapCapTokens(policy: Policy, roomTokens: number): number {
  return Math.max(0, Math.min(policy.recap.max_tokens, Math.floor(roomTokens * RECAP_SHARE)))
}

/** Where passes have no threshold of their own they run with the trigger; with `off`, only what is demanded runs. */
function ratioOrTokens(policy: Policy): number {
  return policy.trigger === 'off' ? 1 : policy.trigger
}

/**
 * Where the protected tail begins: the open round, and before it the newest messages in whole units, as
 * far as they take no more than half of the room under the target.
 */
function protectedStart(
  subject: Subject,
  ledger: Ledger,
  pins: Pins,
  options: PlanOptions,
  roomTokens: number,
): number {
  const { structure } = subject
  const openFrom = structure.lastUnitStart(options.point)
  const recentTokensMax = roomTokens / 2
  let start = openFrom
  let tokens = 0
  while (start > structure.systemCount && options.point - start < options.keepRecent) {
    const unit = structure.unitStart(start - 1)
    for (let index = unit; index < start; index += 1) {
      if (index !== pins.task && index !== pins.latestUser) tokens += ledger.originalTokens(index, index + 1)
    }
    if (tokens > recentTokensMax) break
    start = unit
  }
  return Math.max(start, structure.systemCount)
}

function clearEnd(subject: Subject, point: number, protectedFrom: number, keepResults: number): number {
  let left = keepResults
  let end = point
  while (end > 0 && left > 0) {
    end -= 1
    if (subject.messages[end]?.facts.role === 'tool') left -= 1
  }
  return Math.min(end, protectedFrom)
}

type FrontierChoice = {
  readonly pins: Pins
  readonly reach: Reach
  readonly clips: Stride['clips']
  readonly foldAt: (frontier: number) => Fold
  readonly targetTokens: number
  readonly point: number
  readonly protectedFrom: number
  readonly after: number
  readonly strict: boolean
}

/** The first frontier at which the view comes down to the target, else the last one before the protected tail. */
function* chooseFrontier(subject: Subject, ledger: Ledger, choice: FrontierChoice): Steps<number | null> {
  const { structure } = subject
  const clips = clipsByIndex(choice.clips)
  let tailTokens = yield* ledger.treatedTokens(choice.after, choice.point, choice.reach, clips)
  let chosen: number | null = null
  for (let index = choice.after + 1; index <= choice.protectedFrom; index += 1) {
    tailTokens -= yield* ledger.treatedTokens(index - 1, index, choice.reach, clips)
    if (!structure.isFrontier(index)) continue
    const layout = layoutOf({ ...choice.pins, fold: choice.foldAt(index) }, structure.systemCount)
    if (layout.before === null && layout.after === null) continue
    const isAgreeable = !choice.strict || subject.messages[index]?.facts.role === 'assistant'
    if (isAgreeable || chosen === null || index === choice.protectedFrom)
      chosen = isAgreeable || chosen === null ? index : chosen
    const pinned =
      (layout.task === null ? 0 : (subject.sizes[layout.task] ?? 0)) +
      (layout.latestUser === null ? 0 : (subject.sizes[layout.latestUser] ?? 0))
    const tokens = pinned + recapTokens(layout.before) + recapTokens(layout.after) + tailTokens
    if (tokens <= choice.targetTokens && isAgreeable) return index
  }
  return chosen
}

/**
 * The fold at any frontier: a recap of what lies before the latest user message takes its share of the cap
 * where there is one behind it too, and quoted system messages come on top.
 */
function folding(
  subject: Subject,
  pins: Pins,
  capTokens: number,
  systemTokensMax: number,
): (frontier: number) => Fold {
  const { systemCount } = subject.structure
  const systemSums = [0]
  for (const [index, { facts }] of subject.messages.entries()) {
    const isSystem = index >= systemCount && (facts.role === 'system' || facts.role === 'developer')
    systemSums.push((systemSums[index] ?? 0) + (isSystem ? (subject.sizes[index] ?? 0) + QUOTE_TOKENS : 0))
  }
  const quoted = (start: number, end: number): number =>
    Math.min(systemTokensMax, (systemSums[end] ?? 0) - (systemSums[start] ?? 0))
  return (frontier) => {
    const passesLatest =
      pins.latestUser !== -1 && pins.latestUser !== pins.task && pins.latestUser < frontier - 1
    const split = passesLatest ? pins.latestUser : frontier
    const beforeTokens = passesLatest ? Math.floor(capTokens * BEFORE_SHARE) : capTokens
    return {
      frontier,
      beforeTokensMax: beforeTokens + quoted(systemCount, split),
      afterTokensMax: passesLatest ? capTokens - beforeTokens + quoted(split, frontier) : 0,
      systemTokensMax,
    }
  }
}

/** Of two recaps the one of all that lies before the latest user message takes the larger part. */
const BEFORE_SHARE = 0.6

/** Folded system messages are quoted within this share of the target. */
const QUOTED_SYSTEM_SHARE = 0.25

/** The words around a quoted system message. */
const QUOTE_TOKENS = 4
