import type { Chat, ChatRequest, Ready, Outcome } from './request.ts'
import type { FoldgateError } from '../errors.ts'
import { describeRequest, type DescribeOptions } from './chat-request.ts'
import { refuseUnread, refuseWayAround, type ClientRights } from '../http/confinement.ts'
import type { ClientRequest } from '../http/client-request.ts'
import { finish, settle, type Settled, type SettleParts } from './finish.ts'
import { workFor } from '../scheduling/drive.ts'
import type { HeavyWork } from '../scheduling/heavy-work.ts'
import type { Learning } from '../models/learn.ts'
import { prepare, type Preparation } from './prepare.ts'
import { bytesIn } from './send/outgoing-body.ts'
import { repairRequest, type RepairParts } from './repair.ts'
import { readBody, type ReadBodyOptions, type RequestBody } from '../http/read-body.ts'
import { readChat, type UnreadReason } from './read/read-chat.ts'
import { recoverFromOverflow } from './send/recover.ts'
import type { Relay } from '../http/relay.ts'
import { deliverUnread, sendUnread, type Unread } from '../http/unread.ts'
import { replyTo } from './reply/reply-to.ts'
import { withOffer, type OfferParts } from '../proxy/recall/recall-offer.ts'
import { askPlainly } from './send/ask-plainly.ts'
import { offerRecall } from './send/with-recall.ts'
import { restoreOnRefusal } from './send/restore.ts'
import { isAnswered, sendOnce } from './send/send.ts'
import { sendingOf, type SendingParts } from './send/sending.ts'
import { askForUsage } from './send/usage-in-streams.ts'
import { waitWhenCrowded } from './send/wait-when-crowded.ts'
import { readWishes, type Wishes } from './request-options.ts'
import { reportUnanswered } from '../activity/begin-report.ts'
import { arrivalNow, type Arrival } from '../activity/arrival.ts'
import { bareReport, describedReport } from './tell/report-of.ts'

/** Everything that answering a chat completion takes; built in `app.ts`. */
export type HandleParts = Preparation &
  RepairParts &
  Omit<SendingParts, keyof Preparation> &
  SettleParts &
  DescribeOptions &
  OfferParts & {
    readonly relay: Relay
    readonly rightsOf: (clientKeyName: string | null) => ClientRights | null
    readonly learning: Learning
    readonly bodyLimits: ReadBodyOptions
    readonly heavyWork: HeavyWork
    /** Called when an answer broke off on its way. */
    readonly onFailure: (error: FoldgateError) => void
    /** How long a client may take nothing of its answer, in milliseconds. */
    readonly stallMs: number
  }

/**
 * What happens to a chat completion request.
 *
 * The body is read and its messages are found in it; what cannot be read with certainty goes on as it
 * came. Where the profile asks for it, what is broken is repaired. The conversation is looked up, measured
 * and, if a compaction stands or is due, rewritten; if any of that fails, the original bytes are sent. A refusal
 * that may be our doing is answered by another form, an overflow by a smaller one, before the client sees
 * anything. Then the answer flows.
 */
export function createHandle(parts: HandleParts): (exchange: ClientRequest) => Promise<void> {
  return async function handle(exchange) {
    const rights = parts.rightsOf(exchange.clientKeyName)
    const wishes = wishesOf(exchange, rights)
    if (wishes.bypass) {
      await parts.relay(exchange, 'bypassed')
      return
    }
    const settled = await workFor(exchange.holder.name, () => settleOn(exchange, wishes, rights))
    try {
      const { error } =
        'unread' in settled
          ? await deliverUnread(exchange, settled, parts)
          : await finish(exchange, settled, parts)
      if (error !== null) parts.onFailure(error)
    } finally {
      settled.release()
    }
  }

  function wishesOf(exchange: ClientRequest, rights: ClientRights | null): Wishes {
    try {
      const wishes = readWishes(exchange.incoming, rights?.overrides ?? null)
      const { method, path, incoming } = exchange
      refuseWayAround(rights, { method, path, rawHeaders: incoming.rawHeaders })
      if (wishes.bypass) refuseUnread(rights, 'x-foldgate-bypass asks for it')
      return wishes
    } catch (error) {
      tellUnanswered(exchange, error, arrivalNow(parts))
      throw error
    }
  }

  /** Tells of a request that ended in an error. Nothing that is told of it may take that error's place. */
  function tellUnanswered(
    exchange: ClientRequest,
    error: unknown,
    arrival: Arrival,
    known: Known | null = null,
  ) {
    parts.failures.attempt('observation', undefined, () => {
      const report =
        known === null ? bareReport(exchange, arrival) : describedReport(known.request, known.ready, arrival)
      reportUnanswered(report, error, arrival, parts.reports)
    })
  }

  /** Everything up to the answer that the client gets. Its own frame, so that the body ends with it. */
  async function settleOn(
    exchange: ClientRequest,
    wishes: Wishes,
    rights: ClientRights | null,
  ): Promise<Settled | Unread> {
    let body: RequestBody
    try {
      body = await readBody(exchange, parts.bodyLimits)
    } catch (error) {
      tellUnanswered(exchange, error, arrivalNow(parts))
      throw error
    }
    const arrival = arrivalNow(parts)
    const turn = parts.heavyWork.begin(exchange.signal, exchange.holder)
    let known: Known | null = null
    try {
      const { scope } = exchange
      const chat = await parts.failures.around<Chat | UnreadReason>('reading', 'failed', () =>
        readChat(body, scope.scope, parts.reading, turn),
      )
      if (typeof chat === 'string') {
        refuseUnread(rights, chat)
        turn.end()
        return await sendUnread(exchange, body, chat, arrival, parts)
      }
      body.charge(chat.messages.length * MESSAGE_BYTES)

      const described = describeRequest({ exchange, chat, wishes, scope, rights, turn }, parts)
      const repaired = described.profile.repair ? await repairRequest(described, parts) : described
      const request = withOffer(repaired, parts)
      known = { request, ready: null }
      const ready = await prepare(request, parts)
      turn.end()
      known = { request, ready }
      // A view is bytes of its own from here on.
      if (ready.prepared.isRewritten) body.charge(bytesIn(ready.prepared.pieces))
      const sending = sendingOf(request, body, ready, parts)
      const once = waitWhenCrowded(sending.crowd)(sendOnce(sending.once))
      const send = recoverFromOverflow(sending.recover)(
        restoreOnRefusal(sending.restore)(
          offerRecall(sending.recall)(
            askPlainly({ once, isOn: sending.readsRefusals })(askForUsage(sending.usage)(once)),
          ),
        ),
      )
      const outcome: Outcome = await send(ready.prepared)
      // A form that was refused is nothing to go on from: an emergency ends with its request.
      const standing = (isAnswered(outcome) ? outcome : ready).prepared.compacted ?? ready.prepared.compacted
      // Beside the answer, not before it: a store may be slow.
      void parts.records.see(request.chat, request.place, {
        ...ready.remembered,
        compaction: standing?.compaction ?? ready.remembered.compaction,
      })
      const measure = sending.measured()
      const joining = replyTo(request, outcome, { once, sending, measure, failures: parts.failures })
      const joined = joining === null ? null : await joining
      // The HTTP client keeps the bytes that it sent until the answer is complete; mostly a view is small beside
      // the body, which is gone by then. A reply that may still go on is made from the body.
      const isSmall = bytesIn(outcome.prepared.pieces) <= chat.bytes.length * SMALL_VIEW_SHARE
      if (isSmall && joined?.isOpen !== true) body.release()
      const settling = { release: body.release, arrival, joined }
      return settle(request, { ...ready, measure }, joined?.outcome ?? outcome, settling, parts)
    } catch (error) {
      turn.end()
      body.release()
      tellUnanswered(exchange, error, arrival, known)
      throw error
    }
  }
}

// --- internal ---

/** What was known of a request when it failed. */
type Known = { readonly request: ChatRequest; readonly ready: Ready | null }

/** What is made of a message beside its bytes: its place, facts, keys, weights and units, about. */
const MESSAGE_BYTES = 700

/** Up to this share of the body a view is not worth a place in the budget. */
const SMALL_VIEW_SHARE = 0.25
