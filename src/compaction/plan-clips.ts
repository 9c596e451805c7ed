import type { Steps } from '../conversation/source.ts'
import { clipsByIndex, plannedTokens } from './layout.ts'
import type { Ledger } from './ledger.ts'
import { waterLevel } from './passes/clip.ts'
import type { Clip, Fold, Reach, Stride } from './stride.ts'
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
 * the task, the largest first; then the latest user message loses its media. Where even that is too much,
 * the open round is folded too. System messages and the latest user's text are never touched.
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
  if (tokens > input.allowedTokens) {
    clips = withoutLatestMedia(subject, input.pins.latestUser, clips)
    tokens = yield* weigh()
  }
  for (const recap of [markOnly, withoutRecap]) {
    if (tokens <= input.allowedTokens || fold === null) break
    fold = { frontier: fold.frontier, ...recap }
    tokens = yield* weigh()
  }
  if (tokens > input.allowedTokens) {
    const whole = yield* foldWhole(ledger, systemCount, input, clips)
    if (whole !== null) return whole
  }
  return { clips, fold, tokens }
}

// --- internal ---

/** A clipped message keeps about this much at first: a mark, and a line of its head and tail. */
const FLOOR_TOKENS = 64

/**
 * Everything but the pinned messages folded, the open round included, with as much of a recap as fits. Null
 * where that would leave nothing to send.
 */
function* foldWhole(
  ledger: Ledger,
  systemCount: number,
  input: ClipInput,
  clips: readonly Clip[],
): Steps<ClipPlan | null> {
  const { pins, reach, point } = input
  const isPinned = (index: number): boolean => index === pins.task || index === pins.latestUser
  const left = clips.filter((clip) => isPinned(clip.index))
  const bare = { frontier: point, ...withoutRecap }
  const bareTokens = yield* plannedTokens(
    ledger,
    { ...pins, fold: bare, clips: left, reach },
    systemCount,
    point,
  )
  const recapTokensMax = Math.min(input.recapTokensMax, input.allowedTokens - bareTokens)
  const hasAnchor = pins.task !== -1 || pins.latestUser !== -1
  if (!hasAnchor && recapTokensMax < RECAP_TOKENS_MIN) return null
  const split = pins.latestUser !== -1 && pins.latestUser !== pins.task ? 'afterTokensMax' : 'beforeTokensMax'
  const fold = { ...bare, [split]: Math.max(0, recapTokensMax) }
  const tokens = yield* plannedTokens(ledger, { ...pins, fold, clips: left, reach }, systemCount, point)
  return { clips: left, fold, tokens }
}

/** Below this a recap's own words do not fit. */
const RECAP_TOKENS_MIN = 64

/** Where a recap does not fit, a mark says that something was left out; at the last not even that. */
const markOnly = { beforeTokensMax: 12, afterTokensMax: 12, systemTokensMax: 0 } as const
const withoutRecap = { beforeTokensMax: 0, afterTokensMax: 0, systemTokensMax: 0 } as const

/** The frame and one word. */
const LEAST_TOKENS = 1

function withoutLatestMedia(subject: Subject, latestUser: number, clips: readonly Clip[]): readonly Clip[] {
  const mediaTokens = latestUser === -1 ? 0 : subject.mediaTokens(latestUser)
  if (mediaTokens === 0) return clips
  const tokensMax = (subject.sizes[latestUser] ?? 0) - mediaTokens
  return [...clips.filter((clip) => clip.index !== latestUser), { index: latestUser, tokensMax }]
}

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
  const task = input.pins.task !== -1 && input.pins.task !== input.pins.latestUser ? [input.pins.task] : []
  return [clippable(input.openFrom, input.point), clippable(tail, input.openFrom), task]
}

function* clipGroup(
  ledger: Ledger,
  reach: Reach,
  clips: readonly Clip[],
  group: readonly number[],
  excessTokens: number,
  floorTokens: number,
): Steps<readonly Clip[]> {
  const byIndex = new Map(clipsByIndex(clips))
  const sizes: number[] = []
  for (const index of group) sizes.push(yield* ledger.treatedTokens(index, index + 1, reach, byIndex))
  const groupTokens = sizes.reduce((sum, size) => sum + size, 0)
  const level = waterLevel(sizes, groupTokens - excessTokens, floorTokens)
  for (const [position, index] of group.entries()) {
    if ((sizes[position] ?? 0) > level) byIndex.set(index, level)
  }
  return [...byIndex].map(([index, tokensMax]) => ({ index, tokensMax }))
}
