import { isUtf8 } from 'node:buffer'
import { isJsonObject, parseJsonText } from '../../conversation/json-value.ts'
import type { Usage } from '../../dialects/answer-contract.ts'
import type { Dialect } from '../../dialects/contract.ts'
import { boundHeaders } from '../../activity/answer-headers.ts'
import { arrivalNow, type Arrival } from '../../http/bare-report.ts'
import type { ClientRequest } from '../../http/client-request.ts'
import { deliver } from '../../http/deliver.ts'
import { receiveAtHand, type RequestBody } from '../../http/receive-body.ts'
import { expectedTokens } from '../../models/counts/prompt.ts'
import type { Allowance } from '../../scheduling/allowance.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import type { RequestParts } from '../parts.ts'
import type { Judged } from '../request.ts'
import { asksForOptions } from '../request-options.ts'
import { isFull, readableAnswer } from '../send/send-once.ts'
import type { Flight, PoolOf } from '../send/shared-pool.ts'
import { EarlyAnswer } from './early-answer.ts'
import { glanceAt, type Glance } from './glance.ts'
import type { Kind, Kinds } from './kinds.ts'

/** A small request whose body has arrived with its headers, and that somebody has to look into. */
export type BegunRequest = {
  readonly body: RequestBody
  readonly arrival: Arrival
  /** The answer to its bytes, if they were sent already; else null. */
  readonly early: EarlyAnswer<Judged, Flight> | null
}

/**
 * The way of small requests to which nothing is to be done, as far as their bytes and others of their kind tell: they are sent
 * at once. As many as the settings say (`small_requests.detailed_per_s`) are looked into while the upstream works: they go
 * through all stages with the answer that is on its way. The others are passed on and counted, unless their answer is one that
 * has to be looked into.
 */
export type PlainWay = {
  /** Whether a request may go it, by its headers. */
  readonly isPossible: (exchange: ClientRequest) => boolean
  /**
   * Passes a request and its answer on. Resolves with what has begun of one that has to be looked into, or with null if
   * nothing of its body was taken. Never rejects.
   */
  readonly pass: (exchange: ClientRequest, dialect: Dialect) => Promise<BegunRequest | 'passed' | null>
}

export type PlainParts = Pick<
  RequestParts,
  'bodyLimits' | 'failures' | 'models' | 'nowMs' | 'onFailure' | 'reports' | 'stallMs' | 'upstreams'
> & {
  readonly kinds: Pick<Kinds, 'find'>
  readonly poolOf: PoolOf
  /** How many are looked into. */
  readonly detailed: Allowance
}

export function createPlainWay(parts: PlainParts): PlainWay {
  const { kinds, detailed, bodyLimits, failures, models, reports, upstreams } = parts
  const { count } = reports

  function kindOf(exchange: ClientRequest, dialect: Dialect, raw: Buffer): Kind | null {
    const body = isUtf8(raw) ? parseJsonText(raw.toString('utf8')) : null
    const outline = isJsonObject(body) ? dialect.bodies.outline(body) : null
    return outline === null ? null : kinds.find(exchange, dialect, outline, raw.length)
  }

  /** Where requests may share a server's memory, as they do not at hosted models, each is known to the others. */
  function enterPool({ measure, upstreamName }: Kind, bytes: number): Flight | null {
    if (measure.window.source === 'table') return null
    return parts.poolOf(upstreamName).enter(expectedTokens(bytes, measure.rate, null))
  }

  function tell(
    told: Sent & { readonly firstByteMs: number },
    dialect: Dialect,
    readUsage: () => Usage | null,
  ): void {
    const { kind, body, arrival, sentAtMs, firstByteMs } = told
    count?.({
      profile: kind.profile.name,
      dialect: dialect.name,
      pressure: body.raw.length / kind.measure.budgetTokens,
      addedMs: sentAtMs - arrival.monotonicMs,
      firstByteMs,
      usage: failures.attempt('observation', null, readUsage),
    })
  }

  return {
    isPossible: ({ incoming, rights }) => rights === null && !asksForOptions(incoming),
    pass: async (exchange, dialect) => {
      // The parser comes to the body once the event that began the request is over.
      await Promise.resolve()
      const body = receiveAtHand(exchange, bodyLimits, SMALL_BYTES_MAX)
      if (body === null) return null
      const arrival = arrivalNow(parts)
      const { raw } = body
      const kind = failures.attempt('reading', null, kindOf, exchange, dialect, raw)
      if (kind === null) return { body, arrival, early: null }
      void models.load(kind.modelKey)
      const sentAtMs = performance.now()
      const { upstreamName: upstream } = kind
      const sending = upstreams.send({ ...exchange, upstream, body: raw, headerOverrides: readableAnswer })
      const flight = enterPool(kind, raw.length)
      const toLookInto = (seen: SeenAnswer | null): BegunRequest => ({
        body,
        arrival,
        early: new EarlyAnswer(sending, sentAtMs, flight, seen),
      })
      if (count === null || detailed.take()) return toLookInto(null)

      let answer: Answer
      let glance: Glance
      let firstByteMs: number | null = null
      try {
        answer = await sending
        firstByteMs = performance.now() - sentAtMs
        if (flight !== null && isFull(kind.measure, flight.sharedTokens))
          return toLookInto({ firstByteMs, judged: null })
        const seen = glanceAt(answer, dialect.answers, kind)
        glance = seen instanceof Promise ? await seen : seen
      } catch {
        // Who looks into it tells what went wrong.
        return toLookInto(firstByteMs === null ? null : { firstByteMs, judged: null })
      }
      if (glance.isOdd) return toLookInto({ firstByteMs, judged: glance.judged })
      if (flight !== null) answer.body.onceOver(flight.end)
      const { error } = await deliver(exchange, answer, {
        headers: { ...kind.headers, ...boundHeaders(raw.length, raw.length / kind.measure.budgetTokens) },
        held: glance.held,
        tap: glance.tap,
        stallMs: parts.stallMs,
      })
      body.release()
      tell({ kind, body, arrival, sentAtMs, firstByteMs }, dialect, glance.usage)
      if (error !== null) parts.onFailure(error, exchange.incoming)
      return 'passed'
    },
  }
}

// --- internal ---

/** What comes whole with its headers is no longer than what Node reads of a connection at once, in bytes. */
const SMALL_BYTES_MAX = 65_536

/** What is known of an answer that has come. */
type SeenAnswer = { readonly firstByteMs: number; readonly judged: Judged | null }

type Sent = Pick<BegunRequest, 'body' | 'arrival'> & { readonly kind: Kind; readonly sentAtMs: number }
