import type { Measure } from './measure/measure.ts'
import { isAnswered, type Outcome } from './send/send.ts'
import type { SummaryOutlook } from './summaries/summarizer.ts'

export type HeaderFacts = {
  readonly conversation: string
  readonly profile: string
  readonly measure: Measure | null
  readonly outcome: Outcome
  /** Why the original bytes were sent although something else was meant to be; null where that is not so. */
  readonly failedOpen: string | null
  /** Why nothing was rewritten, where it helps. */
  readonly relayedReason: string | null
  readonly outlook: Pick<SummaryOutlook, 'state' | 'reason'>
}

/** The headers by which Foldgate tells what it did with a request. */
export function answerHeaders(facts: HeaderFacts): Record<string, string> {
  const { measure, outcome } = facts
  const { prepared } = outcome
  const headers: Record<string, string> = {
    'x-foldgate-action': actionOf(facts),
    'x-foldgate-conversation': facts.conversation,
    'x-foldgate-profile': encodeURI(facts.profile),
    'x-foldgate-attempts': String(outcome.attempts),
  }
  if (measure !== null) {
    const { window } = measure
    const bound = measure.counted === null ? '<' : ''
    headers['x-foldgate-window'] = `${window.tokens};source=${window.source}`
    headers['x-foldgate-tokens'] =
      `${bound}${measure.incomingTokens};sent=${prepared.compacted === null ? bound : ''}${prepared.sentTokens}`
    headers['x-foldgate-pressure'] = bound + shownPressure(measure)
  }
  const { repairs } = prepared.chat
  if (repairs !== null) {
    const counts = Object.entries(repairs).map(([what, count]) => `${what}=${count}`)
    headers['x-foldgate-repairs'] = counts.join(';')
  }
  const passes = prepared.isRewritten ? (prepared.compacted?.view.passes ?? []) : []
  if (passes.length > 0) headers['x-foldgate-passes'] = passes.join(',')
  headers['x-foldgate-summary'] = summaryState(facts)
  if (facts.outlook.reason !== null) headers['x-foldgate-summary-reason'] = facts.outlook.reason
  return headers
}

// --- internal ---

/** What stands for folded messages, or, where nothing does yet, whether the summary for them is there. */
function summaryState({ outcome, outlook }: HeaderFacts): string {
  const { isRewritten, compacted } = outcome.prepared
  const standIns = isRewritten ? compacted?.view.standIns : undefined
  if ((standIns?.summaries ?? 0) > 0) return 'ready'
  if ((standIns?.recaps ?? 0) > 0) return 'recap'
  return outlook.state
}

/** Two digits; a bound is rounded up, or it would be none. */
function shownPressure(measure: Measure): string {
  const hundredths = measure.pressure * 100
  return ((measure.counted === null ? Math.ceil(hundredths) : Math.round(hundredths)) / 100).toFixed(2)
}

/** An upstream's last refusal is no recovery. */
function actionOf({ outcome, failedOpen, relayedReason }: HeaderFacts): string {
  if (outcome.remedy === 'recovered' && isAnswered(outcome)) return 'recovered'
  if (outcome.remedy === 'restored' && isAnswered(outcome))
    return `restored;reason=${outcome.prepared.strict ? 'strict' : 'original'}`
  if (failedOpen !== null) return `failed-open;reason=${failedOpen}`
  const { isRewritten, compacted } = outcome.prepared
  if (isRewritten)
    return (compacted?.view.passes ?? []).length === 0 ? 'compacted;reason=repair' : 'compacted'
  return relayedReason === null ? 'relayed' : `relayed;reason=${relayedReason}`
}
