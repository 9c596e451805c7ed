import { asStream } from '../../formats/typed-events.ts'
import { anyHasBoundThoughts } from '../../compaction/history/history.ts'
import { measureAfterRefusal } from '../measure/measure-request.ts'
import {
  discard,
  isAnswered,
  isOurDoing,
  isRecovered,
  isTooLarge,
  type Retry,
  type Retrying,
  retrying,
  sendAgain,
  withAddition,
} from './outcome.ts'
import { fallBack } from './fall-back.ts'
import { recoverFromOverflow, trySmaller, withFittingLimit } from './recover-from-overflow.ts'
import { cureThoughts, restoreOnRefusal } from './refused-form.ts'
import { askForUsage } from './usage-in-streams.ts'
import type { RequestParts, Senders, SendingParts } from '../request-parts.ts'
import type { AnsweredRequest, Form, Measure, Outcome, PreparedRequest, Send, Sending } from '../request.ts'
import { noteRecallRefused, withTool } from '../recall/recall-offer.ts'
import { madeBody } from '../../upstream/answer-body.ts'
import { parsedBody, readWhole, withoutLength } from '../reply/whole-answer.ts'
import { bytesInSteps, takesLong, isUntouched, withEdits, withRenamedModel } from './outgoing-body.ts'
import { randomUUID } from 'node:crypto'
import { runAtOnce } from '../../json/source.ts'
import { runInSlices } from '../../scheduling/drive.ts'
import { headerValue } from '../../upstream/credential.ts'
import { isListedAt } from '../../models/table/window-table.ts'
import { withoutBilling } from '../billing-line.ts'
import { knownWindow } from '../measure/measure.ts'
import { promptTokensOf } from '../measure/sent-prompt.ts'
import { judge } from './judge.ts'

/**
 * The ways of sending: what is refused is sent again in another form as far as that may help, by one retry after the other.
 * `once` sends one form, and the same again if the server was crowded; `askPlainly` uses it directly, since a plain answer
 * needs no usage asked for.
 */
export function createSenders(parts: RequestParts): Senders {
  const patiently = retrying(sendOnce(parts), [waitWhenCrowded], parts)
  const once = parts.asksForErrors ? askForErrors(patiently, parts) : patiently
  const asking = askForUsage(once, parts)
  const offering = offerRecall(retrying(asking, [askPlainly(once)], parts), parts)
  return {
    send: retrying(offering, [cureThoughts, restoreOnRefusal, trySmaller, recoverFromOverflow], parts),
    once,
    fallback: retrying(asking, [cureThoughts], parts),
  }
}

/** The stage that sends: what comes back is the answer that the client gets. */
export async function sendRequest(request: PreparedRequest, parts: SendingParts): Promise<AnsweredRequest> {
  const sending: Sending = {
    request,
    measure: request.measure,
    attempts: 0,
    firstSentAtMs: 0,
    refused: new Set(),
    wasTooLong: false,
    isUsageSuspected: false,
    isReplyBound: false,
  }
  const { form, chat, place, remembered } = request
  const { senders, records } = parts
  const fitting = await withFittingLimit(form, sending, parts)
  const sent = await senders.send(fitting, sending)
  const outcome = sent.verdict === 'good' ? sent : await fallBack(sent, sending, parts)
  const isOthers = (outcome.fallback?.answered ?? null) !== null
  // A form that was refused is nothing to go on from: an emergency ends with its request. Nor is one for another model.
  const answered = isAnswered(outcome) && !isOthers ? outcome.form.compacted : null
  const compaction = (answered ?? form.compacted)?.compaction ?? remembered.compaction
  const before = isOthers ? compaction : remembered.compaction
  // Beside the answer, not before it: a store may be slow.
  if (isAnswered(outcome) && answered === null && before !== null && mayThink(request))
    records.sendElsewhere(request, before)
  records.see(chat, place, { ...remembered, compaction })
  if (isRecovered(outcome)) sending.measure = await measureAfterRefusal(sending, parts)
  return { ...request, measure: sending.measure, outcome, sending }
}

// --- internal ---

/** Whether the reply may hold thoughts that are bound to what it answers. */
function mayThink({ chat }: PreparedRequest): boolean {
  return chat.dialect.replies.bindsThoughts || anyHasBoundThoughts(chat.messages)
}

/** Offers the model its tool. */
function offerRecall(send: Send, { models }: RequestParts): Send {
  return withAddition(send, {
    name: 'recall',
    marks: { offersRecall: true },
    addedTo: (form, { request: { recall } }) => (recall === null ? null : withTool(form, recall)),
    // If messages are in an order that the server does not take, the tool is not why.
    isWhy: ({ classification }) => classification?.class !== 'order',
    noteRefused: (_offered, { request }) => noteRecallRefused(models, request),
  })
}

/**
 * Has a server refuse a prompt that it would cut without a word, if it was rewritten or may be too long. One that knows that
 * word may be another than the one that has to.
 */
function askForErrors(send: Send, parts: RequestParts): Send {
  const { models } = parts
  return withAddition(send, {
    name: 'errors',
    marks: {},
    addedTo: (form, sending) => {
      const edit = form.chat.body.errorsRequest
      if (edit === null || models.suspected(sending.request.modelKey).refusesErrors) return null
      if (!form.isRewritten && !mayOverflow(form, sending, parts)) return null
      return withEdits(form, edit)
    },
    isWhy: () => true,
    noteRefused: (_asked, { request }) => {
      models.suspected(request.modelKey).refusesErrors = true
    },
  })
}

/**
 * Asks once more without streaming where a stream ended with nothing: some servers begin a stream before they have
 * looked at the prompt, and have no way left to refuse it. A refusal for its size, or for what Foldgate made of it, takes
 * the place of the empty answer, and so does a good answer, as a stream. Whatever else comes of it, the client gets the empty one.
 */
function askPlainly(once: Send): Retry {
  return async function sendPlainly(empty, { form, sending }) {
    const { profile } = sending.request
    if (empty.verdict !== 'empty' || profile.observe || profile.overflow.attempts === 0) return empty
    const plainForm = withoutStreaming(form)
    if (plainForm === null) return empty
    const plain = await sendAgain(empty, () => once(plainForm, sending))
    if (plain === null) return empty
    // What Foldgate made of the request may be what is refused: then another form of it may be welcome.
    if (isTooLarge(plain) || (form.isRewritten && isOurDoing(plain))) return { ...plain, form }
    const streamed = isAnswered(plain) ? streamedAnswer(await readWhole(plain)) : null
    if (streamed !== null) return { ...streamed, form }
    discard(plain.answer)
    return empty
  }
}

/** The same request for a plain answer; null if it asks for one. */
function withoutStreaming(form: Form): Form | null {
  const edits = form.chat.body.withoutStreaming
  return edits === null ? null : withEdits(form, ...edits)
}

/** A plain answer as the stream that the client has asked for; null where it is none, or says nothing either. */
function streamedAnswer(plain: Outcome): Outcome | null {
  const { answer, form } = plain
  const { dialect, body } = form.chat
  const { streamType } = dialect.answers
  const streamed = asStream(dialect.answers, parsedBody(plain))
  if (streamed === null) return null
  const rawHeaders = withoutLength(answer.rawHeaders).map((text, at, headers) =>
    at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'content-type' ? `${streamType}; charset=utf-8` : text,
  )
  return {
    ...plain,
    answer: { ...answer, rawHeaders, body: madeBody([Buffer.from(streamed.text)]) },
    held: [],
    // What it cost is good to know in any case.
    asksUsage: streamed.statesUsage && !body.showsUsage,
  }
}

/**
 * A request that met a full pool is sent once more, alone if the others end soon enough, and a last time if the pool is
 * full again. The request is not at fault: its bytes stay the same, and nothing is learnt.
 */
async function waitWhenCrowded(first: Outcome, { form, sending, send, parts }: Retrying): Promise<Outcome> {
  const { profile, upstreamName, exchange } = sending.request
  let outcome = first
  for (let tries = 0; isCrowded(outcome) && !profile.observe && tries < TRIES_MAX; tries += 1) {
    const again = await sendAgain(outcome, async () => {
      const letNextFollow = await parts.poolOf(upstreamName).turn(exchange.signal)
      const sent = send(form, sending)
      // Only now that it is under way: the next one waits for this one, too.
      letNextFollow()
      return sent
    })
    if (again === null) return outcome
    outcome = { ...again, remedy: 'waited' }
  }
  return outcome
}

/** How often a request is tried again that met a full pool. */
const TRIES_MAX = 2

function isCrowded({ verdict, classification }: Outcome): boolean {
  return verdict === 'refused' && classification?.class === 'crowded'
}

/** Sends to the upstream and looks at the beginning of the answer. Each further request counts as an attempt. */
function sendOnce(parts: RequestParts): Send {
  const { upstreams, poolOf } = parts
  return async function sendOnceMore(form, sending) {
    const { exchange, upstreamName, measure, profile } = sending.request
    const promptTokens = promptTokensOf(measure, form)
    const flight = profile.observe ? null : poolOf(upstreamName).enter(promptTokens)
    try {
      const mayBeTooLong = !profile.observe && mayOverflow(form, sending, parts)
      const sent = withRenamedModel(withoutBilling(form, sending.request), sending.request)
      const isChanged = !isUntouched(sent)
      sending.attempts += 1
      // Answers have to be readable here; on the way to a model's server compression saves nothing.
      const headerOverrides: Record<string, string | null> = { 'accept-encoding': 'identity' }
      if (isChanged) headerOverrides['content-encoding'] = null
      // A server that knows the key would answer with what it answered to another body.
      if (sending.attempts > 1 && headerValue(exchange.rawHeaders, 'idempotency-key') !== null)
        headerOverrides['idempotency-key'] = randomUUID()
      let body = sending.request.body.raw
      if (isChanged) {
        const steps = bytesInSteps(sent.chat.bytes, sent.pieces)
        body = takesLong(sent.pieces) ? await runInSlices(steps) : runAtOnce(steps)
      }
      const sentAtMs = performance.now()
      if (sending.attempts === 1) sending.firstSentAtMs = sentAtMs
      const answer = await upstreams.send({ ...exchange, upstream: upstreamName, body, headerOverrides })
      const firstByteMs = performance.now() - sentAtMs
      const { measure: latest } = sending
      const judged = await judge(answer, {
        answers: form.chat.dialect.answers,
        mayOverflow: mayBeTooLong,
        // Hosted models have no server whose memory requests share.
        mayBeRefused:
          !profile.observe &&
          (form.isRewritten ||
            (flight !== null && measure?.window.source !== 'table' && isFull(measure, flight.sharedTokens))),
        holdMs: profile.overflow.hold_ms,
        knowledge: {
          knownWindowTokens: knownWindow(measure)?.tokens ?? null,
          expectedPromptTokens: (latest?.counted ?? null) === null ? null : promptTokensOf(latest, form),
        },
      })
      if (flight !== null) answer.body.onceOver(flight.end)
      return { ...judged, firstByteMs, form, remedy: 'none', asksUsage: false, offersRecall: false }
    } catch (error) {
      flight?.end()
      throw error
    }
  }
}

/** Whether a prompt may be too long, as far as is known. */
function mayOverflow(form: Form, { request, wasTooLong }: Sending, parts: RequestParts): boolean {
  const { measure, model, modelKey, upstreamName } = request
  const { upstreams, windows } = parts
  const promptTokens = promptTokensOf(measure, form)
  if (wasTooLong || isFull(measure, promptTokens) || windows.isDoubted(modelKey, promptTokens)) return true
  // The table has this model at another address: who runs it here may have started it with less.
  return measure?.window.source === 'table' && !isListedAt(model, upstreams.addressOf(upstreamName).hostname)
}

/** Whether so many tokens may be too many: an answer with status 200 may still be a refusal then. */
function isFull(measure: Measure | null, promptTokens: number): boolean {
  if (measure === null || measure.window.source === 'default') return true
  return promptTokens > measure.window.tokens * HOLD_SHARE
}

/** Below this share of the window an answer with status 200 is no overflow, unless the window is a guess or hearsay. */
const HOLD_SHARE = 0.5
