import { setTimeout as sleep } from 'node:timers/promises'
import { FoldgateError } from '../errors.ts'
import type { WholeAnswer } from '../overflow/classify.ts'
import { headerValue } from '../upstream/credential.ts'
import { GaveWayError } from '../upstream/gate.ts'
import { retryAfterMs } from '../upstream/answer-head.ts'
import type { Answer, UpstreamRequest, Upstreams } from '../upstream/upstreams.ts'

/**
 * Sends one call. It may reject with a FoldgateError (`upstream_…`), with the signal's reason, or with a GaveWayError if it
 * may not be sent again.
 */
export type Ask = (
  call: {
    readonly body: string
    /** Charges for sending again what was broken off half-way; false if that may not be paid. */
    readonly payAgain: () => boolean
  },
  signal: AbortSignal,
) => Promise<WholeAnswer>

/** Where a summary is asked for, and as whom: of the client's headers those that the upstream is to see. */
export type Destination = Pick<UpstreamRequest, 'upstream' | 'target' | 'rawHeaders' | 'withholdCredential'>

export type AskOptions = {
  readonly upstreams: Pick<Upstreams, 'sendIdle'>
  /** Called if the upstream takes no more for now, with what it says of how long, in milliseconds. */
  readonly onRateLimited: (retryAfterMs: number | null) => void
  readonly nowMs: () => number
  /** How long one call may take, the wait for a place included, in milliseconds. Default 180,000. */
  readonly callMs?: number
}

/**
 * Sends calls to a summary model, as soon as its upstream has a place free. A client's request that wants the place comes
 * first: the call breaks off and is made again, as often as that may be paid.
 */
export function createAsk(destination: Destination, options: AskOptions): Ask {
  const callMs = options.callMs ?? CALL_MS
  return async function ask({ body, payAgain }, signal) {
    const box = new AbortController()
    const timer = setTimeout(() => box.abort(timedOut(callMs)), callMs)
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
      throw box.signal.aborted ? timedOut(callMs) : error
    } finally {
      clearTimeout(timer)
    }
  }
}

// --- internal ---

/** A model that thinks first takes minutes; so does a place at an upstream that takes few. */
const CALL_MS = 180_000

/** How long until it is looked again whether the upstream has a place, in milliseconds. */
const PLACE_POLL_MS = 100

/** No summary is so long; a longer answer is a page or a mistake. */
const ANSWER_BYTES_MAX = 1024 * 1024

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

async function textOf({ body, failure }: Answer): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += piece.length
      if (bytes > ANSWER_BYTES_MAX) {
        body.destroy()
        break
      }
      pieces.push(piece)
    }
  } catch (error) {
    throw error instanceof GaveWayError ? error : failure(error)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function timedOut(callMs: number): FoldgateError {
  return new FoldgateError('upstream_timeout', `The summary model took longer than ${callMs / 1000} s.`)
}
