import type { Steps } from '../../conversation/source.ts'
import { weighed, type Draft, type Plan } from './draft.ts'
import { passEnd, reachFor, treatingPasses } from './reach.ts'

/** The passes that treat single messages, each as far as it has to reach. */
export function* treated(
  plan: Plan,
  begun: Draft,
  aimTokens: number,
  keptResults = plan.policy.clear.keep_results,
): Steps<Draft> {
  const { subject, ledger, policy, options, frame, clips, protectedFrom } = plan
  let draft = begun
  for (const pass of treatingPasses) {
    const settings = policy[pass]
    if (('enabled' in settings && !settings.enabled) || !frame.runs(settings.at)) continue
    // A pass that begins below the target has nothing to aim at but its whole reach.
    const isAhead = settings.at !== null && frame.thresholdOf(settings.at) <= frame.targetTokens
    const goalTokens = isAhead ? 0 : aimTokens
    if (draft.tokens <= goalTokens) continue
    const keepResults = pass === 'clear' && !options.smallest ? keptResults : 0
    const start = draft.fold?.frontier ?? subject.structure.systemCount
    const { point } = options
    const reach = yield* reachFor(ledger, pass, {
      reach: draft.reach,
      clips,
      start,
      end: passEnd(subject, { start, point, protectedFrom }, keepResults),
      tokens: draft.tokens,
      goalTokens,
    })
    draft = yield* weighed(plan, { reach, fold: draft.fold })
  }
  return draft
}
