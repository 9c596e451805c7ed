import { anyHasBoundThoughts } from '../../compaction/history/subject.ts'
import { countedMeasure, measureAfterRefusal } from '../measure/measure-request.ts'
import {
  discard,
  isAnswered,
  isOurDoing,
  isRecovered,
  isTooLarge,
  retrying,
  sendAgain,
  standing,
} from './outcome.ts'
import { fallBack } from './fall-back.ts'
import { clamped, countSent, withFittingLimit } from './output-limit.ts'
import { recordForm, recoverFromOverflow, tightened } from './recover.ts'
import { cureThoughts, thoughtRefusalOf } from './refused-thoughts.ts'
import type { PoolOf } from './shared-pool.ts'
import { askForUsage } from './usage-in-streams.ts'
import type { RequestParts, Senders, SendingParts } from '../parts.ts'
import type {
  AnsweredRequest,
  Form,
  Measure,
  Outcome,
  PreparedRequest,
  RecallOffer,
  Retry,
  Send,
  Sending,
} from '../request.ts'
import { hasSchema, noteRecallRefused, withTool } from '../recall/recall-offer.ts'
import { madeBody } from '../../upstream/answer-body.ts'
import { parsedBody, readPlain, withoutLength } from '../reply/whole-answer.ts'
import { bytesInSteps, bytesOf, hasLongText, isUntouched, withEdits } from './outgoing-body.ts'
import { randomUUID } from 'node:crypto'
import { drive } from '../../scheduling/drive.ts'
import type { Eventual } from '../../scheduling/eventual.ts'
import { headerValue } from '../../upstream/credential.ts'
import type { UpstreamAddress } from '../../upstream/address.ts'
import { isListedAt } from '../../models/table/window-table.ts'
import { withoutBilling } from '../billing-line.ts'
import { knownWindow } from '../measure/measure.ts'
import { promptTokensOf } from '../measure/sent-prompt.ts'
import { judge } from './judge.ts'
import { withRenamedModel } from './renamed-model.ts'
import { originalForm, placedAnew } from '../compact/forms.ts'
import { noteOf } from '../../models/suspicions.ts'
import { unreadWording } from '../../overflow/classify-error.ts'

/**
 * The ways of sending: what is refused is sent again in another form as far as that may help, by one retry after the other.
 * `once` sends one form, and the same again if the server was crowded; `askPlainly` uses it directly, since a plain answer
 * needs no usage asked for.
 */
export function createSenders(parts: RequestParts, poolOf: PoolOf): Senders {
  const once = retrying(sendOnce(parts, poolOf), [waitWhenCrowded(poolOf)])
  const asking = askForUsage(parts)(once)
  const offering = offerRecall(parts)(retrying(asking, [askPlainly(once)]))
  const retries = [cureThoughts, restoreOnRefusal, trySmaller, recoverFromOverflow]
  return {
    send: retrying(
      offering,
      retries.map((retry) => retry(parts)),
    ),
    once,
    fallback: retrying(asking, [cureThoughts(parts)]),
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
  const fitting = withFittingLimit(form, sending, parts)
  const sent = await senders.send(fitting instanceof Promise ? await fitting : fitting, sending)
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

/** Offers the model its tool. After a refusal that may be on account of it, the same form is sent without. */
const offerRecall =
  ({ models }: RequestParts) =>
  (send: Send): Send => {
    async function sendOffering(form: Form, recall: RecallOffer, sending: Sending): Promise<Outcome> {
      const { chat, modelKey } = sending.request
      const offered = { ...(await send(withTool(form, recall), sending)), form, offersRecall: true }
      // If messages are in an order that the server does not take, the tool is not why.
      if (!isOurDoing(offered) || offered.classification?.class === 'order') return offered
      sending.refused.add('recall')
      const plain = await sendAgain(offered, () => send(form, sending))
      if (plain === null) return standing(offered)
      // A server's passing trouble also ends at the second try.
      if (isAnswered(plain) && offered.answer.status !== 500)
        noteRecallRefused(models, modelKey, hasSchema(chat))
      return plain
    }
    return (form, sending) => {
      const { recall } = sending.request
      const isOffered = recall !== null && !sending.refused.has('recall')
      return isOffered ? sendOffering(form, recall, sending) : send(form, sending)
    }
  }

/**
 * Asks once more without streaming where a stream ended with nothing: some servers begin a stream before they have
 * looked at the prompt, and have no way left to refuse it. A refusal for its size, or for what Foldgate made of it, takes
 * the place of the empty answer, and so does a good answer, as a stream. Whatever else comes of it, the client gets the empty one.
 */
function askPlainly(once: Send): Retry {
  async function sendPlainly(empty: Outcome, form: Form, sending: Sending): Promise<Outcome> {
    const { profile } = sending.request
    if (empty.verdict !== 'empty' || profile.observe || profile.overflow.attempts === 0) return empty
    const plainForm = withoutStreaming(form)
    if (plainForm === null) return empty
    const plain = await sendAgain(empty, () => once(plainForm, sending))
    if (plain === null) return standing(empty)
    // What Foldgate made of the request may be what is refused: then another form of it may be welcome.
    if (isTooLarge(plain) || (form.isRewritten && isOurDoing(plain))) return { ...plain, form }
    const streamed = isAnswered(plain) ? streamedAnswer(await readPlain(plain)) : null
    if (streamed !== null) return { ...streamed, form }
    discard(plain.answer)
    return { ...empty, attempts: plain.attempts }
  }
  return () => sendPlainly
}

/** The same request for a plain answer; null if it asks for one. */
function withoutStreaming(form: Form): Form | null {
  const edits = form.chat.body.withoutStreaming
  return edits === null ? null : { ...form, pieces: withEdits(form.pieces, edits) }
}

/** A plain answer as the stream that the client has asked for; null where it is none, or says nothing either. */
function streamedAnswer(plain: Outcome): Outcome | null {
  const { answer, form } = plain
  const { dialect, body } = form.chat
  const streamed = dialect.answers.asStream(parsedBody(plain))
  if (streamed === null) return null
  const rawHeaders = withoutLength(answer.rawHeaders).map((text, at, headers) =>
    at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'content-type' ? EVENT_STREAM : text,
  )
  return {
    ...plain,
    answer: { ...answer, rawHeaders, body: madeBody([Buffer.from(streamed.text)]) },
    held: [],
    // What it cost is good to know in any case.
    asksUsage: streamed.statesUsage && !body.showsUsage,
  }
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8'

/** Sends to the upstream and looks at the beginning of the answer. Each further request counts as an attempt. */
function sendOnce({ upstreams, windows }: Pick<RequestParts, 'upstreams' | 'windows'>, poolOf: PoolOf): Send {
  return async function sendOnceMore(form, sending) {
    const { exchange, upstreamName, model, modelKey, measure, profile } = sending.request
    const promptTokens = promptTokensOf(measure, form)
    const flight = profile.observe ? null : poolOf(upstreamName).enter(promptTokens)
    sending.flight = flight
    try {
      const sent = withRenamedModel(withoutBilling(form, sending.request), sending.request)
      const isChanged = !isUntouched(sent)
      sending.attempts += 1
      // Answers have to be readable here; on the way to a model's server compression saves nothing.
      const headerOverrides: Record<string, string | null> = { 'accept-encoding': 'identity' }
      if (isChanged) headerOverrides['content-encoding'] = null
      // A server that knows the key would answer with what it answered to another body.
      if (sending.attempts > 1 && headerValue(exchange.incoming.rawHeaders, 'idempotency-key') !== null)
        headerOverrides['idempotency-key'] = randomUUID()
      const body = isChanged ? bodyOf(sent) : sending.request.body.raw
      const sentAtMs = performance.now()
      if (sending.attempts === 1) sending.firstSentAtMs = sentAtMs
      const answer = await upstreams.send({
        ...exchange,
        upstream: upstreamName,
        body: body instanceof Promise ? await body : body,
        headerOverrides,
      })
      const firstByteMs = performance.now() - sentAtMs
      const { measure: latest, attempts, firstSentAtMs } = sending
      const isUncertain = measure !== null && isHearsay(measure, model, upstreams.addressOf(upstreamName))
      const mayOverflow = isUncertain || sending.wasTooLong || isFull(measure, promptTokens)
      const judged = await judge(answer, {
        answers: form.chat.dialect.answers,
        mayOverflow: !profile.observe && (mayOverflow || windows.isDoubted(modelKey, promptTokens)),
        // Hosted models have no server whose memory requests share.
        mayBeRefused:
          !profile.observe &&
          (form.isRewritten ||
            (flight !== null && measure?.window.source !== 'table' && isFull(measure, flight.sharedTokens))),
        holdMs: profile.overflow.hold_ms,
        knownWindowTokens: knownWindow(measure)?.tokens ?? null,
        expectedPromptTokens:
          latest === null || latest.counted === null ? null : promptTokensOf(latest, form),
      })
      if (flight !== null) answer.body.onceOver(flight.end)
      const how = { remedy: 'none', asksUsage: false, offersRecall: false } as const
      return { ...judged, attempts, firstSentAtMs, firstByteMs, form, ...how }
    } catch (error) {
      flight?.end()
      throw error
    }
  }
}

/** Whether who runs the model may have started it with less than the table has of it: it lists it elsewhere. */
function isHearsay({ window }: Measure, model: string, { hostname }: UpstreamAddress): boolean {
  return window.source === 'table' && !isListedAt(model, hostname)
}

/** Whether so many tokens may be too many: an answer with status 200 may still be a refusal then. */
function isFull(measure: Measure | null, promptTokens: number): boolean {
  if (measure === null || measure.window.source === 'default') return true
  return promptTokens > measure.window.tokens * HOLD_SHARE
}

function bodyOf({ chat, pieces }: Form): Buffer | Promise<Buffer> {
  return hasLongText(pieces) ? drive(bytesInSteps(chat.bytes, pieces)) : bytesOf(chat.bytes, pieces)
}

/** Below this share of the window an answer with status 200 is no overflow, unless the window is a guess or hearsay. */
const HOLD_SHARE = 0.5

/**
 * A request that met a full pool is sent once more, alone if the others end soon enough, and a last time if the pool is
 * full again. The request is not at fault: its bytes stay the same, and nothing is learnt.
 */
const waitWhenCrowded =
  (poolOf: PoolOf): Retry =>
  (send) =>
    async function sendWaiting(first, form, sending) {
      const { profile, upstreamName, exchange } = sending.request
      let outcome = first
      for (let tries = 0; isCrowded(outcome) && !profile.observe && tries < TRIES_MAX; tries += 1) {
        const again = await sendAgain(outcome, async () => {
          const letNextFollow = await poolOf(upstreamName).turn(exchange.signal)
          const sent = send(form, sending)
          // Only now that it is under way: the next one waits for this one, too.
          letNextFollow()
          return sent
        })
        if (again === null) return standing(outcome)
        outcome = { ...again, remedy: 'waited' }
      }
      return outcome
    }

/** How often a request is tried again that met a full pool. */
const TRIES_MAX = 2

function isCrowded({ verdict, classification }: Outcome): boolean {
  return verdict === 'refused' && classification?.class === 'crowded'
}

/**
 * A rewritten request that is refused for what may be our doing is sent again: with user messages joined
 * where the refusal is about roles or order, and as the client's own bytes where that is not it or does
 * not help (P2). Overflow, authentication, rates and content policy are not our doing.
 */
const restoreOnRefusal =
  (parts: RequestParts): Retry =>
  (send) =>
    async function sendRestoring(first, form, sending) {
      if (!form.isRewritten || !isOurDoing(first)) return first
      // The client's own bytes hold the same thoughts and more.
      if (thoughtRefusalOf(first, form.chat.dialect) === 'stale') return first
      let last = first
      const { refused, request } = sending
      const isOrder = first.classification?.class === 'order'
      const joined =
        isOrder && !refused.has('strict') ? await underStrictPlacement(form, sending, parts) : null
      if (joined !== null) {
        const second = await sendAgain(first, () => send(joined, sending))
        if (second === null) return standing(first)
        if (isAnswered(second)) parts.models.set(request.modelKey, 'placement', 'strict', 'refusal')
        else refused.add('strict')
        if (!isOurDoing(second)) return { ...second, remedy: 'restored' }
        last = second
      }
      if (refused.has('original')) return last
      refused.add('original')
      const { received, measure, chat } = request
      const original = originalForm(received, measure?.incomingTokens ?? chat.bytes.length)
      const third = await sendAgain(last, () => send(original, sending))
      if (third === null) return standing(last)
      // If joining was refused too, this view was at fault: the next one may be welcome. If the refused request
      // asked for usage, that may have been the reason: the next one goes without and shows. A server's passing
      // trouble also ends at the second try: only a refusal of the request itself teaches.
      const isCause = joined === null && (!first.asksUsage || isOrder) && first.answer.status !== 500
      if (isAnswered(third) && isCause) parts.models.set(request.modelKey, 'placement', 'original', 'refusal')
      return { ...third, remedy: 'restored' }
    }

/** The same view with user messages joined; null where that changes nothing. */
function underStrictPlacement(form: Form, sending: Sending, parts: RequestParts): Eventual<Form | null> {
  const { request } = sending
  return parts.failures.around('compaction', null, async () => {
    if (request.profile.template !== 'auto' || form.strict || !form.isRewritten) return null
    const { counted } = await countedMeasure(sending, parts)
    if (counted === null) return null
    const compaction = form.compacted?.compaction ?? null
    const placed = await placedAnew({ ...request, strict: true }, counted, compaction, parts)
    // A conversation that was only repaired may have nothing to join.
    if (!placed.strict) return null
    const { clampedOutputTokens } = form
    return clampedOutputTokens === null ? placed : clamped(placed, clampedOutputTokens)
  })
}

/**
 * Answers a refusal that no rule can read by one experiment, where the prompt is large: the same under half of its size. If
 * that is answered, the conversation goes on from there, and the window is believed to lie below once it happened twice; if
 * not, the client gets the refusal as it came, and this wording is not tried again for an hour.
 */
const trySmaller =
  (parts: RequestParts): Retry =>
  (send) =>
    async function sendTrying(first, form, sending) {
      const { profile, whyUntouched, modelKey, remembered, chat } = sending.request
      const wording = wordingOf(first)
      const mayTry = !profile.observe && profile.overflow.attempts > 0 && profile.trigger !== 'off'
      if (wording === null || !mayTry || whyUntouched !== null) return first
      const tried = parts.models.suspected(modelKey).unreadWordings
      const before = tried.get(wording)
      if (before?.refusedAtMs != null && parts.nowMs() - before.refusedAtMs < UNTRIED_MS) return first
      const sentTokens = await countSent(form, sending, parts)
      const { measure } = sending
      const promptTokens = promptTokensOf(measure, form, sentTokens)
      if (measure === null || promptTokens < worthTokens(measure)) return first
      const how = {
        budgetTokens: Math.floor((sentTokens - 1) / 2),
        keepRecent: profile.keep.recent_messages,
        smallest: false,
        fills: true,
        refusedTokens: sentTokens,
      }
      const smaller = await tightened(first.form, how, sending, parts)
      if (smaller === null) return first
      const limit = first.form.clampedOutputTokens
      const half = limit === null || chat.body.outputLimit === null ? smaller : clamped(smaller, limit)
      // They were refused, or are what was: another refusal is answered by no larger request.
      sending.refused.add('original')
      const second = await sendAgain(first, () => send(half, sending))
      if (second === null) return standing(first)
      if (!isAnswered(second)) {
        discard(second.answer)
        // A server in trouble, or one that is asked too often, has said nothing of this wording.
        if (isRefusedAlike(second)) noteOf(tried, wording, { refusedAtMs: parts.nowMs(), answered: null })
        return { ...first, attempts: second.attempts }
      }
      const answered = { conversation: remembered.conversation, promptTokens }
      if (before?.answered != null)
        for (const each of [before.answered, answered])
          parts.windows.recovered(modelKey, each.conversation, each.promptTokens)
      noteOf(tried, wording, { refusedAtMs: null, answered })
      recordForm(second.form, sending, parts)
      return { ...second, remedy: 'recovered' }
    }

/** How long a wording is not tried again that was refused at half of the size, too, in milliseconds. */
const UNTRIED_MS = 3_600_000
/** A prompt of this share of a known window may be too long for another. */
const WINDOW_SHARE_MIN = 0.5
/** Where the window is a guess, the smallest prompt that may be too long, in the provider's tokens. */
const GUESSED_TOKENS_MIN = 4_096

function worthTokens({ window }: Measure): number {
  return window.source === 'default' ? GUESSED_TOKENS_MIN : window.tokens * WINDOW_SHARE_MIN
}

function isRefusedAlike({ verdict, classification }: Outcome): boolean {
  return verdict === 'refused' && (classification?.class === 'other' || classification?.class === 'overflow')
}

/** What an unread refusal says; null for any other answer, and for one that could not be given to the client any more. */
function wordingOf({ verdict, classification, answer, held }: Outcome): string | null {
  if (verdict !== 'refused' || classification?.class !== 'other' || !answer.body.isEnded) return null
  const isReadable = headerValue(answer.rawHeaders, 'content-encoding') === null
  return isReadable ? unreadWording(Buffer.concat(held).toString('utf8'), answer.status) : null
}
