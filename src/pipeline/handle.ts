import { FoldgateError } from '../errors.ts'
import type { Dialect } from '../formats/contract.ts'
import type { ClientAnswer, ClientRequest } from './client-request.ts'
import { reportUnanswered } from '../telemetry/request-report.ts'
import { type Arrival, arrivalNow, bareReport } from './bare-report.ts'
import { refuseUnread, refuseWayAround } from './confinement.ts'
import { withOffer } from './recall/recall-offer.ts'
import { workFor } from '../scheduling/drive.ts'
import { isLookedAt, sendBypassed } from './bypass.ts'
import { measureRequest } from './measure/measure-request.ts'
import type { RequestParts, SendingParts } from './request-parts.ts'
import { readRequest } from './read-request.ts'
import { repairRequest } from './repair-request.ts'
import { replyTo } from './reply/reply-to.ts'
import { readRequestOptions } from './request-options.ts'
import type { ArrivedRequest, PreparedRequest, ReadRequest } from './request.ts'
import { compactRequest } from './compact-request.ts'
import { bytesIn } from './send/outgoing-body.ts'
import { createSenders, sendRequest } from './send/send-request.ts'
import { relay, relayConversation, sendUnread } from './pass-on.ts'
import { tellAnswer } from './tell/tell-answer.ts'
import { heldMessages } from './tell/held-messages.ts'
import { readReport } from './tell/report.ts'

/**
 * Finds the answer to a request. One that carries a conversation goes from stage to stage, each of which adds to the facts
 * that are known of it (`request.ts`). Nothing that fails on the way fails the request: the best form without it is sent,
 * down to the client's own bytes. Any other request is passed on.
 */
export function createHandle(parts: RequestParts): (request: ClientRequest) => Promise<ClientAnswer> {
  const sendingParts = { ...parts, senders: createSenders(parts) }

  return function handle(request) {
    const { route, holder } = request
    if (route.kind === 'relay') return relay(request, parts)
    return workFor(holder.name, () => answerTo(request, route.dialect, sendingParts))
  }
}

// --- internal ---

/** The stages, up to the answer that the client gets. */
async function answerTo(
  exchange: ClientRequest,
  dialect: Dialect,
  parts: SendingParts,
): Promise<ClientAnswer> {
  const begun = arrivalNow(parts)
  let arrived: ArrivedRequest | null = null
  /** What was known of the request when it failed. */
  let known: ReadRequest | PreparedRequest | null = null
  try {
    const { rights } = exchange
    const options = readRequestOptions(exchange.headers, rights?.overrides ?? null)
    if (rights !== null) refuseWayAround(rights, exchange)
    if (options.bypass) {
      if (rights !== null) refuseUnread(rights, 'x-foldgate-bypass asks for it')
      if (!(await isLookedAt(exchange, parts))) return await relayConversation(exchange, begun, parts)
    }
    const body = await exchange.body.read()
    const turn = parts.heavyWork.begin(exchange.signal, exchange.holder)
    arrived = { exchange, dialect, options, body, arrival: arrivalNow(parts), turn }
    if (options.bypass) return await sendBypassed(arrived, parts)
    const read = await readRequest(arrived, parts)
    if (typeof read === 'string') return await sendUnread(arrived, read, parts)
    const offering = (known = withOffer(await repairRequest(read, parts), parts))
    const measured = await measureRequest(offering, parts)
    const prepared = (known = await compactRequest(measured, parts))
    turn.end()
    // A view is bytes of its own from here on. If there is no room for them, what was made is told all the same.
    if (prepared.form.isRewritten) body.charge(bytesIn(prepared.form.pieces))
    const answered = await sendRequest(prepared, parts)
    return await tellAnswer(await replyTo(answered, parts), parts)
  } catch (error) {
    arrived?.turn.end()
    arrived?.body.release()
    if (known !== null && isServerLost(error)) parts.serverWindows.lost(known.question)
    tellUnanswered(exchange, error, known, arrived?.arrival ?? begun, parts)
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
