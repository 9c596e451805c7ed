import { anyHasBoundThoughts } from '../../subject/subject.ts'
import { measureAfterRefusal } from '../measure/measure-request.ts'
import { isAnswered, isRecovered } from './outcome.ts'
import { askPlainly } from './ask-plainly.ts'
import { fallBack } from './fall-back.ts'
import { offerRecall } from './offer-recall.ts'
import { withFittingLimit } from './output-limit.ts'
import { recoverFromOverflow } from './recover.ts'
import { cureThoughts } from './refused-thoughts.ts'
import { restoreOnRefusal } from './restore.ts'
import { sendOnce } from './send-once.ts'
import type { PoolOf } from './shared-pool.ts'
import { trySmaller } from './try-smaller.ts'
import { askForUsage } from './usage-in-streams.ts'
import { waitWhenCrowded } from './wait-when-crowded.ts'
import type { RequestParts, Senders, SendingParts } from '../parts.ts'
import type { AnsweredRequest, PreparedRequest, Sending } from '../request.ts'

/**
 * The way of sending, with its wrappers: what is refused is sent again in another form as far as that may help. The first
 * wrapper stands around all others. `once` sends one form, and the same again if the server was crowded; `askPlainly` uses
 * it directly, since a plain answer needs no usage asked for.
 */
export function createSenders(parts: RequestParts, poolOf: PoolOf): Senders {
  const once = waitWhenCrowded(poolOf)(sendOnce(parts))
  const wrappers = [
    recoverFromOverflow(parts),
    trySmaller(parts),
    restoreOnRefusal(parts),
    cureThoughts(parts),
    offerRecall(parts),
    askPlainly(once),
    askForUsage(parts),
  ]
  return {
    send: wrappers.reduceRight((inner, wrap) => wrap(inner), once),
    once,
    fallback: cureThoughts(parts)(askForUsage(parts)(once)),
  }
}

/** The stage that sends: what comes back is the answer that the client gets. */
export async function sendRequest(request: PreparedRequest, parts: SendingParts): Promise<AnsweredRequest> {
  const sending: Sending = {
    request,
    measure: request.measure,
    attempts: 0,
    firstSentAtMs: 0,
    flight: null,
    refused: new Set(),
    wasTooLong: false,
    isUsageSuspected: false,
    isReplyBound: false,
  }
  const { form, chat, place, remembered } = request
  const { senders, records } = parts
  const sent = await senders.send(await withFittingLimit(form, sending, parts), sending)
  const outcome = await fallBack(sent, sending, parts)
  const isOthers = (outcome.fallback?.answered ?? null) !== null
  // A form that was refused is nothing to go on from: an emergency ends with its request. Nor is one for another model.
  const answered = isAnswered(outcome) && !isOthers ? outcome.form.compacted : null
  const compaction = (answered ?? form.compacted)?.compaction ?? remembered.compaction
  const standing = isOthers ? compaction : remembered.compaction
  // Beside the answer, not before it: a store may be slow.
  if (isAnswered(outcome) && answered === null && standing !== null && mayThink(request))
    void records.sendElsewhere(request, standing)
  void records.see(chat, place, { ...remembered, compaction })
  if (isRecovered(outcome)) sending.measure = await measureAfterRefusal(sending, parts)
  return { ...request, measure: sending.measure, outcome, sending }
}

// --- internal ---

/** Whether the reply may hold thoughts that are bound to what it answers. */
function mayThink({ chat }: PreparedRequest): boolean {
  return chat.dialect.replies.bindsThoughts || anyHasBoundThoughts(chat.messages)
}
