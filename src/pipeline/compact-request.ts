import type { Advanced } from '../compaction/compact.ts'
import type { PreparedFold } from '../compaction/compaction.ts'
import type { Eventual } from '../scheduling/drive.ts'
import { type MissingReason, noOutlook, summaryName } from '../summaries/summary-record.ts'
import { dryRun, nextForm, originalForm } from './compact/forms.ts'
import { isStrict } from './model-lessons.ts'
import type { RequestParts } from './request-parts.ts'
import type { Counted, Measure, MeasuredRequest, Observed, PreparedRequest } from './request.ts'
import { foldFor, noFold, outlookOf } from './summaries/ask-for-summaries.ts'

/**
 * The stage that decides what is sent: the conversation as it came, or its view under the compaction that stands or is
 * due. If it fails, the original bytes are sent.
 */
export async function compactRequest(
  request: MeasuredRequest,
  parts: RequestParts,
): Promise<PreparedRequest> {
  const { chat, received, measure, whyUntouched, profile } = request
  const counted = measure?.counted ?? null
  const asItCame: PreparedRequest = {
    ...request,
    form: originalForm(whyUntouched === null ? chat : received, measure?.incomingTokens ?? chat.bytes.length),
    failedOpen: measure === null ? 'measure' : null,
    outlook: noOutlook,
    summaries: [],
    observed: null,
  }
  if (whyUntouched === null && counted !== null) return compactCounted(asItCame, counted, parts)
  if (measure === null || !profile.observe) return asItCame
  return { ...asItCame, observed: await observe(request, measure, parts) }
}

// --- internal ---

async function compactCounted(
  request: PreparedRequest,
  counted: Counted,
  parts: RequestParts,
): Promise<PreparedRequest> {
  const { failures } = parts
  const strict = isStrict(request, parts.models)
  const wanted = { request, counted, strict }
  let missing: MissingReason | null = null
  let summaries: readonly string[] = []
  async function preparedFold(due: Advanced): Promise<PreparedFold | null> {
    const found = await failures.around('summary', noFold, () => foldFor(wanted, due, parts.summaries))
    missing = found.reason
    summaries = found.keys.map(summaryName)
    return found.fold
  }
  const form = await failures.around('compaction', null, () =>
    nextForm({ ...request, strict }, counted, { forced: request.isForced, foldFor: preparedFold }, parts),
  )
  if (form === null) return { ...request, failedOpen: 'compaction' }
  const outlook = await failures.around('summary', noOutlook, () =>
    outlookOf(wanted, form.compacted, parts.summaries),
  )
  // A client wants to know of the summary that this request had to do without.
  const reason = missing ?? outlook.reason
  return { ...request, form, outlook: { ...outlook, reason }, summaries }
}

/** The view that would be sent if the profile did not say that nothing is changed. */
function observe(
  request: MeasuredRequest,
  { counted, incomingTokens }: Measure,
  { failures, models, cache }: RequestParts,
): Eventual<Observed> {
  const nothing = { passes: [], sentTokens: incomingTokens }
  if (counted === null) return nothing
  return failures.around('compaction', nothing, async () => {
    // Earlier requests were sent as they came: without `observe` the past would have been another.
    const remembered = { ...request.remembered, found: null, seenUntil: null, sharedUntil: null }
    const unseen = { ...request, remembered, strict: isStrict(request, models) }
    const forced = request.options.compact === 'force'
    const { compacted, sentTokens } = await dryRun(unseen, counted, forced, cache)
    return { passes: compacted?.view.passes ?? [], sentTokens }
  })
}
