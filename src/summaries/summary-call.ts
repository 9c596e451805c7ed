import { setTimeout as sleep } from 'node:timers/promises'
import { FoldgateError } from '../errors.ts'
import { headerValue } from '../upstream/credential.ts'
import { GaveWayError } from '../upstream/gate.ts'
import type { Target } from '../upstream/target.ts'
import type { Answer, Upstreams } from '../upstream/upstreams.ts'
import { retryAfterMs } from '../upstream/retry-after.ts'
import type { Ask, AskAnswer } from './order.ts'

/** Where a summary is asked for, and as whom. */
export type SummaryPlace = {
  /** Null: the default upstream. */
  readonly upstream: string | null
  readonly target: Target
  /** Of the client's headers those that the upstream is to see, name and value by turns. */
  readonly rawHeaders: readonly string[]
  readonly withholdCredential: boolean
}

export type SummaryCallOptions = {
  readonly upstreams: Pick<Upstreams, 'sendIdle'>
  /** Called where the upstream takes no more for now, with what it says of how long, in milliseconds. */
  readonly onRateLimited: (retryAfterMs: number | null) => void
  readonly nowMs: () => number
  /** How long one call may take, the wait for a place included, in milliseconds. Default 180,000. */
  readonly callMs?: number
}

/**
 * Sends what is asked of a summary model, as soon as its upstream has a place free. A client's request that wants the
 * place comes first: the call breaks off and is made again, as often as that may be paid.
 */
export function createAsk(place: SummaryPlace, options: SummaryCallOptions): Ask {
  const callMs = options.callMs ?? CALL_MS
  return async function ask({ body, payAgain }, signal) {
    const box = new AbortController()
    const timer = setTimeout(() => box.abort(timedOut(callMs)), callMs)
    const whole = AbortSignal.any([signal, box.signal])
    try {
      for (;;) {
        const answer = await askOnce(place, Buffer.from(body), whole, options)
        if (typeof answer === 'object') return answer
        if (answer === 'gave-way' && !payAgain()) throw new GaveWayError()
        await sleep(PLACE_POLL_MS, undefined, { signal: whole })
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

/** How often it is looked whether the upstream has a place, in milliseconds. */
const PLACE_POLL_MS = 100

/** No summary is so long; what is longer is a page or a mistake. */
const ANSWER_BYTES_MAX = 1024 * 1024

/** `gave-way`: it was begun, and somebody else wanted the place. */
async function askOnce(
  place: SummaryPlace,
  body: Buffer,
  signal: AbortSignal,
  options: SummaryCallOptions,
): Promise<AskAnswer | 'no-place' | 'gave-way'> {
  try {
    const answer = await options.upstreams.sendIdle({
      ...place,
      method: 'POST',
      body,
      headerOverrides: HEADERS,
      signal,
    })
    if (answer === null) return 'no-place'
    if (answer.status === 429) {
      const retryAfter = headerValue(answer.rawHeaders, 'retry-after')
      options.onRateLimited(retryAfterMs(retryAfter, options.nowMs()))
    }
    const contentType = headerValue(answer.rawHeaders, 'content-type') ?? ''
    return { status: answer.status, contentType, body: await textOf(answer) }
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
  // They belong to the client's own request.
  'idempotency-key': null,
  'x-stainless-retry-count': null,
  'x-stainless-timeout': null,
  'x-request-id': null,
  traceparent: null,
}

async function textOf(answer: Answer): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of answer.body) {
      bytes += piece.length
      if (bytes > ANSWER_BYTES_MAX) {
        answer.body.destroy()
        break
      }
      pieces.push(piece)
    }
  } catch (error) {
    throw error instanceof GaveWayError ? error : answer.failure(error)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function timedOut(callMs: number): FoldgateError {
  return new FoldgateError('upstream_timeout', `The summary model took longer than ${callMs / 1000} s.`)
}
