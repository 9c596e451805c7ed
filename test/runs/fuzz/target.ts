import * as fc from 'fast-check'
import { takeUncaught } from './uncaught.ts'

/** What became of an input, in a few words that many inputs share: "relayed", "400 path_not_allowed". */
export type Fate = string

/** One kind of bad input: where it comes from, and what has to hold of it. */
export type FuzzTarget = {
  readonly name: string
  /** How much of a run's time it gets, beside the others. */
  readonly share: number
  /** How fates begin without which a run has shown nothing. */
  readonly shows: readonly Fate[]
  readonly open: () => Promise<OpenTarget>
}

/** A target with all that it needs started. */
export type OpenTarget = {
  /** Tries inputs until the time is up; `onInput` is told what became of each, and how long that took. */
  readonly run: (options: BatchOptions) => Promise<Counterexample | null>
  readonly close: () => Promise<void>
}

export type BatchOptions = {
  readonly seed: number
  readonly inputs: number
  /** Where in the batch a counterexample stands that is tried again; null: the whole batch. */
  readonly path: string | null
  readonly onInput: (fate: Fate, elapsedMs: number) => void
  readonly isTimeUp: () => boolean
}

/** The smallest input that was found to fail. */
export type Counterexample = { readonly path: string; readonly input: string; readonly error: string }

/** A target out of a generator and a check, which returns an input's fate and throws where something is wrong with it. */
export function openTarget<Value>(parts: {
  readonly arbitrary: fc.Arbitrary<Value>
  readonly check: (input: Value) => Promise<Fate>
  readonly close: () => Promise<void>
}): OpenTarget {
  return {
    close: parts.close,
    run: async ({ seed, inputs, path, onInput, isTimeUp }) => {
      let failedAtMs: number | null = null
      const property = fc.asyncProperty(parts.arbitrary, async (input) => {
        // What is skipped passes: a batch ends with the time, and so does the search for a smaller input.
        if (failedAtMs === null ? isTimeUp() : performance.now() - failedAtMs > SHRINKING_MS) return
        const beganMs = performance.now()
        try {
          const fate = await parts.check(input)
          const uncaught = await takeUncaught()
          if (uncaught.length > 0) throw new Error(uncaught.join('\n'))
          if (failedAtMs === null) onInput(fate, performance.now() - beganMs)
        } catch (error) {
          if (failedAtMs === null) onInput('failed', performance.now() - beganMs)
          failedAtMs ??= performance.now()
          throw error
        }
      })
      const details = await fc.check(property, {
        seed,
        numRuns: inputs,
        ...(path === null ? {} : { path, endOnFailure: true }),
      })
      if (!details.failed) return null
      const { counterexamplePath, counterexample, errorInstance } = details
      return {
        path: counterexamplePath ?? '',
        input: fc.stringify(counterexample),
        error: errorInstance instanceof Error ? errorInstance.message : String(errorInstance),
      }
    },
  }
}

// --- internal ---

/** How long a smaller input is looked for, in milliseconds. */
const SHRINKING_MS = 30_000
