import { lowestThresholdTokens } from '../../compaction/due.ts'
import { thresholdTokens } from '../../tokens/budget.ts'
import type { Profile } from '../../profiles/schema.ts'
import { hasSummaries, targetOf, triggerOf } from '../../profiles/effective.ts'
import type { CompactionStart, Thresholds } from './explanation.ts'

export type ThresholdFigures = {
  readonly budgetTokens: number
  /** What no compaction takes away, by our count. */
  readonly fixedTokens: number
  /** What is reckoned with beside our count. */
  readonly marginTokens: number
}

/** Where everything begins under a profile, in tokens of a prompt as it is counted: the margin is taken off. */
export function thresholdsIn(profile: Profile, figures: ThresholdFigures): Thresholds {
  const { budgetTokens, fixedTokens, marginTokens } = figures
  const isOff = profile.trigger === 'off'
  const at = (setting: number): number =>
    Math.max(0, thresholdTokens(setting, budgetTokens, fixedTokens + marginTokens) - marginTokens)
  const passAt = (pass: { readonly at: number | null; readonly enabled?: boolean }): number | null =>
    isOff || pass.enabled === false ? null : at(pass.at ?? triggerOf(profile))
  // At zero these two need no compaction: they treat a message from the first time it is sent.
  const fromTheFirst = (pass: { readonly at: number | null; readonly enabled?: boolean }): number | null =>
    pass.at === 0 && pass.enabled !== false ? 0 : passAt(pass)
  return {
    trigger: isOff ? null : at(triggerOf(profile)),
    target: isOff ? null : at(targetOf(profile)),
    render_at: fromTheFirst(profile.render),
    preview_at: fromTheFirst(profile.preview),
    clear_at: passAt(profile.clear),
    fold_at: passAt(profile.fold),
    summary_at: hasSummaries(profile) && !isOff ? at(profile.summary.at) : null,
  }
}

/** Where the first of a profile's thresholds lies; null where its trigger is off. */
export function compactionStart(
  profile: Profile,
  figures: ThresholdFigures,
  model: { readonly ratio: number; readonly budgetTokens: number },
): CompactionStart | null {
  if (profile.trigger === 'off') return null
  const { budgetTokens, fixedTokens, marginTokens } = figures
  const ownTokens = lowestThresholdTokens(profile, budgetTokens, fixedTokens + marginTokens)
  // What fills the budget by our count fills it by the model's: both were rounded.
  const isBudget = ownTokens >= budgetTokens
  return {
    tokens: Math.max(0, ownTokens - marginTokens),
    model_tokens: isBudget ? model.budgetTokens : Math.round(ownTokens * model.ratio),
  }
}
