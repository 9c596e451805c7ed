import { setTimeout as sleep } from 'node:timers/promises'
import { FoldgateError } from '../errors.ts'
import { headerValue } from '../upstream/credential.ts'
import { GaveWayError } from '../upstream/gate.ts'
import type { Target } from '../upstream/target.ts'
import type { Answer, UpstreamRequest, Upstreams } from '../upstream/upstreams.ts'
import { retryAfterMs } from './retry-after.ts'
import type { Ask, AskAnswer } from './write-summary.ts'

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
  /** How long one call may take in all, in milliseconds. Default 180,000. */
  readonly callMs?: number
}

/**
 * Sends what is asked of a summary model. A client's request that would have to wait for its upstream comes first: the
 * call breaks off and is made again when there is a place, a few times.
 */
export function createAsk(place: SummaryPlace, options: SummaryCallOptions): Ask {
  const callMs = options.callMs ?? CALL_MS
  return async function ask({ body }, signal) {
    for (let time = 1; ; time += 1) {
      const box = new AbortController()
      const timer = setTimeout(() => box.abort(timedOut(callMs)), callMs)
      try {
        return await askOnce(place, Buffer.from(body), AbortSignal.any([signal, box.signal]), options)
      } catch (error) {
        signal.throwIfAborted()
        if (box.signal.aborted) throw box.signal.reason
        if (!(error instanceof GaveWayError) || time >= TIMES_MAX) throw error
      } finally {
        clearTimeout(timer)
      }
    }
  }
}

// --- internal ---

/** A model that thinks first takes minutes. */
const CALL_MS = 180_000

/** Each time the upstream begins anew. */
const TIMES_MAX = 4

/** How often it is looked whether the upstream has a place, in milliseconds. */
const PLACE_POLL_MS = 100

/** No summary is so long; what is longer is a page or a mistake. */
const ANSWER_BYTES_MAX = 1024 * 1024

async function askOnce(
  place: SummaryPlace,
  body: Buffer,
  signal: AbortSignal,
  options: SummaryCallOptions,
): Promise<AskAnswer> {
  const answer = await sent({ ...place, method: 'POST', body, headerOverrides: HEADERS, signal }, options)
  const retryAfter = headerValue(answer.rawHeaders, 'retry-after')
  if (answer.status === 429) options.onRateLimited(retryAfterMs(retryAfter, options.nowMs()))
  return {
    status: answer.status,
    contentType: headerValue(answer.rawHeaders, 'content-type') ?? '',
    retryAfter,
    body: await textOf(answer, signal),
  }
}

async function sent(request: UpstreamRequest, { upstreams }: SummaryCallOptions): Promise<Answer> {
  for (;;) {
    const answer = await upstreams.sendIdle(request)
    if (answer !== null) return answer
    await sleep(PLACE_POLL_MS, undefined, request.signal === null ? {} : { signal: request.signal })
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

async function textOf(answer: Answer, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of answer.body) {
      if (!Buffer.isBuffer(piece)) continue
      bytes += piece.length
      if (bytes > ANSWER_BYTES_MAX) {
        answer.body.destroy()
        break
      }
      pieces.push(piece)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof GaveWayError ? error : answer.failure(error)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function timedOut(callMs: number): FoldgateError {
  return new FoldgateError('upstream_timeout', `The summary model took longer than ${callMs / 1000} s.`)
}
