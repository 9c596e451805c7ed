import { isObject } from '../../support/strict-upstream/wire-message.ts'

/** Whether a profile asks for summaries, as it says it: by its strategy, or by naming who is to write them. */
export function wantsSummaries(profile: object): boolean {
  const strategy = 'strategy' in profile ? profile.strategy : 'auto'
  const summary = 'summary' in profile && isObject(profile.summary) ? profile.summary : {}
  const hasWriter = (summary['upstream'] ?? summary['model'] ?? null) !== null
  return strategy === 'summarize' || (strategy === 'auto' && hasWriter)
}
