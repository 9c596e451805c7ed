import { renderTerminal as rendering } from '../../src/compaction/passes/render.ts'
import { standingSummary as standing } from '../../src/compaction/standing-summary.ts'
import { finish, type Steps } from '../../src/conversation/source.ts'

/** Work that can be paused, done without a pause: for tests of what comes of it. */
export function atOnce<Arguments extends readonly unknown[], Result>(
  work: (...given: Arguments) => Steps<Result>,
): (...given: Arguments) => Result {
  return (...given) => finish(work(...given))
}

export const renderTerminal = atOnce(rendering)

export const standingSummary = atOnce(standing)
