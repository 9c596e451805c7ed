import type { Answer } from '../upstream/upstreams.ts'
import { answerHeaders } from './answer-headers.ts'
import type { ChatRequest } from './chat-request.ts'
import { deliver, type Delivery } from './deliver.ts'
import type { Exchange } from './exchange.ts'
import { knownWindow } from './measure.ts'
import { observeAnswer } from './observe.ts'
import type { Preparation, Ready } from './prepare.ts'
import type { Outcome } from './send.ts'
import type { ModelKey } from './upstream-memory.ts'

/**
 * What is left to do once an answer is settled on. It refers to neither the request's body nor its view:
 * an answer may flow for minutes, and they must not stay in memory for as long.
 */
export type Settled = {
  readonly answer: Answer
  readonly held: readonly Buffer[]
  readonly headers: Readonly<Record<string, string>>
  readonly modelKey: ModelKey
  readonly conversation: string
  /** The prompt's size as the provider counts, estimated. */
  readonly sentTokens: number
  readonly knownWindowTokens: number | null
  /** Gives the body's bytes back to the budget, once the answer is over. */
  readonly release: () => void
}

/** What remains of a request when its answer is settled on. */
export function settle(request: ChatRequest, ready: Ready, outcome: Outcome, release: () => void): Settled {
  const { measure } = ready
  return {
    answer: outcome.answer,
    held: outcome.held,
    headers: answerHeaders({
      conversation: ready.remembered.conversation,
      profile: request.profile.name,
      measure,
      outcome,
      failedOpen: ready.failedOpen,
      relayedReason: ready.relayedReason,
    }),
    modelKey: request.modelKey,
    conversation: ready.remembered.conversation,
    sentTokens: Math.ceil(outcome.prepared.sentTokens * (measure?.ratio ?? 1)),
    knownWindowTokens: knownWindow(measure)?.tokens ?? null,
    release,
  }
}

/** Gives the answer to the client, reads along, and remembers what it taught. */
export async function finish(
  exchange: Exchange,
  settled: Settled,
  parts: Preparation & { readonly stallMs: number },
): Promise<Delivery> {
  const { modelKey, conversation, sentTokens } = settled
  const observer = observeAnswer(settled.answer, settled.knownWindowTokens)
  const delivery = await deliver(exchange, settled.answer, {
    headers: settled.headers,
    held: settled.held,
    tap: observer.tap,
    stallMs: parts.stallMs,
  })
  await parts.failures.around('observation', null, async () => {
    const report = observer.end()
    if (report === null) return null
    const { windows } = parts.memory
    if (report.overflow !== null) {
      windows.learnFrom(
        modelKey,
        { classification: report.overflow, conversation, sentTokens },
        parts.nowMs(),
      )
    } else if (delivery.outcome === 'finished' && !report.isError) {
      const promptTokens = report.usage?.promptTokens ?? null
      if (promptTokens !== null) windows.succeeded(modelKey, promptTokens)
    }
    return null
  })
  return delivery
}
