import { ClientGoneError, FoldgateError } from '../errors.ts'
import type { Log } from './log/log.ts'
import type { Eventual } from '../scheduling/drive.ts'
import { createThrottle } from './log/throttle.ts'
import { storeAdvice, troubleOf } from '../storage/store-error.ts'

/** The parts of Foldgate that can fail without failing a request. */
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

export type Failures = ReturnType<typeof createFailures>

/** Keeps failures of Foldgate's own away from requests (P2): counted and recorded, and the request goes on. */
export function createFailures(onFailure: (part: FailingPart, error: unknown) => void) {
  /** Counts and records a failure outside of any request. */
  function note(part: FailingPart, error: unknown): void {
    try {
      onFailure(part, error)
    } catch {
      // A listener must not turn this into a failure of the request.
    }
  }

  /** What `work` returns of these arguments; `instead` if it fails. A client that left ends the work all the same. */
  function around<Result, Given extends readonly unknown[]>(
    part: FailingPart,
    instead: Result,
    work: (...given: Given) => Eventual<Result>,
    ...given: Given
  ): Eventual<Result> {
    function failed(error: unknown): Result {
      if (error instanceof ClientGoneError || error instanceof FoldgateError) throw error
      note(part, error)
      return instead
    }
    try {
      const working = work(...given)
      return working instanceof Promise ? working.catch(failed) : working
    } catch (error) {
      return failed(error)
    }
  }

  /** The same of work that is done at once. */
  function attempt<Result, Given extends readonly unknown[]>(
    part: FailingPart,
    instead: Result,
    work: (...given: Given) => Result,
    ...given: Given
  ): Result {
    try {
      return work(...given)
    } catch (error) {
      note(part, error)
      return instead
    }
  }

  return { note, around, attempt }
}

/**
 * Logs what failed inside Foldgate: at once, and the same again at most every ten seconds, with how often it happened in
 * between. A store that refuses every write would fill the log otherwise. It is told in figures and names, with nothing of what it
 * was about. `nowMs` and `onTold`, which is told the same, must not throw. What it returns returns why a store or an archive failed.
 */
export function createFailureLog(
  log: Log,
  storeName: string,
  nowMs = (): number => performance.now(),
  onTold: (part: FailingPart, details: Readonly<Record<string, string>>, times: number) => void = () => {},
): (part: FailingPart, error: unknown) => string | null {
  const timesToTell = createThrottle(nowMs, GAP_MS)
  return function tellFailure(part, error) {
    // A full disk is the operator's to see to.
    const reason = part === 'store' || part === 'archive' ? troubleOf(error) : null
    // Of what says itself why it failed, which error it was would tell nothing.
    const isUnknown = reason === null || !(error instanceof Error) || reason === error.constructor.name
    const details = { ...(isUnknown && { error: nameOf(error) }), ...(reason !== null && { reason }) }
    const times = timesToTell(JSON.stringify({ part, ...details }))
    if (times === null) return reason
    const told = { part, ...details, ...(times === 1 ? {} : { times }) }
    if (part !== 'store') log.error('a part of Foldgate failed', told)
    else log.error(`the store fails: ${storeAdvice(storeName)}`, { ...told, store: storeName })
    onTold(part, details, times)
    return reason
  }
}

// --- internal ---

/** How long the same failure is only counted, in milliseconds. */
const GAP_MS = 10_000

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  // Messages of foreign errors may quote what they were given; a stack's first frame says where to look.
  const frame = error.stack?.split('\n').find((line) => line.trimStart().startsWith('at '))
  return `${error.name} ${frame?.trim() ?? ''}`.trim()
}
