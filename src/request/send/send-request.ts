import type { AnsweredRequest, PreparedRequest, Send } from '../request.ts'
import { askPlainly } from './ask-plainly.ts'
import { offerRecall } from './offer-recall.ts'
import { recoverFromOverflow } from './recover.ts'
import { restoreOnRefusal } from './restore.ts'
import { sendOnce } from './send-once.ts'
import { openSending, type SendParts, type Sending } from './sending.ts'
import { askForUsage } from './usage-in-streams.ts'
import { waitWhenCrowded } from './wait-when-crowded.ts'

/** A request that was sent, and the way in which more can be sent for it. */
export type SentRequest = {
  readonly request: AnsweredRequest
  readonly sending: Sending
  /** Sends a form as it is. */
  readonly once: Send
}

/**
 * The stage that sends: what is refused is sent again in another form as far as that may help, and what comes back is the
 * answer that the client gets. Each wrapper takes a way of sending and gives one of the same type; the first stands
 * around all others.
 */
export async function sendRequest(
  request: PreparedRequest,
  raw: Buffer,
  parts: SendParts,
): Promise<SentRequest> {
  const sending = openSending(request, raw, parts)
  const once = waitWhenCrowded(sending)(sendOnce(sending))
  const wrappers = [
    recoverFromOverflow(sending),
    restoreOnRefusal(sending),
    offerRecall(sending),
    askPlainly(sending, once),
    askForUsage(sending),
  ]
  const send = wrappers.reduceRight((inner, wrap) => wrap(inner), once)
  const outcome = await send(request.form)
  return { request: { ...request, measure: sending.measure, outcome }, sending, once }
}
