import { FoldgateError } from '../errors.ts'
import type { Dialect } from '../formats/contract.ts'
import { reportUnanswered } from '../telemetry/request-report.ts'
import { type Arrival, arrivalNow, bareReport } from '../server/bare-report.ts'
import type { ClientRequest } from '../server/client-request.ts'
import { refuseUnread, refuseWayAround } from '../server/confinement.ts'
import { receiveBody } from '../server/receive-body.ts'
import { withOffer } from './recall/recall-offer.ts'
import { type Eventual, onceThere } from '../scheduling/eventual.ts'
import { workFor } from '../scheduling/drive.ts'
import { isLookedAt, sendBypassed } from './bypass.ts'
import { measureRequest } from './measure/measure-request.ts'
import type { RequestParts, SendingParts } from './parts.ts'
import { readRequest } from './read-request.ts'
import { repairRequest } from './repair.ts'
import { replyTo } from './reply/reply-to.ts'
import { readRequestOptions } from './request-options.ts'
import type { ArrivedRequest, Counted, Form, MeasuredRequest, Observed, PreparedRequest, ReadRequest } from './request.ts'
import { bytesIn } from './send/outgoing-body.ts'
import { createSenders, sendRequest } from './send/send-request.ts'
import type { PoolOf } from './send/shared-pool.ts'
import { deliverAnswer, type Settled, tellAnswer } from './tell/tell-answer.ts'
import { heldMessages } from './tell/held-messages.ts'
import { readReport } from './tell/report.ts'
import { sendUnread } from './unread.ts'
import type { Advanced } from '../compaction/compact.ts'
import type { PreparedFold } from '../compaction/compaction.ts'
import { type MissingReason, noOutlook } from '../summaries/summary-record.ts'
import { foldFor, noFold, outlookOf } from './summaries/summarizer.ts'
import { summaryName } from '../summaries/summary-record.ts'
import { dryRun, nextForm, originalForm } from './compact/forms.ts'
import { isStrict } from './learnt.ts'

/**
 * What happens to a request that carries a conversation. It goes from stage to stage, each of which adds to the facts
 * that are known of it (`request.ts`). Nothing that fails on the way fails the request: the best form without it is sent,
 * down to the client's own bytes. Last the answer flows.
 */
export function createHandle(
  parts: RequestParts & { readonly poolOf: PoolOf },
): (exchange: ClientRequest, dialect: Dialect) => Promise<void> {
  const sendingParts = { ...parts, senders: createSenders(parts, parts.poolOf) }

  return async function handle(exchange, dialect) {
    const settled = await workFor(exchange.holder.name, () => settle(exchange, dialect, sendingParts))
    if (settled === null) {
      await parts.relay(exchange, 'bypassed')
      return
    }
    try {
      const { error } = await deliverAnswer(exchange, settled, parts)
      if (error !== null) parts.onFailure(error, exchange.incoming)
    } finally {
      settled.release()
    }
  }
}

// --- internal ---

/**
 * The stages, up to the answer that the client gets; null where it asks for a relay that nobody reads. Its own frame, so
 * that the body ends with it.
 */
async function settle(
  exchange: ClientRequest,
  dialect: Dialect,
  parts: SendingParts,
): Promise<Settled | null> {
  let arrived: ArrivedRequest | null = null
  /** What was known of the request when it failed. */
  let known: ReadRequest | PreparedRequest | null = null
  try {
    const { rights } = exchange
    const options = readRequestOptions(exchange.incoming, rights?.overrides ?? null)
    if (rights !== null) refuseWayAround(rights, exchange)
    if (options.bypass) {
      if (rights !== null) refuseUnread(rights, 'x-foldgate-bypass asks for it')
      if (!(await isLookedAt(exchange, parts))) return null
    }
    const body = await receiveBody(exchange, parts.bodyLimits)
    const turn = parts.heavyWork.begin(exchange.signal, exchange.holder)
    arrived = { exchange, dialect, options, body, arrival: arrivalNow(parts), turn }
    if (options.bypass) return await sendBypassed(arrived, parts)
    const read = await readRequest(arrived, parts)
    if ('unread' in read) return await sendUnread(read, parts)
    const repairing = repairRequest(read, parts)
    const repaired = repairing instanceof Promise ? await repairing : repairing
    const offering = (known = withOffer(repaired, parts))
    const measured = await measureRequest(offering, parts)
    const compacting = compactRequest(measured, parts)
    const prepared = (known = compacting instanceof Promise ? await compacting : compacting)
    turn.end()
    // A view is bytes of its own from here on. If there is no room for them, what was made is told all the same.
    if (prepared.form.isRewritten) body.charge(bytesIn(prepared.form.pieces))
    const answered = await sendRequest(prepared, parts)
    const replying = replyTo(answered, parts)
    return tellAnswer(replying instanceof Promise ? await replying : replying, parts)
  } catch (error) {
    arrived?.turn.end()
    arrived?.body.release()
    if (known !== null && isServerLost(error)) parts.serverWindows.lost(known.question)
    tellUnanswered(exchange, error, known, arrived?.arrival ?? arrivalNow(parts), parts)
    throw error
  }
}

/** Whether nobody was there, or went away: a server that is started anew. */
function isServerLost(error: unknown): boolean {
  return (
    error instanceof FoldgateError &&
    (error.code === 'upstream_unreachable' || error.code === 'upstream_broken')
  )
}

/** Tells of a request that ended in an error. Nothing that is told of it may take that error's place. */
function tellUnanswered(
  exchange: ClientRequest,
  error: unknown,
  known: ReadRequest | PreparedRequest | null,
  arrival: Arrival,
  { failures, reports }: RequestParts,
): void {
  failures.attempt('observation', undefined, () => {
    const report = known === null ? bareReport(exchange, arrival) : readReport(known)
    const messages = known !== null && 'form' in known ? heldMessages(known, known.form) : null
    reportUnanswered(report, messages, error, reports)
  })
}

/**
 * The stage that decides what is sent: the conversation as it came, or its view under the compaction that stands or is
 * due. If it fails, the original bytes are sent.
 */
function compactRequest(request: MeasuredRequest, parts: RequestParts): Eventual<PreparedRequest> {
  const { chat, received, measure, whyUntouched } = request
  if (measure === null)
    return uncompacted(request, originalForm(chat, chat.bytes.length), { failedOpen: 'measure' })
  const original = originalForm(whyUntouched === null ? chat : received, measure.incomingTokens)
  const { counted } = measure
  if (whyUntouched === null && counted !== null) return compactCounted(request, counted, original, parts)
  const observed = request.profile.observe ? observe(request, counted, parts) : null
  return onceThere(observed, (seen) => uncompacted(request, original, { observed: seen }))
}

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
