import type { Answer } from '../upstream/upstreams.ts'
import { answerHeaders } from './answer-headers.ts'
import type { ChatRequest } from './request/chat-request.ts'
import { deliver, type Delivery } from './wire/deliver.ts'
import type { Exchange } from './wire/exchange.ts'
import { usageHiderFor } from './send/hide-usage.ts'
import { learnFromAnswer, type LearnParts, type Lesson } from './learn.ts'
import { knownWindow } from './measure/measure.ts'
import { observeAnswer } from './observe.ts'
import { bytesIn } from './send/outgoing-body.ts'
import type { Preparation, Ready } from './prepare.ts'
import type { Chat } from './request/read-chat.ts'
import type { Outcome } from './send/send.ts'
import { describeSent, expectedPromptTokens } from './measure/sent-prompt.ts'
import { windowQuestion } from './measure/window-finder.ts'

/**
 * What is left to do once an answer is settled on. It refers to neither the request's body nor its view:
 * an answer may flow for minutes, and they must not stay in memory for as long.
 */
export type Settled = {
  readonly answer: Answer
  readonly held: readonly Buffer[]
  readonly headers: Readonly<Record<string, string>>
  /** What its end is to be compared with. */
  readonly lesson: Lesson
  readonly knownWindowTokens: number | null
  /** Whether the usage that a stream states is hidden: asked for, and not by the client. */
  readonly hidesUsage: boolean
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
    lesson: lessonOf(request, ready, outcome),
    knownWindowTokens: knownWindow(measure)?.tokens ?? null,
    hidesUsage: outcome.asksUsage,
    release,
  }
}

/** Gives the answer to the client, reads along, and remembers what it taught. */
export async function finish(
  exchange: Exchange,
  settled: Settled,
  parts: Preparation & LearnParts & { readonly stallMs: number },
): Promise<Delivery> {
  const observer = observeAnswer(settled.answer, settled.knownWindowTokens)
  const delivery = await deliver(exchange, settled.answer, {
    headers: settled.headers,
    held: settled.held,
    transform: settled.hidesUsage ? usageHiderFor(settled.answer) : null,
    tap: observer.tap,
    stallMs: parts.stallMs,
  })
  await parts.failures.around('observation', null, async () => {
    const report = observer.end()
    if (report === null) return null
    learnFromAnswer(settled.lesson, report, delivery.outcome === 'finished', parts)
    return null
  })
  return delivery
}

// --- internal ---

function lessonOf(request: ChatRequest, ready: Ready, { prepared, asksUsage }: Outcome): Lesson {
  const { chat, profile } = request
  const { stream, includeUsage } = chat.completion
  const { measure } = ready
  return {
    modelKey: request.modelKey,
    model: request.model,
    conversation: ready.remembered.conversation,
    isUsageUnasked: stream && !includeUsage && !asksUsage,
    expectedTokens: measure === null ? prepared.sentTokens : expectedPromptTokens(measure, prepared),
    sent: measure === null ? null : describeSent(chat, measure, prepared),
    calibrationName: measure?.calibrationName ?? null,
    textBytes: bytesIn(prepared.pieces) - mediaCharacters(chat),
    question: profile.window.tokens === 'auto' ? windowQuestion(request) : null,
  }
}

/** How much of a body is base64; a view may hold less of it, which errs on the side of less text. */
function mediaCharacters(chat: Chat): number {
  let bytes = 0
  for (const { facts } of chat.messages) for (const media of facts.media) bytes += media.dataBytes
  return Math.ceil((bytes * 4) / 3)
}
