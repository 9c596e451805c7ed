import type { Advanced } from '../compaction/compact.ts'
import type { PreparedFold } from '../compaction/compaction.ts'
import { type Eventual, onceThere } from '../scheduling/drive.ts'
import { type MissingReason, noOutlook, summaryName } from '../summaries/summary-record.ts'
import { dryRun, nextForm, originalForm } from './compact/forms.ts'
import { isStrict } from './model-lessons.ts'
import type { RequestParts } from './request-parts.ts'
import type { Counted, Form, MeasuredRequest, Observed, PreparedRequest } from './request.ts'
import { foldFor, noFold, outlookOf } from './summaries/fold-summaries.ts'

/**
 * The stage that decides what is sent: the conversation as it came, or its view under the compaction that stands or is
 * due. If it fails, the original bytes are sent.
 */
export function compactRequest(request: MeasuredRequest, parts: RequestParts): Eventual<PreparedRequest> {
  const { chat, received, measure, whyUntouched } = request
  if (measure === null)
    return uncompacted(request, originalForm(chat, chat.bytes.length), { failedOpen: 'measure' })
  const original = originalForm(whyUntouched === null ? chat : received, measure.incomingTokens)
  const { counted } = measure
  if (whyUntouched === null && counted !== null) return compactCounted(request, counted, original, parts)
  const observed = request.profile.observe ? observe(request, counted, parts) : null
  return onceThere(observed, (seen) => uncompacted(request, original, { observed: seen }))
}

// --- internal ---

/** The request with the form that it came in. */
function uncompacted(
  request: MeasuredRequest,
  form: Form,
  { failedOpen = null, observed = null }: Partial<Pick<PreparedRequest, 'failedOpen' | 'observed'>>,
): PreparedRequest {
  return { ...request, form, failedOpen, outlook: noOutlook, summaries: [], observed }
}

async function compactCounted(
  request: MeasuredRequest,
  counted: Counted,
  original: Form,
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
  if (form === null) return uncompacted(request, original, { failedOpen: 'compaction' })
  const outlook = await failures.around('summary', noOutlook, () =>
    outlookOf(wanted, form.compacted, parts.summaries),
  )
  // A client wants to know of the summary that this request had to do without.
  const reason = missing ?? outlook.reason
  return {
    ...request,
    form,
    failedOpen: null,
    outlook: { ...outlook, reason },
    summaries,
    observed: null,
  }
}

/** The view that would be sent if the profile did not say that nothing is changed. */
function observe(
  request: MeasuredRequest,
  counted: Counted | null,
  { failures, models, cache }: RequestParts,
): Eventual<Observed> {
  const nothing = { passes: [], sentTokens: request.measure?.incomingTokens ?? 0 }
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
