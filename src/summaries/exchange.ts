import { FoldgateError } from '../errors.ts'
import { GaveWayError } from '../upstream/gate.ts'
import { readAnswer, type Reading } from './answer.ts'
import { failure, type Failure, type FailureReason } from './failure.ts'
import type { Ask, AskAnswer, Order, Spent } from './order.ts'
import type { ParameterMemory, Rejection } from './parameter-memory.ts'
import { TOKENS_RATIO } from './pieces.ts'
import { warmInstruction, type Prompt } from './prompt.ts'
import { rejectionIn } from './rejection.ts'
import { ownFields, requestFields } from './request.ts'

/** An answer that was read, or why none came. */
export type Exchange = Answered | Failure

export type Answered = {
  readonly kind: 'answered'
  readonly reading: Reading
  readonly body: string
}

/** Asks for one order, and keeps its accounts. */
export type Exchanges = {
  /**
   * Sends a prompt, and again without what the upstream rejects by name, which is remembered. `promptTokens`: what it
   * holds by our count.
   */
  readonly sendPrompt: (
    prompt: Prompt,
    promptTokens: number,
    windowTokens: number | null,
  ) => Promise<Exchange>
  /**
   * Asks the same way at the end of the warm conversation. Null where that is not offered, the window has no room for an
   * answer, or it was refused before without saying why.
   */
  readonly sendWarm: () => Promise<Exchange | null>
  readonly spent: () => Omit<Spent, 'learntWindowTokens'>
}

export function openExchanges(
  order: Order,
  ask: Ask,
  memory: ParameterMemory,
  signal: AbortSignal,
): Exchanges {
  const spent = { calls: 0, promptTokens: 0, completionTokens: 0, cachedTokens: 0, sentTokens: 0 }
  // To give way once is usual, and a summary is not given up for it: what it costs is saved on those to come.
  let hasGivenWay = false

  async function send(body: string, promptTokens: number): Promise<Exchange> {
    const isPaid = (): boolean => spent.sentTokens + promptTokens <= order.spendableTokens
    const charge = (): void => {
      spent.calls += 1
      spent.sentTokens += promptTokens
    }
    const payAgain = (): boolean => {
      if (hasGivenWay && !isPaid()) return false
      hasGivenWay = true
      charge()
      return true
    }
    if (!isPaid()) return failure('too-dear')
    if (signal.aborted) return failure('cancelled')
    charge()
    let answer: AskAnswer
    try {
      answer = await ask({ body, payAgain }, signal)
    } catch (error) {
      return failure(reasonOf(error, signal))
    }
    const reading = readAnswer(answer)
    const { usage } = reading
    spent.promptTokens += usage?.promptTokens ?? (wasRead(answer, reading) ? promptTokens : 0)
    spent.completionTokens +=
      usage?.completionTokens ?? (reading.kind === 'text' ? order.count(reading.text) : 0)
    spent.cachedTokens += usage?.cachedTokens ?? 0
    return { kind: 'answered', reading, body: answer.body }
  }

  async function sendPrompt(
    prompt: Prompt,
    promptTokens: number,
    windowTokens: number | null,
  ): Promise<Exchange> {
    const { settings, model, limitName } = order
    const outputTokensMax = outputRoom(windowTokens, promptTokens)
    return sendAccepted(promptTokens, (rejections) => {
      const fields = requestFields(prompt, { settings, model, limitName, outputTokensMax, rejections })
      return { fields, body: JSON.stringify(fields) }
    })
  }

  async function sendWarm(): Promise<Exchange | null> {
    const { settings, limitName, parametersKey, warm } = order
    if (warm === null) return null
    const outputTokensMax = outputRoom(order.windowTokens, warm.promptTokens)
    if (outputTokensMax !== null && outputTokensMax < settings.max_tokens) return null
    if (memory.rejectedBy(parametersKey).some(({ kind }) => kind === 'warm')) return null
    const exchange = await sendAccepted(warm.promptTokens, (rejections) => {
      const fields = ownFields({ settings, limitName, outputTokensMax, rejections })
      return { fields, body: warm.body(warmInstruction(settings), fields) }
    })
    if (exchange.kind === 'answered' && isRefused(exchange.reading))
      memory.remember(parametersKey, { kind: 'warm' })
    return exchange
  }

  /** Sends what is made under the rejections that are known, and again where the answer names a further one. */
  async function sendAccepted(
    promptTokens: number,
    made: (rejections: readonly Rejection[]) => {
      readonly fields: Readonly<Record<string, unknown>>
      readonly body: string
    },
  ): Promise<Exchange> {
    for (let repeat = 0; ; repeat += 1) {
      const rejections = memory.rejectedBy(order.parametersKey)
      const { fields, body } = made(rejections)
      const exchange = await send(body, promptTokens)
      if (exchange.kind === 'failed' || repeat === REPEATS_MAX) return exchange
      const rejection = rejectionOf(exchange, fields, rejections)
      if (rejection === null) return exchange
      memory.remember(order.parametersKey, rejection)
    }
  }

  return { sendPrompt, sendWarm, spent: () => ({ ...spent }) }
}

// --- internal ---

/** What the window leaves for an answer; null where it is not known. */
function outputRoom(windowTokens: number | null, promptTokens: number): number | null {
  return windowTokens === null ? null : windowTokens - Math.ceil(promptTokens * TOKENS_RATIO)
}

function isRefused({ kind }: Reading): boolean {
  return kind === 'refused' || kind === 'limit-refused'
}

/** Times that a call is repeated with a rejected parameter taken out. */
const REPEATS_MAX = 4

/** Whether a model read the prompt, as far as can be told: a refusal is not charged. */
function wasRead({ status }: AskAnswer, { kind }: Reading): boolean {
  return status >= 200 && status < 300 && (kind === 'text' || kind === 'failed')
}

/** What an answer rejects of the request; null where it was accepted, or repeating it differently changes nothing. */
function rejectionOf(
  { reading, body }: Answered,
  fields: Readonly<Record<string, unknown>>,
  known: readonly Rejection[],
): Rejection | null {
  if (reading.kind === 'refused') return rejectionIn(body, fields)
  if (reading.kind !== 'limit-refused') return null
  // First without the room for thoughts, then without a limit.
  const isKnown = known.some(({ kind }) => kind === 'reasoning-tokens')
  return isKnown ? rejectionIn(body, fields) : { kind: 'reasoning-tokens' }
}

/** Why no answer came. An error that nobody expects is a defect, and is thrown on. */
function reasonOf(error: unknown, signal: AbortSignal): FailureReason {
  if (error instanceof GaveWayError) return 'too-dear'
  if (error instanceof FoldgateError) {
    if (error.code === 'upstream_unreachable') return 'unreachable'
    return error.code === 'upstream_timeout' ? 'timeout' : 'broken-off'
  }
  if (signal.aborted) return 'cancelled'
  throw error
}
