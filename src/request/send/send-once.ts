import { randomUUID } from 'node:crypto'
import { drive } from '../../scheduling/drive.ts'
import { headerValue } from '../../upstream/credential.ts'
import type { UpstreamAddress } from '../../upstream/address.ts'
import { isListedAt } from '../../models/table/window-table.ts'
import { withoutBilling } from '../billing-line.ts'
import { knownWindow } from '../measure/measure.ts'
import { promptTokensOf } from '../measure/sent-prompt.ts'
import type { RequestParts } from '../parts.ts'
import type { Form, Measure, Send } from '../request.ts'
import { judge } from './judge.ts'
import { bytesInSteps, bytesOf, hasLongText, isUntouched } from './outgoing-body.ts'
import { withRenamedModel } from './renamed-model.ts'

/** Sends to the upstream and looks at the beginning of the answer. Each further request counts as an attempt. */
export function sendOnce({ upstreams, windows }: Pick<RequestParts, 'upstreams' | 'windows'>): Send {
  return async function sendOnceMore(form, sending) {
    const { exchange, upstreamName, model, modelKey } = sending.request
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
    const { measure, profile } = sending.request
    const promptTokens = promptTokensOf(measure, form)
    const { measure: latest, flight } = sending
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
      expectedPromptTokens: latest === null || latest.counted === null ? null : promptTokensOf(latest, form),
    })
    const { attempts, firstSentAtMs } = sending
    const timing = { attempts, firstSentAtMs, firstByteMs }
    return { ...judged, ...timing, form, remedy: 'none', asksUsage: false, offersRecall: false }
  }
}

// --- internal ---

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
