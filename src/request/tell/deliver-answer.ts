import type { UsageHider } from '../../dialects/answer-contract.ts'
import type { RequestReport } from '../../activity/request-report.ts'
import type { ClientRequest } from '../../http/client-request.ts'
import { deliver, type Delivery } from '../../http/deliver.ts'
import type { Lesson } from '../../models/learn.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import type { AnswerObserver } from '../observe.ts'
import type { RequestParts } from '../parts.ts'
import type { JoinedReply } from '../request.ts'
import { hidingUsage } from '../send/hide-usage.ts'

/**
 * An answer that is settled on, with all that its delivery needs. It refers to neither the request's body nor its view, unless a reply
 * may take several answers: an answer may flow for minutes, and they must not stay in memory for as long.
 */
export type Settled = {
  readonly answer: Answer
  readonly held: readonly Buffer[]
  readonly headers: Readonly<Record<string, string>>
  /** Null if it could not be made. */
  readonly report: RequestReport | null
  /** What its end is to be compared with; null if that could not be said. */
  readonly lesson: Lesson | null
  /** Reads along. */
  readonly observer: AnswerObserver
  /** What takes the usage out that a stream states, if it was asked for, and not by the client. */
  readonly usageHider: UsageHider | null
  /** How often a reply of several answers went on, and what all of them cost; null if it is one. */
  readonly total: JoinedReply['total'] | null
  /** Gives the body's bytes back to the budget, once the answer is over. */
  readonly release: () => void
}

/** Gives the answer to the client, reads along, and remembers what it taught. */
export async function deliverAnswer(
  exchange: ClientRequest,
  { answer, held, headers, report, lesson, observer, usageHider, total }: Settled,
  { failures, learning, reports, stallMs }: RequestParts,
): Promise<Delivery> {
  const transform = usageHider === null ? null : hidingUsage(usageHider)
  const delivery = await deliver(exchange, answer, { headers, held, transform, tap: observer.tap, stallMs })
  const seen = failures.attempt('observation', null, observer.end)
  if (seen !== null && lesson !== null) {
    const isEntire = delivery.outcome === 'finished'
    failures.attempt('observation', undefined, learning.answered, lesson, seen, isEntire)
  }
  if (report !== null) {
    const { usage = null, model: answeredBy = null, removedThoughts = null, cacheMiss = null } = seen ?? {}
    const all = total?.() ?? oneAnswer
    const told = { outcome: delivery.outcome, answeredBy, removedThoughts, cacheMiss }
    reports.end(report, { ...told, ...all, usage: all.usage ?? usage })
  }
  return delivery
}

// --- internal ---

const oneAnswer: ReturnType<JoinedReply['total']> = { recalls: 0, continuations: 0, usage: null }
