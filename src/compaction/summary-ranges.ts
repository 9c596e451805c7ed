import { layoutOf, rangeIndexes } from './layout.ts'
import type { Stride, SummaryRange } from './stride.ts'

type Folding = Pick<Stride, 'task' | 'latestUser' | 'fold'>

/** The runs that a stride folds, whatever stands for them: what one summary each would cover. */
export function rangesOf(stride: Folding, systemCount: number): readonly SummaryRange[] {
  const bare = stride.fold === null ? null : { ...stride.fold, summaries: [] }
  const { before, after } = layoutOf({ ...stride, fold: bare }, systemCount)
  return [before?.recap ?? null, after?.recap ?? null].flatMap((run) =>
    run === null ? [] : [{ start: run.start, end: run.end, except: run.except }],
  )
}

/** Whether something that a stride folds was never summarised. */
export function hasUnsummarised(stride: Folding, systemCount: number): boolean {
  const summaries = stride.fold?.summaries ?? []
  return rangesOf(stride, systemCount).some((range) => rangeIndexes(range, summaries).length > 0)
}
