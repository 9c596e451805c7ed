import type { Prepared, Outcome, Send } from '../request.ts'
import { randomUUID } from 'node:crypto'
import { drive } from '../../scheduling/drive.ts'
import { FoldgateError } from '../../errors.ts'
import type { Classification } from '../../overflow/classification.ts'
import { headerValue } from '../../upstream/credential.ts'
import type { Answer, Upstreams } from '../../upstream/upstreams.ts'
import { onwardOf, type ClientRequest } from '../../http/client-request.ts'
import { judge, type JudgeOptions } from './judge.ts'
import { bytesInSteps, bytesOf, hasLongText, isUntouched } from './outgoing-body.ts'

export type SendOptions = {
  readonly upstreams: Upstreams
  readonly upstreamName: string | null
  readonly exchange: ClientRequest
  /** The client's bytes with their content coding, sent where nothing was changed. */
  readonly raw: Buffer
  readonly judging: (prepared: Prepared) => JudgeOptions
}

/** Sends to the upstream and looks at the beginning of the answer. Each further request counts as an attempt. */
export function sendOnce(options: SendOptions): Send {
  const { exchange } = options
  let attempts = 0
  let firstSentAtMs: number | null = null

  return async function sendOnceMore(prepared) {
    attempts += 1
    const isChanged = !isUntouched(prepared)
    const sentAtMs = performance.now()
    firstSentAtMs ??= sentAtMs
    const body = isChanged ? bodyOf(prepared) : options.raw
    const answer = await options.upstreams.send({
      upstream: options.upstreamName,
      ...onwardOf(exchange),
      body: body instanceof Promise ? await body : body,
      headerOverrides: {
        // Answers have to be readable here; on the way to a model's server compression saves nothing.
        'accept-encoding': 'identity',
        ...(isChanged ? { 'content-encoding': null } : {}),
        // A server that knows the key would answer with what it answered to another body.
        ...(attempts > 1 && hasIdempotencyKey(exchange) ? { 'idempotency-key': randomUUID() } : {}),
      },
    })
    const firstByteMs = performance.now() - sentAtMs
    const judged = await judge(answer, options.judging(prepared))
    const timing = { attempts, firstSentAtMs, firstByteMs }
    return { ...judged, ...timing, prepared, remedy: 'none', asksUsage: false, offersRecall: false }
  }
}

/**
 * Sends again after a refusal that may be cured; null where that fails on the wire. Then the refusal
 * stands: the client gets the upstream's own error rather than one of ours, if it was read whole.
 */
export async function sendAgain(refused: Outcome, send: () => Promise<Outcome>): Promise<Outcome | null> {
  const isWhole = refused.answer.body.isEnded
  // An answer that is left open keeps its connection, and its place where an upstream takes few at a time.
  if (!isWhole) discard(refused.answer)
  try {
    return await send()
  } catch (error) {
    if (isWhole && error instanceof FoldgateError) return null
    throw error
  }
}

/** Ends an answer that nobody will read. */
export function discard(answer: Answer): void {
  answer.body.destroy()
}

/** An answer, not the upstream's refusal. */
export function isAnswered({ verdict, answer }: Outcome): boolean {
  return (verdict === 'good' || verdict === 'empty') && answer.status < 400
}

/** Whether it was refused for what Foldgate made of the request: not for its size, who asks, how often or what. */
export function isOurDoing({ verdict, answer, classification }: Outcome): boolean {
  if (verdict !== 'refused' || !refusalStatuses.has(answer.status)) return false
  const reason = classification?.class ?? 'other'
  return reason === 'order' || reason === 'other'
}

/** Whether a smaller request may be accepted; every other refusal is the upstream's word to the client. */
export function isTooLarge(
  outcome: Outcome,
): outcome is Outcome & { readonly classification: Classification } {
  const reason = outcome.verdict === 'good' ? null : outcome.classification?.class
  return reason === 'overflow' || reason === 'output_too_large' || reason === 'payload_too_large'
}

/** A refusal that stands although it was sent again. */
export function standing(refused: Outcome): Outcome {
  return { ...refused, attempts: refused.attempts + 1 }
}

// --- internal ---

function bodyOf({ chat, pieces }: Prepared): Buffer | Promise<Buffer> {
  return hasLongText(pieces) ? drive(bytesInSteps(chat.bytes, pieces)) : bytesOf(chat.bytes, pieces)
}

/** Statuses with which servers refuse what they cannot make sense of. */
const refusalStatuses: ReadonlySet<number> = new Set([400, 422, 500])

function hasIdempotencyKey(exchange: ClientRequest): boolean {
  return headerValue(exchange.incoming.rawHeaders, 'idempotency-key') !== null
}
