import { LRUCache } from 'lru-cache'
import { isRound } from './truncation.ts'

/** A report from which a prompt may have been cut. */
export type SuspectReport = {
  /** In the provider's tokens. */
  readonly promptTokens: number
  readonly textBytes: number
  /** The window that would explain it, in the provider's tokens. */
  readonly windowTokens: number
  /** Whether the server is known to count: then the same number again is its cap, and not a habit. */
  readonly hasCounted: boolean
}

/** Reports that may or may not mean that a prompt was cut: it takes two of one conversation that agree. */
export type Suspicions = {
  /**
   * Takes a doubtful report. `confirmed`: the one before it means the same; `grown`: it grew with its prompt, so that
   * nothing caps it.
   */
  readonly take: (conversation: string, report: SuspectReport) => 'first' | 'confirmed' | 'grown'
  /** A prompt of this conversation was counted: what was suspected is not so. */
  readonly dispel: (conversation: string) => void
}

export function createSuspicions(options: {
  readonly conversationsMax: number
  readonly lifetimeMs: number
}): Suspicions {
  const suspected = new LRUCache<string, SuspectReport>({
    max: options.conversationsMax,
    ttl: options.lifetimeMs,
  })
  return {
    take: (conversation, report) => {
      const before = suspected.get(conversation)
      suspected.set(conversation, report)
      // The same prompt, and one that begins anew, say nothing of a cap.
      if (before === undefined || report.textBytes <= before.textBytes) return 'first'
      if (hasGrown(before, report)) return 'grown'
      return hasSameCap(before, report) ? 'confirmed' : 'first'
    },
    dispel: (conversation) => void suspected.delete(conversation),
  }
}

// --- internal ---

/** A cap does not grow with the prompt. Text has 0.2 tokens a byte and more; half of that is growth. */
const grownTokensPerByteMin = 0.1

function hasGrown(before: SuspectReport, after: SuspectReport): boolean {
  const addedBytes = after.textBytes - before.textBytes
  return after.promptTokens - before.promptTokens > addedBytes * grownTokensPerByteMin
}

function hasSameCap(before: SuspectReport, after: SuspectReport): boolean {
  // The same number comes from a server that does not count, or is its window.
  const isHabit = !after.hasCounted && !isRound(after.promptTokens)
  if (after.promptTokens === before.promptTokens && isHabit) return false
  return after.promptTokens <= before.windowTokens
}
