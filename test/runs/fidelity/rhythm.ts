import type { Samples } from './tally.ts'

/** One request, as its prompt follows the one before. */
export type Beat = {
  /** Whether the prompt before is no beginning of this one. */
  readonly isCompacted: boolean
  readonly promptTokens: number
}

/** Of a conversation's requests: how far its compactions lie apart, and how full the budget was before each. */
export function rhythmOf(beats: readonly Beat[], budgetTokens: number): Pick<Samples, 'gaps' | 'fills'> {
  const compacted = beats.flatMap(({ isCompacted }, index) => (isCompacted ? [index] : []))
  const stretches = compacted.map((end, order) => beats.slice(compacted[order - 1] ?? 0, end))
  return {
    gaps: stretches.slice(1).map(({ length }) => length),
    fills: stretches
      .filter(({ length }) => length > 0)
      .map((stretch) => Math.max(...stretch.map(({ promptTokens }) => promptTokens)) / budgetTokens),
  }
}
