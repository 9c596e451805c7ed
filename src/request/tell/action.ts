import type { AnsweredRequest, Outcome } from '../request.ts'
import { isAnswered } from '../send/outcome.ts'
import type { SummaryOutlook } from '../../summaries/outlook.ts'
import type { Action, RequestReport } from '../../activity/request-report.ts'

/** What was done with a request, and why where that helps. An upstream's last refusal is no recovery. */
export function actionOf({ outcome, failedOpen, whyUntouched }: AnsweredRequest): {
  readonly action: Action
  readonly reason: string | null
} {
  const { isRewritten, compacted, strict } = outcome.form
  if (outcome.remedy === 'recovered' && isAnswered(outcome)) return { action: 'recovered', reason: null }
  if (outcome.remedy === 'restored' && isAnswered(outcome))
    return { action: 'restored', reason: strict ? 'strict' : 'original' }
  if (failedOpen !== null) return { action: 'failed-open', reason: failedOpen }
  if (!isRewritten) return { action: 'relayed', reason: whyUntouched }
  return { action: 'compacted', reason: (compacted?.view.passes ?? []).length === 0 ? 'repair' : null }
}

/** What stands for folded messages, or, where nothing does yet, whether the summary for them is there. */
export function summaryState(
  { form: { isRewritten, compacted } }: Outcome,
  outlook: Pick<SummaryOutlook, 'state'>,
): RequestReport['summary'] {
  const standIns = isRewritten ? compacted?.view.standIns : undefined
  if ((standIns?.summaries ?? 0) > 0) return 'ready'
  if ((standIns?.recaps ?? 0) > 0) return 'recap'
  return outlook.state
}
