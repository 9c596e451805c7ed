import type { Log } from '../log/log.ts'
import type { FailingPart } from './failures.ts'
import { troubleOf } from '../stores/store-error.ts'
import { createThrottle } from '../log/throttle.ts'

/** What is told of a failure: figures and names, nothing of what it was about. */
export type FailureFacts = {
  readonly part: FailingPart
  readonly error: string
  /** Of a store or an archive that failed: why. */
  readonly reason?: string
}

/**
 * Tells the operator what failed inside Foldgate: at once, and the same again at most every ten seconds, with how often
 * it happened in between. A store that refuses every write would fill the log otherwise. `nowMs` and `onTold`, which is
 * told the same, must not throw.
 */
export function createFailureLog(
  log: Log,
  nowMs = (): number => performance.now(),
  onTold: (facts: FailureFacts, times: number) => void = () => {},
): (part: FailingPart, error: unknown) => void {
  const timesToTell = createThrottle({ gapMs: GAP_MS, nowMs })
  return function tellFailure(part, error) {
    const facts: FailureFacts = {
      part,
      error: nameOf(error),
      // A full disk is the operator's to see to.
      ...(part === 'store' || part === 'archive' ? { reason: troubleOf(error) } : {}),
    }
    const times = timesToTell(JSON.stringify(facts))
    if (times === null) return
    log.error('a part of Foldgate failed', { ...facts, ...(times === 1 ? {} : { times }) })
    onTold(facts, times)
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
