import { ClientGoneError, FoldgateError } from '../errors.ts'

/** Where something of Foldgate's own can fail without failing a request. */
export const failingParts = [
  'store',
  'reading',
  'repair',
  'measure',
  'compaction',
  'recovery',
  'summary',
  'archive',
  'recall',
  'continuation',
  'observation',
] as const

export type FailingPart = (typeof failingParts)[number]

/** Keeps failures of Foldgate's own away from requests (P2): counted and recorded, and the request goes on. */
export type Failures = {
  /** What `work` returns; `instead` where it fails. A client that left ends the work all the same. */
  readonly around: <Result>(
    part: FailingPart,
    instead: Result,
    work: () => Promise<Result>,
  ) => Promise<Result>
  /** The same of work that is done at once. */
  readonly attempt: <Result>(part: FailingPart, instead: Result, work: () => Result) => Result
  /** Counts and records a failure outside of any request. */
  readonly note: (part: FailingPart, error: unknown) => void
  /** How often each part failed. */
  readonly counts: () => Readonly<Partial<Record<FailingPart, number>>>
}

export function createFailures(onFailure: (part: FailingPart, error: unknown) => void): Failures {
  const counts: Partial<Record<FailingPart, number>> = {}
  function note(part: FailingPart, error: unknown): void {
    counts[part] = (counts[part] ?? 0) + 1
    try {
      onFailure(part, error)
    } catch {
      // Whoever is told of a failure must not turn it into that of a request.
    }
  }
  return {
    note,
    around: async (part, instead, work) => {
      try {
        return await work()
      } catch (error) {
        if (error instanceof ClientGoneError || error instanceof FoldgateError) throw error
        note(part, error)
        return instead
      }
    },
    attempt: (part, instead, work) => {
      try {
        return work()
      } catch (error) {
        note(part, error)
        return instead
      }
    },
    counts: () => counts,
  }
}
