import { type Room, thresholdTokens } from '../tokens/budget.ts'
import { type Compaction, type CompactionReason, UNTOUCHED } from './compaction.ts'
import { hasLimit, isOverLimit, lengthOf } from './plan/view-length.ts'
import { pinnedTokens } from './plan/pins.ts'
import { textPasses } from './passes/passes.ts'
import { triggerOf, type Profile } from '../profiles/schema.ts'
import { isSaidByUser } from './history/history.ts'
import type { TokenCounts } from './token-counts.ts'

/** A request point at which a further compaction may be due. */
export type Moment = {
  readonly point: number
  /** The compaction that the conversation stands in so far; null where it stands in none. */
  readonly compaction: Compaction | null
  readonly room: Room
  /** Tokens of its view, without what surrounds the conversation. */
  readonly viewTokens: number
  /** How much more the provider has counted of this view than we did, in our tokens; may be below zero. */
  readonly differenceTokens: number
  /** Whether the operator asked for a compaction, whatever the pressure. */
  readonly forced: boolean
}

/** Why a compaction is due. If none comes of the first reason, the next one is tried. */
export function dueReasons(counts: TokenCounts, moment: Moment): readonly CompactionReason[] {
  const { history, profile } = counts
  const { room, point, compaction } = moment
  // If the same request is made again, the compaction that was asked for has been made.
  if (moment.forced && (compaction === null || compaction.point < point)) return ['forced']
  if (profile.trigger === 'off') return []
  if (isBeyondBudget(moment)) return ['trigger']
  // A view that is sent again stays as it is, although its count may have come in meanwhile.
  if (compaction?.point === point) return []
  const since = compaction?.point ?? history.structure.systemCount
  if (counts.originalTokens(since, point) < profile.min_growth_tokens) return []
  const isLong =
    hasLimit(profile) && isOverLimit(profile, lengthOf(history.structure, compaction ?? UNTOUCHED, point))
  const byLength: readonly CompactionReason[] = isLong ? ['limit'] : []
  const tokens = room.aroundTokens + moment.viewTokens + moment.differenceTokens
  const fixedTokens = room.aroundTokens + pinnedTokens(history, profile, point)
  if (tokens > lowestThresholdTokens(profile, room.budgetTokens, fixedTokens)) return ['trigger', ...byLength]
  return isDueByCount(counts, since, point) ? ['every', ...byLength] : byLength
}

/** Whether a view would not fit, by the provider's count of it as far as that is known. */
export function isBeyondBudget({ room, viewTokens, differenceTokens }: Moment): boolean {
  return room.aroundTokens + viewTokens + differenceTokens > room.budgetTokens
}

/** Where the first pass begins, in tokens of the whole prompt: below it no size makes a compaction due. */
export function lowestThresholdTokens(profile: Profile, budgetTokens: number, fixedTokens: number): number {
  const { fold, clear } = profile
  const settings = [
    triggerOf(profile),
    fold.at,
    clear.enabled ? clear.at : null,
    // At zero a pass edits a message from the first time it is sent and needs no compaction for it.
    ...textPasses.map(({ name, treats }) => (treats(profile, Infinity) ? profile[name].at || null : null)),
  ]
  const inForce = settings.filter((setting) => setting !== null)
  return Math.min(...inForce.map((setting) => thresholdTokens(setting, budgetTokens, fixedTokens)))
}

// --- internal ---

/** Whether so many turns or calls have passed since the last compaction that the profile wants another. */
function isDueByCount({ history, profile }: TokenCounts, since: number, point: number): boolean {
  const { turns, tool_calls: toolCalls } = profile.every
  if (turns === 0 && toolCalls === 0) return false
  // A turn has passed when the next begins: before the first compaction the first user message ends none.
  let users = since === history.structure.systemCount ? -1 : 0
  let calls = 0
  for (let index = since; index < point; index += 1) {
    if (isSaidByUser(history, index)) users += 1
    calls += history.messages[index]?.facts.callIds.length ?? 0
  }
  return (turns > 0 && users >= turns) || (toolCalls > 0 && calls >= toolCalls)
}
