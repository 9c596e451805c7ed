import { noGrowth, type Growth } from './growth.ts'
import {
  createOverheads,
  isOverheadsSnapshot,
  joinedOverheads,
  type Overheads,
  type OverheadsSnapshot,
} from './overheads.ts'

/** What answers of one upstream, model and credential taught of its count. */
export type Evidence = {
  /** How many counted prompts it rests on. */
  prompts: number
  growth: Growth
  habits: Habits
  readonly overheads: Overheads
}

/** How a provider has reported so far. */
export type Habits = {
  /** Whether it has counted a prompt that was counted here as well, or what was counted before. */
  readonly hasCounted: boolean
  /** How often it has counted what it must have had in its cache, since it last left that out; a few are all. */
  readonly cachedCounts: number
  /** A number that it reported of a text that cannot have so many tokens; null where it has not. */
  readonly constantTokens: number | null
}

/** Evidence as plain JSON. */
export type EvidenceSnapshot = {
  readonly prompts: number
  readonly growth: Growth
  readonly habits: Habits
  readonly overheads: OverheadsSnapshot
}

export const noHabits: Habits = { hasCounted: false, cachedCounts: 0, constantTokens: null }

export function newEvidence(): Evidence {
  return { prompts: 0, growth: noGrowth, habits: noHabits, overheads: createOverheads() }
}

export function isNothing({ prompts, habits }: Evidence): boolean {
  const { hasCounted, cachedCounts, constantTokens } = habits
  return prompts === 0 && !hasCounted && cachedCounts === 0 && constantTokens === null
}

export function writeEvidence({ prompts, growth, habits, overheads }: Evidence): EvidenceSnapshot {
  return { prompts, growth, habits, overheads: overheads.snapshot() }
}

/** What `writeEvidence` wrote; null where the value is damaged. */
export function readEvidence(value: unknown): Evidence | null {
  if (!isRecord(value)) return null
  const { prompts, growth, habits, overheads } = value
  if (!isSize(prompts) || !isGrowth(growth) || !isHabits(habits) || !isOverheadsSnapshot(overheads))
    return null
  return {
    prompts,
    growth: {
      promptTokens: growth.promptTokens,
      ownTokens: growth.ownTokens,
      startingTokens: growth.startingTokens,
    },
    habits: {
      hasCounted: habits.hasCounted,
      cachedCounts: habits.cachedCounts,
      constantTokens: habits.constantTokens,
    },
    overheads: createOverheads(overheads),
  }
}

/** What two have gathered: the one that rests on more prompts, with the surroundings that only the other has seen. */
export function joinedEvidence(known: Evidence, given: Evidence): Evidence {
  const [less, more] = given.prompts >= known.prompts ? [known, given] : [given, known]
  const overheads = joinedOverheads(less.overheads.snapshot(), more.overheads.snapshot())
  return { ...more, overheads: createOverheads(overheads) }
}

// --- internal ---

/** More than anything here grows to; whatever says more is damaged. */
const sizeMax = 1_000_000_000

function isGrowth(value: unknown): value is Growth {
  if (!isRecord(value)) return false
  const { promptTokens, ownTokens, startingTokens } = value
  // The ratio is a share of the two sums.
  return isSize(promptTokens) && isSize(ownTokens) && isSize(startingTokens) && ownTokens + startingTokens > 0
}

function isHabits(value: unknown): value is Habits {
  if (!isRecord(value)) return false
  const { hasCounted, cachedCounts, constantTokens } = value
  return (
    typeof hasCounted === 'boolean' &&
    isSize(cachedCounts) &&
    (constantTokens === null || isSize(constantTokens))
  )
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= sizeMax
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
