import type { FoldgateError } from '../errors.ts'
import type { HeavyWork } from '../scheduling/heavy-work.ts'
import { workFor } from '../scheduling/drive.ts'
import { withOffer, type OfferParts } from '../proxy/recall/recall-offer.ts'
import { arrivalNow, type Arrival } from '../activity/arrival.ts'
import { reportUnanswered } from '../activity/begin-report.ts'
import { describedReport } from './tell/report-of.ts'
import { bareReport } from '../http/bare-report.ts'
import { refuseUnread, refuseWayAround, type ClientRights } from '../http/confinement.ts'
import { readBody, type ReadBodyOptions, type RequestBody } from '../http/read-body.ts'
import { deliverUnread, sendUnread, type Unread } from './unread.ts'
import type { ClientRequest } from '../http/client-request.ts'
import type { Relay } from '../http/relay.ts'
import { compactRequest } from './compact.ts'
import { describeRequest, type DescribeOptions } from './describe.ts'
import { measureRequest } from './measure/measure-request.ts'
import { readChat, type UnreadReason } from './read/read-chat.ts'
import { repairRequest, type RepairParts } from './repair.ts'
import { replyTo } from './reply/reply-to.ts'
import { readRequestOptions, type RequestOptions } from './request-options.ts'
import type { AnsweredRequest, Chat, PreparedRequest, ReadRequest } from './request.ts'
import type { Records } from './records/records.ts'
import { isAnswered } from './send/outcome.ts'
import { bytesIn } from './send/outgoing-body.ts'
import { sendRequest } from './send/send-request.ts'
import type { SendParts } from './send/sending.ts'
import { deliverAnswer, tellAnswer, type Settled, type TellParts } from './tell/tell-answer.ts'

/** Everything that answering a chat completion takes; built in `app.ts`. */
export type HandleParts = RepairParts &
  SendParts &
  TellParts &
  DescribeOptions &
  OfferParts & {
    readonly records: Records
    readonly relay: Relay
    readonly rightsOf: (clientKeyName: string | null) => ClientRights | null
    readonly bodyLimits: ReadBodyOptions
    readonly heavyWork: HeavyWork
    /** Called when an answer broke off on its way. */
    readonly onFailure: (error: FoldgateError) => void
  }

/**
 * What happens to a chat completion request.
 *
 * The body is read and its messages are found in it; what cannot be read with certainty goes on as it came. Then the
 * request goes from stage to stage, each of which adds to the facts that are known of it (`request.ts`): read, repair,
 * measure, compact, send, reply, tell. Nothing that fails on the way fails the request: the best form without it is sent,
 * down to the client's own bytes. Last the answer flows.
 */
export function createHandle(parts: HandleParts): (exchange: ClientRequest) => Promise<void> {
  return async function handle(exchange) {
    const rights = parts.rightsOf(exchange.clientKeyName)
    const options = allowedOptions(exchange, rights, parts)
    if (options.bypass) {
      await parts.relay(exchange, 'bypassed')
      return
    }
    const settled = await workFor(exchange.holder.name, () => settle(exchange, options, rights, parts))
    try {
      const { error } =
        'unread' in settled
          ? await deliverUnread(exchange, settled, parts)
          : await deliverAnswer(exchange, settled, parts)
      if (error !== null) parts.onFailure(error)
    } finally {
      settled.release()
    }
  }
}

// --- internal ---

/** What is made of a message beside its bytes: its place, facts, keys, token counts and units, about. */
const MESSAGE_BYTES = 700

/** Up to this share of the body a view is not worth a place in the budget. */
const SMALL_VIEW_SHARE = 0.25

function allowedOptions(
  exchange: ClientRequest,
  rights: ClientRights | null,
  parts: HandleParts,
): RequestOptions {
  try {
    const options = readRequestOptions(exchange.incoming, rights?.overrides ?? null)
    const { method, path, incoming } = exchange
    refuseWayAround(rights, { method, path, rawHeaders: incoming.rawHeaders })
    if (options.bypass) refuseUnread(rights, 'x-foldgate-bypass asks for it')
    return options
  } catch (error) {
    tellUnanswered(exchange, error, null, arrivalNow(parts), parts)
    throw error
  }
}

/** Everything up to the answer that the client gets. Its own frame, so that the body ends with it. */
async function settle(
  exchange: ClientRequest,
  options: RequestOptions,
  rights: ClientRights | null,
  parts: HandleParts,
): Promise<Settled | Unread> {
  let body: RequestBody
  try {
    body = await readBody(exchange, parts.bodyLimits)
  } catch (error) {
    tellUnanswered(exchange, error, null, arrivalNow(parts), parts)
    throw error
  }
  const arrival = arrivalNow(parts)
  const turn = parts.heavyWork.begin(exchange.signal, exchange.holder)
  /** What was known of the request when it failed. */
  let known: ReadRequest | PreparedRequest | null = null
  try {
    const chat = await parts.failures.around<Chat | UnreadReason>('reading', 'failed', () =>
      readChat(body, exchange.scope.scope, parts.reading, turn),
    )
    if (typeof chat === 'string') {
      refuseUnread(rights, chat)
      turn.end()
      return await sendUnread(exchange, body, chat, arrival, parts)
    }
    body.charge(chat.messages.length * MESSAGE_BYTES)

    const described = describeRequest({ exchange, chat, options, turn, arrival, rights }, parts)
    const repaired = described.profile.repair ? await repairRequest(described, parts) : described
    const read = withOffer(repaired, parts)
    known = read
    const measured = await measureRequest(read, parts)
    const prepared = await compactRequest(measured, parts)
    turn.end()
    known = prepared
    // A view is bytes of its own from here on.
    if (prepared.form.isRewritten) body.charge(bytesIn(prepared.form.pieces))
    const sent = await sendRequest(prepared, body.raw, parts)
    remember(sent.request, parts)
    const joined = await replyTo(sent)
    // The HTTP client keeps the bytes that it sent until the answer is complete; mostly a view is small beside
    // the body, which is gone by then. A reply that may still go on is made from the body.
    const { outcome } = sent.request
    const isSmall = bytesIn(outcome.form.pieces) <= chat.bytes.length * SMALL_VIEW_SHARE
    if (isSmall && joined?.isOpen !== true) body.release()
    const answered = joined === null ? sent.request : { ...sent.request, outcome: joined.outcome }
    return tellAnswer(answered, joined, body.release, parts)
  } catch (error) {
    turn.end()
    body.release()
    tellUnanswered(exchange, error, known, arrival, parts)
    throw error
  }
}

/** Records that a request was seen. Beside the answer, not before it: a store may be slow. */
function remember(request: AnsweredRequest, { records }: HandleParts): void {
  const { chat, place, remembered, form, outcome } = request
  // A form that was refused is nothing to go on from: an emergency ends with its request.
  const answered = isAnswered(outcome) ? outcome.form.compacted : null
  const compaction = (answered ?? form.compacted)?.compaction ?? remembered.compaction
  void records.see(chat, place, { ...remembered, compaction })
}

/** Tells of a request that ended in an error. Nothing that is told of it may take that error's place. */
function tellUnanswered(
  exchange: ClientRequest,
  error: unknown,
  known: ReadRequest | PreparedRequest | null,
  arrival: Arrival,
  { failures, reports }: HandleParts,
): void {
  failures.attempt('observation', undefined, () => {
    const report = known === null ? bareReport(exchange, arrival) : describedReport(known)
    reportUnanswered(report, error, arrival, reports)
  })
}
