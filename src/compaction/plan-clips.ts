import type { Steps } from '../conversation/source.ts'
import { clipsByIndex, plannedTokens } from './layout.ts'
import type { Ledger } from './ledger.ts'
import { waterLevel } from './passes/clip.ts'
import type { Clip, Clippable, Fold, Reach, Stride } from './stride.ts'
import type { Subject } from './subject.ts'

export type ClipInput = {
  readonly pins: Pick<Stride, 'task' | 'latestUser'>
  readonly fold: Fold | null
  readonly reach: Reach
  readonly clips: readonly Clip[]
  readonly point: number
  /** What the view may weigh, without what surrounds it. */
  readonly allowedTokens: number
  /** The largest recap that the profile allows, in tokens. */
  readonly recapTokensMax: number
  /** Where the open round begins. */
  readonly openFrom: number
}

export type ClipPlan = {
  readonly clips: readonly Clip[]
  readonly fold: Fold | null
  readonly tokens: number
}

/**
 * The last means: contents of the open round are shortened, then those of the pinned recent messages, then
 * what is kept of old turns, then the task, the largest first; then the latest user message loses media, the first of them first. Where even
 * that is too much, the open round is folded too. System messages and the latest user's text are never touched.
 */
export function* planClips(subject: Subject, ledger: Ledger, input: ClipInput): Steps<ClipPlan> {
  const { systemCount } = subject.structure
  let clips = input.clips
  let fold = input.fold
  const weigh = function* weigh(): Steps<number> {
    return yield* plannedTokens(
      ledger,
      { ...input.pins, fold, clips, reach: input.reach },
      systemCount,
      input.point,
    )
  }
  let tokens = yield* weigh()

  for (const floorTokens of [FLOOR_TOKENS, LEAST_TOKENS]) {
    for (const group of groupsOf(subject, input)) {
      if (tokens <= input.allowedTokens) return { clips, fold, tokens }
      clips = yield* clipGroup(ledger, input.reach, clips, group, tokens - input.allowedTokens, floorTokens)
      tokens = yield* weigh()
    }
  }
  const { latestUser } = input.pins
  const mediaCount = subject.messages[latestUser]?.facts.media.length ?? 0
  for (let mediaKept = mediaCount - 1; mediaKept >= 0 && tokens > input.allowedTokens; mediaKept -= 1) {
    clips = [
      ...clips.filter((clip) => clip.index !== latestUser),
      { kind: 'media', index: latestUser, mediaKept },
    ]
    tokens = yield* weigh()
  }
  for (const recap of [markOnly, withoutRecap]) {
    if (tokens <= input.allowedTokens || fold === null) break
    fold = { frontier: fold.frontier, kept: fold.kept, ...recap }
    tokens = yield* weigh()
  }
  if (tokens > input.allowedTokens) {
    return yield* foldWhole(ledger, systemCount, input, clips)
  }
  return { clips, fold, tokens }
}

// --- internal ---

/** A clipped message keeps about this much at first: a mark, and a line of its head and tail. */
const FLOOR_TOKENS = 64

/** Everything but the pinned messages folded, the open round included, with as much of a recap as fits. */
function* foldWhole(
  ledger: Ledger,
  systemCount: number,
  input: ClipInput,
  clips: readonly Clip[],
): Steps<ClipPlan> {
  const { pins, reach, point } = input
  const isPinned = (index: number): boolean => index === pins.task || index === pins.latestUser
  const left = clips.filter((clip) => isPinned(clip.index))
  const bare = { frontier: point, kept: [], ...withoutRecap }
  const bareTokens = yield* plannedTokens(
    ledger,
    { ...pins, fold: bare, clips: left, reach },
    systemCount,
    point,
  )
  const recapTokensMax = Math.min(input.recapTokensMax, input.allowedTokens - bareTokens)
  const split = pins.latestUser !== -1 && pins.latestUser !== pins.task ? 'afterTokensMax' : 'beforeTokensMax'
  const fold = { ...bare, [split]: Math.max(0, recapTokensMax) }
  const tokens = yield* plannedTokens(ledger, { ...pins, fold, clips: left, reach }, systemCount, point)
  return { clips: left, fold, tokens }
}

/** Where a recap does not fit, a mark says that something was left out; at the last not even that. */
const markOnly = {
  beforeTokensMax: 12,
  afterTokensMax: 12,
  systemTokensMax: 0,
  summaries: [],
  recapsBeside: false,
} as const
const withoutRecap = {
  beforeTokensMax: 0,
  afterTokensMax: 0,
  systemTokensMax: 0,
  summaries: [],
  recapsBeside: false,
} as const

/** The frame and one word. */
const LEAST_TOKENS = 1

function groupsOf(subject: Subject, input: ClipInput): number[][] {
  const tail = input.fold?.frontier ?? subject.structure.systemCount
  const clippable = (start: number, end: number): number[] => {
    const indexes: number[] = []
    for (let index = Math.max(start, tail); index < end; index += 1) {
      const role = subject.messages[index]?.facts.role
      const isFixed = index === input.pins.latestUser || index === input.pins.task
      if (!isFixed && role !== 'system' && role !== 'developer') indexes.push(index)
    }
    return indexes
  }
  const kept = input.fold?.kept.filter((index) => index !== input.pins.task) ?? []
  const task = input.pins.task !== -1 && input.pins.task !== input.pins.latestUser ? [input.pins.task] : []
  return [clippable(input.openFrom, input.point), clippable(tail, input.openFrom), kept, task]
}

/**
 * Shortens the messages of a group, the largest first, until their excess is gone. Frames and names cannot
 * be shortened: what stays above its level is set aside, and the others give way for it.
 */
function* clipGroup(
  ledger: Ledger,
  reach: Reach,
  clips: readonly Clip[],
  group: readonly number[],
  excessTokens: number,
  floorTokens: number,
): Steps<readonly Clip[]> {
  const byIndex = new Map(clips.map((clip) => [clip.index, clip]))
  const sizeOf = (index: number): Steps<number> =>
    ledger.treatedTokens(index, index + 1, reach, { byIndex, furthest: index })
  const sizes = new Map<number, number>()
  for (const index of group) sizes.set(index, yield* sizeOf(index))
  const goalTokens = sum(sizes.values()) - excessTokens
  const open = new Set(group.filter((index) => clippableAs(ledger, reach, index) !== null))
  while (open.size > 0 && sum(sizes.values()) > goalTokens) {
    const openSizes = [...open].map((index) => sizes.get(index) ?? 0)
    const level = waterLevel(openSizes, goalTokens - sum(sizes.values()) + sum(openSizes), floorTokens)
    let isLower = false
    for (const index of open) {
      const size = sizes.get(index) ?? 0
      const of = clippableAs(ledger, reach, index)
      if (size <= level || of === null) continue
      const earlier = byIndex.get(index)
      byIndex.set(index, { kind: 'content', index, of, tokensMax: level })
      const shortened = yield* sizeOf(index)
      // What cannot be brought to the level is set aside: that alone lowers the level for the others.
      if (shortened > level && open.delete(index)) isLower = true
      if (shortened >= size) {
        if (earlier === undefined) byIndex.delete(index)
        else byIndex.set(index, earlier)
        continue
      }
      sizes.set(index, shortened)
      isLower = true
    }
    if (!isLower) break
  }
  return [...byIndex.values()]
}

/** What a clip of this message starts from; null where the message was cleared. */
function clippableAs(ledger: Ledger, reach: Reach, index: number): Clippable | null {
  const { kind } = ledger.treatment(index, reach, NO_CLIPS)
  return kind === 'kept' || kind === 'rendered' || kind === 'previewed' ? kind : null
}

const NO_CLIPS = clipsByIndex([])

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}
