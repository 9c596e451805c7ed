import type { ModelKey } from '../../models/model-record.ts'
import type { Models } from '../../models/models.ts'
import type { Form, Outcome, Send } from '../request.ts'
import { isUntouched, withEdits } from './outgoing-body.ts'
import type { RequestParts } from '../request-parts.ts'
import { isAnswered, isTrouble, readableText, withAddition } from './outcome.ts'
import { collectErrorFacts } from '../../overflow/error-text.ts'
import type { UsageHider } from '../../formats/answer-contract.ts'
import type { BodyTransform } from '../client-request.ts'
import { createEventCutter } from './event-cutter.ts'

/**
 * Asks for the usage of a streamed answer where the client did not: calibration needs it, and the event with it
 * is hidden again (`hidingUsage`). A refusal that speaks of it is answered by the same form without.
 */
export function askForUsage(send: Send, { models, upstreams, usageInStreams }: RequestParts): Send {
  const asking = withAddition(send, {
    name: 'usage',
    marks: { asksUsage: true },
    addedTo: (form, { request: { modelKey, upstreamName } }) => {
      if (form.chat.body.usageRequest === null || models.get(modelKey, 'usage') !== null) return null
      const isKnown = refusesUsage(upstreams.addressOf(upstreamName).hostname)
      return isKnown ? null : withUsageAsked(form, usageInStreams)
    },
    isWhy: (asked, form, sending) => {
      // Once anything of ours was refused, this request is tried with as little of ours as may be.
      sending.refused.add('usage')
      const reason = reasonOf(asked)
      // A body that is the client's own but for this can be refused for nothing else.
      if (reason !== 'order' && (reason !== 'opaque' || !form.isRewritten)) return true
      sending.isUsageSuspected = reason === 'opaque' && !isTrouble(asked)
      return false
    },
    noteRefused: (asked, { request }) =>
      noteRefused(models, request.modelKey, reasonOf(asked) === 'opaque' ? 'guessed' : 'named'),
  })
  return async function sendSuspecting(form, sending) {
    const { isUsageSuspected, request } = sending
    const outcome = await asking(form, sending)
    if (isUsageSuspected && isAnswered(outcome)) noteRefused(models, request.modelKey, 'guessed')
    return outcome
  }
}

/** The request with the addition; null where nothing is to be asked. `when`: see `usage.in_streams`. */
export function withUsageAsked(form: Form, when: RequestParts['usageInStreams']): Form | null {
  const addition = form.chat.body.usageRequest
  if (addition === null || when === 'never') return null
  return when === 'rewritten' && isUntouched(form) ? null : withEdits(form, addition)
}

/** What a refusal says of a request that asked for usage: the field by name, a field it does not know, or neither. */
type UsageRefusal = 'named' | 'unknown-field' | 'opaque'

/** @internal exported for tests. Reads the body of a refusal. */
export function usageRefusalIn(body: string): UsageRefusal {
  const { text, params } = collectErrorFacts(body)
  if (namesUsage.test(text) || [...params].some((param) => namesUsage.test(param))) return 'named'
  return unknownField.test(text) ? 'unknown-field' : 'opaque'
}

/**
 * Whether a host is known to refuse being asked: what was learnt of it the hard way by others need not be
 * learnt again.
 *
 * @internal exported for tests
 */
export function refusesUsage(hostname: string): boolean {
  return refusingHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
}

/**
 * Takes out of a stream the usage that only Foldgate asked for. What goes on keeps its bytes; an event goes on once it is
 * complete, and one that the hider keeps waiting when the next is there, or is overdue.
 */
export function hidingUsage(hider: UsageHider): BodyTransform {
  const cutter = createEventCutter({ eventBytesMax: EVENT_BYTES_MAX })

  function take(event: Buffer): readonly Buffer[] {
    const text = event.toString('latin1')
    return hider.take(text).map((each) => (each === text ? event : Buffer.from(each, 'latin1')))
  }

  function released(): Buffer {
    return Buffer.from(hider.release(), 'latin1')
  }

  function feed(piece: Buffer): Buffer {
    const out: Buffer[] = []
    for (const { kind, bytes } of cutter.feed(piece)) {
      if (kind === 'event') out.push(...take(bytes))
      else if (kind === 'line-feed')
        out.push(Buffer.from(hider.takeLineFeed(bytes.toString('latin1')), 'latin1'))
      else out.push(released(), bytes)
    }
    return joined(out)
  }

  return {
    feed,
    end: () => joined([...take(cutter.end()), released()]),
    overdue: released,
    // Half of an event is all that came of it.
    broken: () => Buffer.concat([released(), cutter.end()]),
  }
}

// --- internal ---

/** One failure proves little: what was refused with the addition and answered without it is believed the second time. */
function noteRefused(models: Models, key: ModelKey, why: 'named' | 'guessed'): void {
  const suspected = models.suspected(key)
  suspected.usageRefusals += 1
  if (suspected.usageRefusals > 1) models.set(key, 'usage', why, 'refusal')
}

function reasonOf(refused: Outcome): UsageRefusal | 'order' {
  const text = readableText(refused)
  const said = text === null ? 'opaque' : usageRefusalIn(text)
  return said !== 'named' && refused.classification?.class === 'order' ? 'order' : said
}

/** All of them state the usage of a stream unasked. */
const refusingHosts = [
  // 422 `extra_forbidden` for `stream_options`, reported by many clients since 2024.
  'mistral.ai',
]

const namesUsage = /stream[_ ]?options|include[_ ]?usage/i

/** Servers that do not know a field, and do not always say which: those of pydantic keep that in a field of its own. */
const unknownField = new RegExp(
  [
    String.raw`\b(?:un(?:known|recogni[sz]ed|expected|supported)|extra(?:neous)?|additional)(?: \w+){0,2} (?:field|param(?:eter)?|argument|propert(?:y|ies)|input|key|name|option|attribute)`,
    String.raw`\b(?:field|param(?:eter)?|argument|property|option|attribute)s?\b.{0,60} (?:(?:is|are|was) )?(?:not (?:supported|permitted|allowed|recogni[sz]ed)|un(?:supported|known|recogni[sz]ed|expected)|should not exist)`,
  ].join('|'),
  'i',
)

/** An event of an answer takes a few hundred bytes. What is longer goes on, so that little is kept. */
const EVENT_BYTES_MAX = 64 * 1024

/** One buffer of several; what is a single piece is not copied. */
function joined(all: readonly Buffer[]): Buffer {
  const [first, ...others] = all.filter((each) => each.length > 0)
  return first !== undefined && others.length === 0 ? first : Buffer.concat(all)
}
