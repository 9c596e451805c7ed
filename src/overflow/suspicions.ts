import { LRUCache } from 'lru-cache'
import { isRound } from './truncation.ts'

/** A report from which a prompt may have been cut. */
export type SuspectReport = {
  /** In the provider's tokens. */
  readonly promptTokens: number
  readonly textBytes: number
  /** Our count of the text of messages; null where nothing was counted. */
  readonly ownTextTokens: number | null
  /** The window that would explain it, in the provider's tokens. */
  readonly windowTokens: number
  /** Whether the server is known to count: then the same number again is its cap, and not a habit. */
  readonly hasCounted: boolean
}

/** Whose prompt it was: two models may carry the same conversation. */
export type SuspectName = { readonly calibrationName: string; readonly conversation: string }

/** Reports that may or may not mean that a prompt was cut: it takes two of one conversation that agree. */
export type Suspicions = {
  /**
   * Takes a doubtful report. `confirmed`: the one before it means the same; `grown`: it grew with its prompt, so that
   * nothing caps it.
   */
  readonly take: (name: SuspectName, report: SuspectReport) => 'first' | 'confirmed' | 'grown'
  /** A prompt of this conversation was counted: what was suspected is not so. */
  readonly dispel: (name: SuspectName) => void
  /** Whether the next prompt is to be counted whatever its size: only a count can say what an odd report means. */
  readonly wantsCount: (name: SuspectName) => boolean
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
    take: (name, report) => {
      const key = keyOf(name)
      const before = suspected.get(key)
      suspected.set(key, report)
      // The same prompt, and one that begins anew, say nothing of a cap.
      if (before === undefined || report.textBytes <= before.textBytes) return 'first'
      if (hasGrown(before, report)) return 'grown'
      return hasSameCap(before, report) ? 'confirmed' : 'first'
    },
    dispel: (name) => void suspected.delete(keyOf(name)),
    wantsCount: (name) => suspected.has(keyOf(name)),
  }
}

// --- internal ---

/** A cap does not grow with the prompt; a count does, by half of our own in the tersest of tokenizers. */
const grownShareMin = 0.4
/** The same where nothing was counted: text has 0.2 tokens a byte and more. */
const grownTokensPerByteMin = 0.1

function keyOf({ calibrationName, conversation }: SuspectName): string {
  return `${calibrationName} ${conversation}`
}

function hasGrown(before: SuspectReport, after: SuspectReport): boolean {
  const isCounted = before.ownTextTokens !== null && after.ownTextTokens !== null
  const grownTokensMin = isCounted
    ? (after.ownTextTokens - before.ownTextTokens) * grownShareMin
    : (after.textBytes - before.textBytes) * grownTokensPerByteMin
  return after.promptTokens - before.promptTokens > grownTokensMin
}

function hasSameCap(before: SuspectReport, after: SuspectReport): boolean {
  // The same number comes from a server that does not count, or is its window.
  const isHabit = !after.hasCounted && !isRound(after.promptTokens)
  if (after.promptTokens === before.promptTokens && isHabit) return false
  return after.promptTokens <= before.windowTokens
}
