import { LRUCache } from 'lru-cache'
import type { Log } from './log.ts'
import type { FailingPart } from './proxy/failures.ts'
import { troubleOf } from './stores/store-error.ts'

/**
 * Tells the operator what failed inside Foldgate: at once, and the same again at most every ten seconds, with how often
 * it happened in between. A store that refuses every write would fill the log otherwise. `nowMs` must not throw.
 */
export function createFailureLog(
  log: Log,
  nowMs = (): number => performance.now(),
): (part: FailingPart, error: unknown) => void {
  const told = new LRUCache<string, { readonly atMs: number; untold: number }>({ max: TOLD_MAX })
  return function tellFailure(part, error) {
    const facts = {
      part,
      error: nameOf(error),
      // A full disk is the operator's to see to.
      ...(part === 'store' ? { reason: troubleOf(error) } : {}),
    }
    const name = JSON.stringify(facts)
    const last = told.get(name)
    const now = nowMs()
    if (last !== undefined && now - last.atMs < GAP_MS) {
      last.untold += 1
      return
    }
    told.set(name, { atMs: now, untold: 0 })
    const untold = last?.untold ?? 0
    log.error('a part of Foldgate failed', { ...facts, ...(untold === 0 ? {} : { times: untold + 1 }) })
  }
}

// --- internal ---

/** How long the same failure is only counted, in milliseconds. */
const GAP_MS = 10_000

/** Different failures that are remembered. */
const TOLD_MAX = 100

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  // Messages of foreign errors may quote what they were given; a stack's first frame says where to look.
  const frame = error.stack?.split('\n').find((line) => line.trimStart().startsWith('at '))
  return `${error.name} ${frame?.trim() ?? ''}`.trim()
}
