import { layoutOf, rangeIndexes } from './layout.ts'
import type { Compaction, SummaryRange } from './compaction.ts'

type Folding = Pick<Compaction, 'task' | 'latestUser' | 'fold'>

/** The runs that a compaction folds, whatever stands for them: what one summary each would cover. */
export function rangesOf(compaction: Folding, systemCount: number): readonly SummaryRange[] {
  const bare = compaction.fold === null ? null : { ...compaction.fold, summaries: [] }
  const { before, after } = layoutOf({ ...compaction, fold: bare }, systemCount)
  return [before?.recap ?? null, after?.recap ?? null].flatMap((run) =>
    run === null ? [] : [{ start: run.start, end: run.end, except: run.except }],
  )
}

/** Whether something that a compaction folds was never summarised. */
export function hasUnsummarised(compaction: Folding, systemCount: number): boolean {
  const summaries = compaction.fold?.summaries ?? []
  return rangesOf(compaction, systemCount).some((range) => rangeIndexes(range, summaries).length > 0)
}
