import { isRound } from './truncation.ts'

/** A report from which a prompt may have been cut, in the provider's tokens. */
export type SuspectReport = {
  readonly promptTokens: number
  readonly expectedTokens: number
  /** The window that would explain it. */
  readonly windowTokens: number
  /** Whether the server is known to count: then the same number again is its cap, and not a habit. */
  readonly countsCached: boolean
}

/** Reports that may or may not mean that a prompt was cut: it takes two that agree. */
export type Suspicions = {
  /**
   * Takes a doubtful report. `confirmed`: the one before it means the same; `refuted`: it grew with its prompt, so that
   * nothing caps it.
   */
  readonly take: (name: string, report: SuspectReport) => 'first' | 'confirmed' | 'refuted'
  /** A prompt of this size was counted whole: what was suspected below it is not so. */
  readonly dispel: (name: string, promptTokens: number) => void
}

export function createSuspicions(options: { readonly namesMax: number }): Suspicions {
  const suspected = new Map<string, SuspectReport>()
  return {
    take: (name, report) => {
      const before = suspected.get(name)
      suspected.delete(name)
      if (before !== undefined && hasGrown(before, report)) return 'refuted'
      suspected.set(name, report)
      const [oldest] = suspected.keys()
      if (suspected.size > options.namesMax && oldest !== undefined) suspected.delete(oldest)
      return before !== undefined && hasSameCap(before, report) ? 'confirmed' : 'first'
    },
    dispel: (name, promptTokens) => {
      const before = suspected.get(name)
      if (before !== undefined && promptTokens > before.windowTokens) suspected.delete(name)
    },
  }
}

// --- internal ---

/** A cap does not grow with the prompt. What a template drops stays as it is, and what is counted beside it grows. */
const growthShareMax = 0.5

function hasGrown(before: SuspectReport, after: SuspectReport): boolean {
  const growth = after.expectedTokens - before.expectedTokens
  return growth > 0 && after.promptTokens - before.promptTokens > growth * growthShareMax
}

function hasSameCap(before: SuspectReport, after: SuspectReport): boolean {
  // The same prompt says nothing new, and the same number comes from a server that does not count, or is its window.
  if (after.expectedTokens === before.expectedTokens) return false
  const isHabit = !after.countsCached && !isRound(after.promptTokens)
  if (after.promptTokens === before.promptTokens && isHabit) return false
  return after.promptTokens <= before.windowTokens
}
