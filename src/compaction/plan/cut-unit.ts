import type { Steps } from '../../conversation/source.ts'
import { clipGroup, HEAD_AND_TAIL_TOKENS } from './clip-group.ts'
import { clipsByIndex } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import type { PlanFrame } from './frame.ts'
import { isPinned } from './pinned-clips.ts'
import type { Reach, Compaction } from '../compaction.ts'
import { isSystem, type Subject } from '../subject.ts'

export type CutUnit = {
  readonly clips: Compaction['clips']
  /** Where the newest messages begin with it. */
  readonly protectedFrom: number
}

/**
 * Where the newest messages do not come to their share, because what lies before them is too large to stay whole: the
 * clips that leave of it what their share has room for, head and tail. The same clips where not even that is possible.
 */
export function* cutUnit(
  subject: Subject,
  ledger: Ledger,
  frame: PlanFrame,
  { reach, clips }: Pick<Compaction, 'clips'> & { readonly reach: Reach },
): Steps<CutUnit> {
  const { recentFrom, cutUnit: unit } = frame
  const uncut = { clips, protectedFrom: recentFrom }
  if (unit === null) return uncut
  const group: number[] = []
  for (let index = unit.from; index < recentFrom; index += 1) if (!isPinned(frame, index)) group.push(index)
  const sizeUnder = function* sizeUnder(made: Compaction['clips']): Steps<number> {
    const known = clipsByIndex(made)
    let tokens = 0
    for (const index of group) tokens += yield* ledger.treatedTokens(index, index + 1, reach, known)
    return tokens
  }
  const excessTokens = (yield* sizeUnder(clips)) - unit.tokensMax
  if (excessTokens <= 0) return { clips, protectedFrom: unit.from }
  const cuttable = group.filter((index) => !isSystem(subject, index))
  const cut = yield* clipGroup(ledger, reach, clips, cuttable, excessTokens, HEAD_AND_TAIL_TOKENS)
  return (yield* sizeUnder(cut)) <= unit.tokensMax ? { clips: cut, protectedFrom: unit.from } : uncut
}
