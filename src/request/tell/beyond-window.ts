import type { Measure, Outcome } from '../request.ts'
import { isAnswered } from '../send/outcome.ts'

/**
 * Whether a request would have been refused as it came: it was, in whole or even in part, or its prompt and the output
 * that it asks for exceed the window together. Null where only a guess could tell.
 */
export function isBeyondWindow(
  measure: Measure | null,
  outcome: Outcome,
  outputLimitTokens: number | null,
): boolean | null {
  if (outcome.remedy === 'recovered' || outcome.verdict === 'overflow') return true
  if (!outcome.form.isRewritten || outcome.form.compacted === null) {
    // It was sent as it came: nobody has to guess.
    return isAnswered(outcome) ? false : null
  }
  if (measure === null || measure.window.source === 'default') return null
  const { tokens, kind } = measure.window
  const promptTokens = measure.pressure * measure.budgetTokens * measure.rate.ratio
  return promptTokens + (kind === 'total' ? (outputLimitTokens ?? 0) : 0) > tokens
}
