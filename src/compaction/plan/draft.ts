import type { Steps } from '../../conversation/source.ts'
import type { Compaction } from '../compaction.ts'
import { plannedTokens } from '../token-counts.ts'
import { editsOf } from '../edits.ts'
import { runs, thresholdOf, type Frame } from './frame.ts'

/** How far the planning of a compaction has come. */
export type Draft = Pick<Compaction, 'point' | 'reach' | 'fold' | 'clips' | 'thoughts'> & {
  /** Where the newest messages begin that no pass edits and no fold reaches. */
  readonly protectedFrom: number
  /** What its view takes in tokens, what surrounds it included. */
  readonly tokens: number
}

/** A draft and what its view comes to. */
export function* countedDraft(
  { counts, options, pins }: Frame,
  { point, reach, fold, clips, thoughts, protectedFrom }: Omit<Draft, 'tokens'>,
): Steps<Draft> {
  const viewTokens = yield* plannedTokens(counts, { ...pins, point, fold, clips, reach, thoughts }, point)
  return {
    point,
    reach,
    fold,
    clips,
    thoughts,
    protectedFrom,
    tokens: options.room.aroundTokens + viewTokens,
  }
}

/** The passes that edit single messages, cheapest first. */
const editingPasses = ['render', 'preview', 'clear'] as const

/** The passes that edit single messages, each as far as it has to reach: over the oldest first, until the aim is met. */
export function* editedFurther(
  frame: Frame,
  begun: Draft,
  aimTokens: number,
  keptResults: number,
): Steps<Draft> {
  const { counts, options, targetTokens } = frame
  const { subject, policy, editedTokens, followingTokens } = counts
  const edits = editsOf(begun)
  const start = begun.fold?.frontier ?? subject.structure.systemCount
  let { reach, tokens } = begun
  for (const pass of editingPasses) {
    const settings = policy[pass]
    if (('enabled' in settings && !settings.enabled) || !runs(frame, settings.at)) continue
    // A pass that begins below the target has nothing to aim at but its whole reach.
    const isAhead = settings.at !== null && thresholdOf(frame, settings.at) <= targetTokens
    const goalTokens = isAhead ? 0 : aimTokens
    // The newest results that the profile keeps; what is folded is not looked through for them.
    let left = pass === 'clear' && !options.smallest ? keptResults : 0
    let end = options.point
    while (end > start && left > 0) {
      end -= 1
      if (subject.messages[end]?.facts.role === 'tool') left -= 1
    }
    yield
    end = Math.min(end, begun.protectedFrom)
    for (let index = Math.max(start, reach[pass]); index < end && tokens > goalTokens; index += 1) {
      const now = { ...edits, reach }
      const further = { ...edits, reach: { ...reach, [pass]: index + 1 } }
      tokens -= yield* editedTokens(index, index + 1, now)
      tokens += yield* editedTokens(index, index + 1, further)
      tokens += yield* followingTokens(index, options.point, now, further)
      reach = further.reach
    }
  }
  return { ...begun, reach, tokens }
}
