import { isObject } from './strict-upstream/wire-message.ts'
import type { Upstreams } from './foldgate.ts'
import type { SummaryModel } from './summary-model.ts'

/** The settings by which Foldgate reaches the stand-in, beside its default upstream. */
export function cheapUpstream(model: Pick<SummaryModel, 'url'>): Upstreams {
  return { [NAME]: { url: model.url } }
}

/** A profile, as its file would say it, whose summaries the stand-in writes; what else it says stays. */
export function withCheapSummaries(profile: object): object {
  const summary = 'summary' in profile && isObject(profile.summary) ? profile.summary : {}
  return {
    strategy: 'summarize',
    ...profile,
    summary: { upstream: NAME, model: 'cheap-1', ...summary },
  }
}

// --- internal ---

const NAME = 'cheap'
