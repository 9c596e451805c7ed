import { setTimeout as sleep } from 'node:timers/promises'
import { FoldgateError } from '../errors.ts'
import { classifyAnswer, type WholeAnswer } from '../overflow/classify.ts'
import { answerText } from '../upstream/answer-body.ts'
import { headerValue } from '../upstream/credential.ts'
import { GaveWayError } from '../upstream/concurrency.ts'
import { retryAfterMs } from '../upstream/answer-head.ts'
import type { Answer, UpstreamRequest, Upstreams } from '../upstream/upstreams.ts'
import { parseAnswerText } from '../formats/answer-json.ts'
import type { Finish, Usage } from '../formats/answer-contract.ts'
import type { Dialect, Written } from '../formats/contract.ts'
import type { StatedWindow } from '../overflow/classification.ts'
import { collectErrorFacts } from '../overflow/error-text.ts'
import { failure, type Failure } from './summary-record.ts'
import { withoutThoughts } from './transcript.ts'

/**
 * Sends one call. It may reject with a FoldgateError (`upstream_…`), with the signal's reason, or with a GaveWayError if it
 * may not be sent again. `payAgain` charges for sending again what was broken off half-way; false if that may not be paid.
 */
export type Ask = (
  call: { readonly body: string; readonly payAgain: () => boolean },
  signal: AbortSignal,
) => Promise<WholeAnswer>

/** Where a summary is asked for, and as whom: of the client's headers those that the upstream is to see. */
export type Destination = Pick<UpstreamRequest, 'upstream' | 'target' | 'rawHeaders' | 'withholdCredential'>

type AskOptions = {
  readonly upstreams: Pick<Upstreams, 'sendIdle'>
  /** Called if the upstream takes no more for now, with what it says of how long, in milliseconds. */
  readonly onRateLimited: (retryAfterMs: number | null) => void
  readonly nowMs: () => number
}

/**
 * Sends calls to a summary model, as soon as its upstream has a place free. A client's request that wants the place comes
 * first: the call breaks off and is made again, as often as that may be paid.
 */
export function createAsk(destination: Destination, options: AskOptions): Ask {
  return async function ask({ body, payAgain }, signal) {
    const box = new AbortController()
    const timer = setTimeout(() => box.abort(timedOut()), CALL_MS)
    const either = AbortSignal.any([signal, box.signal])
    try {
      for (;;) {
        const answer = await askOnce(destination, Buffer.from(body), either, options)
        if (typeof answer === 'object') return answer
        if (answer === 'gave-way' && !payAgain()) throw new GaveWayError()
        await sleep(PLACE_POLL_MS, undefined, { signal: either })
      }
    } catch (error) {
      signal.throwIfAborted()
      throw box.signal.aborted ? timedOut() : error
    } finally {
      clearTimeout(timer)
    }
  }
}

/** What the answer to a call for a summary says. */
export type SummaryAnswer =
  | {
      readonly kind: 'text'
      readonly text: string
      /** Whether the output limit cut it off. */
      readonly isUnfinished: boolean
    }
  /** The prompt was too large, for a window that is stated or not. */
  | { readonly kind: 'overflow'; readonly window: StatedWindow | null }
  /** The output limit was too high. */
  | { readonly kind: 'limit-refused' }
  /** The call was refused as it is; another form of it may be accepted. */
  | { readonly kind: 'refused' }
  | Failure

/** Reads an answer, and what it cost: text is only what the model wrote as its answer, never its thoughts. */
export function readSummaryAnswer(
  answer: WholeAnswer,
  { answers, summaries }: Dialect,
): { readonly answer: SummaryAnswer; readonly usage: Usage | null } {
  const body = parseAnswerText(answer.body)
  const facts = answers.read(body)
  const error = isSuccess(answer.status) && facts?.isError !== true ? null : errorIn(answer, answers)
  return { answer: error ?? textIn(summaries.read(body), facts?.finish ?? null), usage: facts?.usage ?? null }
}

// --- internal ---

/**
 * How long one call may take, the wait for a place included, in milliseconds. A model that thinks first takes minutes; so does
 * a place at an upstream that takes few.
 */
const CALL_MS = 180_000

/** How long until it is looked again whether the upstream has a place, in milliseconds. */
const PLACE_POLL_MS = 100

/** `gave-way`: it was begun, and a client's request wanted the place. */
async function askOnce(
  destination: Destination,
  body: Buffer,
  signal: AbortSignal,
  { upstreams, onRateLimited, nowMs }: AskOptions,
): Promise<WholeAnswer | 'no-place' | 'gave-way'> {
  try {
    const request = { ...destination, method: 'POST', body, headerOverrides: HEADERS, signal }
    const answer = await upstreams.sendIdle(request)
    if (answer === null) return 'no-place'
    const { status, rawHeaders } = answer
    if (status === 429) onRateLimited(retryAfterMs(headerValue(rawHeaders, 'retry-after'), nowMs()))
    const contentType = headerValue(rawHeaders, 'content-type') ?? ''
    return { status, contentType, body: await textOf(answer) }
  } catch (error) {
    if (error instanceof GaveWayError) return 'gave-way'
    throw error
  }
}

const HEADERS: Readonly<Record<string, string | null>> = {
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'identity',
  'content-encoding': null,
  // These belong to the client's own request.
  'idempotency-key': null,
  'x-stainless-retry-count': null,
  'x-stainless-timeout': null,
  'x-request-id': null,
  traceparent: null,
}

async function textOf(answer: Answer): Promise<string> {
  try {
    // No summary is so long that it could not be read: that is a page or a mistake, and says nothing.
    return (await answerText(answer)) ?? ''
  } catch (error) {
    throw error instanceof GaveWayError ? error : answer.failure(error)
  }
}

function timedOut(): FoldgateError {
  return new FoldgateError('upstream_timeout', `The summary model took longer than ${CALL_MS / 1000} s.`)
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Statuses by which a server may say that it does not like the call's form; some say it inside a 200. */
function isRefusal(status: number): boolean {
  return isSuccess(status) || status === 400 || status === 404 || status === 422
}

function errorIn(answer: WholeAnswer, answers: Dialect['answers']): SummaryAnswer {
  const { class: answerClass, window } = classifyAnswer(answer, answers)
  switch (answerClass) {
    case 'overflow':
      return { kind: 'overflow', window }
    case 'payload_too_large':
      return { kind: 'overflow', window: null }
    case 'output_too_large':
      // Beyond the window itself: that is learnt, and the limit with it.
      return window === null ? { kind: 'limit-refused' } : { kind: 'overflow', window }
    case 'rate':
      return failure('rate-limited')
    case 'denied':
      return failure(isUnauthorized(answer) ? 'unauthorized' : 'declined')
    case 'crowded':
      return failure('upstream-error')
    case 'order':
      return { kind: 'refused' }
    case 'other':
      return isRefusal(answer.status) ? { kind: 'refused' } : failure('upstream-error')
  }
}

/** Content policies answer `denied`, too, and say nothing of keys. */
function isUnauthorized({ status, body }: WholeAnswer): boolean {
  if (status === 401 || status === 407) return true
  const facts = collectErrorFacts(body)
  const isPolicy = /content.{0,20}polic|moderat|filtered|inappropriate/i.test(facts.text)
  return !isPolicy && (status === 403 || facts.statuses.some((inner) => inner === 401 || inner === 403))
}

/** What was written, in an answer without an error. */
function textIn(written: Written | null, finish: Finish | null): SummaryAnswer {
  if (written === null) return failure('unreadable')
  if (written.hasCalls || finish === 'calls') return failure('tool-call')
  if (written.hasRefusal || finish === 'filtered') return failure('declined')
  const text = withoutThoughts(written.text)
  const isFull = finish === 'window'
  if (text.trim() !== '') return { kind: 'text', text, isUnfinished: finish === 'length' || isFull }
  if (isFull) return { kind: 'overflow', window: null }
  return failure(written.text.trim() !== '' || written.hasThoughts ? 'only-reasoning' : 'empty')
}
