import { renderTerminal as rendering } from '../../src/compaction/terminal/render-terminal.ts'
import { standingSummary as standing } from '../../src/compaction/standing-summary.ts'
import { runAtOnce, type Pausable, type Source } from '../../src/json/source.ts'
import type { History } from '../../src/compaction/history/history.ts'

/** Work that can be paused, done without a pause: for tests of what comes of it. */
export const atOnce =
  <Arguments extends readonly unknown[], Result>(
    work: (...given: Arguments) => Pausable<Result>,
  ): ((...given: Arguments) => Result) =>
  (...given) =>
    runAtOnce(work(...given))

export const renderTerminal = atOnce(rendering)

export const standingSummary = atOnce(standing)

/** A history whose reading and counting is measured, and what was done of it between two pauses at the most. */
export type Metered = {
  readonly history: History
  /** Runs paused work to its end; its result, how often it paused, and the most that it did in between, in units. */
  readonly drive: <Result>(steps: Pausable<Result>) => Driven<Result>
}

export type Driven<Result> = { readonly result: Result; readonly pauses: number; readonly mostUnits: number }

/**
 * What may be done between two pauses: a byte that is read from the body is one unit, a character that is counted is
 * `COUNTED_UNITS`. Units are of about ten nanoseconds on a machine of today: so a promise about time is held without a
 * clock, which would lie on a busy machine.
 */
export const UNITS_MAX = 1_500_000

/** Measures a history. It is counted three characters a token, with a pause wherever Foldgate's counter has one. */
export function metered(history: History): Metered {
  let units = 0
  const countSteps = function* countSteps(text: string): Pausable<number> {
    for (let start = 0; start < text.length; start += COUNTED_CHARS_PER_STEP) {
      units += COUNTED_UNITS * Math.min(COUNTED_CHARS_PER_STEP, text.length - start)
      yield
    }
    return Math.ceil(text.length / 3)
  }
  const read = (source: Source): Source => ({
    ...source,
    latin1: (start, end) => {
      units += end - start
      return source.latin1(start, end)
    },
    text: (start, end) => {
      units += end - start
      return source.text(start, end)
    },
    joined: (pieces) => read(source.joined(pieces)),
  })
  return {
    history: {
      ...history,
      source: read(history.source),
      count: (text) => {
        units += COUNTED_UNITS * text.length
        return Math.ceil(text.length / 3)
      },
      countSteps,
    },
    drive: (steps) => {
      let [pauses, mostUnits] = [0, 0]
      for (;;) {
        units = 0
        const step = steps.next()
        mostUnits = Math.max(mostUnits, units)
        if (step.done === true) return { result: step.value, pauses, mostUnits }
        pauses += 1
      }
    },
  }
}

const COUNTED_UNITS = 10

/** As `src/tokens/bpe-counter.ts` pauses. */
const COUNTED_CHARS_PER_STEP = 32_768
