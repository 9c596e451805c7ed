import { answerHeaders } from './answer-headers.ts'
import type { ChatRequest } from './chat-request.ts'
import { deliver, type Delivery } from './deliver.ts'
import { knownWindow } from './measure.ts'
import { observeAnswer } from './observe.ts'
import type { Preparation, Ready } from './prepare.ts'
import type { Outcome } from './send.ts'

/** Gives the answer to the client, reads along, and remembers what it taught. */
export async function finish(
  request: ChatRequest,
  ready: Ready,
  outcome: Outcome,
  parts: Preparation & { readonly stallMs: number },
): Promise<Delivery> {
  const { answer, prepared } = outcome
  const observer = observeAnswer(answer, knownWindow(ready.measure)?.tokens ?? null)
  const delivery = await deliver(request.exchange, answer, {
    headers: answerHeaders({
      conversation: ready.remembered.conversation,
      profile: request.profile.name,
      measure: ready.measure,
      outcome,
      failedOpen: ready.failedOpen,
      relayedReason: ready.relayedReason,
    }),
    held: outcome.held,
    tap: observer.tap,
    stallMs: parts.stallMs,
  })
  await parts.failures.around('observation', null, async () => {
    const report = observer.end()
    if (report === null) return null
    const { modelKey } = request
    const { conversation } = ready.remembered
    if (report.overflow !== null) {
      const learnt = { classification: report.overflow, conversation, sentTokens: prepared.sentTokens }
      parts.memory.windows.learnFrom(modelKey, learnt, parts.nowMs())
    } else if (delivery.outcome === 'finished' && report.usage !== null && !report.isError) {
      if (report.usage.promptTokens !== null)
        parts.memory.windows.succeeded(modelKey, report.usage.promptTokens)
    }
    return null
  })
  return delivery
}
