import type { JsonObject } from '../conversation/json-value.ts'
import { FoldgateError } from '../errors.ts'
import type { WholeAnswer } from '../overflow/classify.ts'
import { GaveWayError } from '../upstream/gate.ts'
import { readSummaryAnswer, type SummaryAnswer } from './answer.ts'
import type { Spent, SummaryOrder } from './order.ts'
import { TOKENS_RATIO } from './pieces.ts'
import { REASONING_TOKENS, rejectionIn, SYSTEM_ROLE, type Rejections } from './rejections.ts'
import type { Ask } from './summary-call.ts'
import { failure, type FailureReason } from './summary-record.ts'

/** A prompt, and how it is sent. */
export type CallPrompt = {
  /** By our count. */
  readonly promptTokens: number
  /** The model's window, in its own tokens; null if it is not known. */
  readonly windowTokens: number | null
  readonly hasSystemText: boolean
  /** The whole body with these `fields` beside the prompt; if the model takes no system role, the system text stands in the user's message. */
  readonly body: (fields: JsonObject, systemPlace: 'own' | 'user') => string
}

/** Makes the calls of one order, and keeps its account. */
export type OrderCalls = {
  /** Sends a prompt, and again without the fields that the model rejects by name, which is remembered. */
  readonly send: (prompt: CallPrompt) => Promise<SummaryAnswer>
  readonly spent: () => Spent
}

export function createOrderCalls(
  order: SummaryOrder,
  ask: Ask,
  rejections: Rejections,
  signal: AbortSignal,
): OrderCalls {
  const spent = {
    calls: 0,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    cacheWrittenTokens: 0,
    sentTokens: 0,
  }
  let learntWindowTokens: number | null = null
  // To give way once is usual, and a summary is not given up for it: its cost is saved on those to come.
  let hasGivenWay = false

  /** The text of the answer is '' if none came. */
  async function sendOnce(
    body: string,
    promptTokens: number,
  ): Promise<{ readonly answer: SummaryAnswer; readonly text: string }> {
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
    if (!isPaid()) return { answer: failure('too-dear'), text: '' }
    if (signal.aborted) return { answer: failure('cancelled'), text: '' }
    charge()
    let called: WholeAnswer
    try {
      called = await ask({ body, payAgain }, signal)
    } catch (error) {
      return { answer: failure(reasonOf(error, signal)), text: '' }
    }
    const { answer, usage } = readSummaryAnswer(called, order.dialect)
    // A refusal is not charged: no model has read the prompt, as far as can be told.
    const wasRead =
      called.status >= 200 && called.status < 300 && (answer.kind === 'text' || answer.kind === 'failed')
    spent.promptTokens += usage?.promptTokens ?? (wasRead ? promptTokens : 0)
    spent.completionTokens +=
      usage?.completionTokens ?? (answer.kind === 'text' ? order.subject.count(answer.text) : 0)
    spent.cachedTokens += usage?.cachedTokens ?? 0
    spent.cacheWrittenTokens += usage?.cacheWrittenTokens ?? 0
    if (answer.kind === 'overflow') learntWindowTokens = answer.window?.tokens ?? learntWindowTokens
    return { answer, text: called.body }
  }

  async function send({
    promptTokens,
    windowTokens,
    hasSystemText,
    body,
  }: CallPrompt): Promise<SummaryAnswer> {
    for (let repeat = 0; ; repeat += 1) {
      const rejected = rejections.of(order.rejectionsKey)
      const fields = fieldsBeside(order, outputRoom(windowTokens, promptTokens), rejected)
      const systemPlace = rejected.has(SYSTEM_ROLE) ? 'user' : 'own'
      const { answer, text } = await sendOnce(body(fields, systemPlace), promptTokens)
      const isRefused = answer.kind === 'refused' || answer.kind === 'limit-refused'
      if (!isRefused || repeat === REPEATS_MAX) return answer
      // Of a limit first the room for thoughts goes, then all of it.
      const { mustLimit, limitFields } = order.dialect.summaries
      const optional = Object.keys(fields).filter((name) => !mustLimit || !limitFields.includes(name))
      const rejection =
        answer.kind === 'limit-refused' && !rejected.has(REASONING_TOKENS)
          ? REASONING_TOKENS
          : rejectionIn(text, optional, hasSystemText && systemPlace === 'own')
      if (rejection === null) return answer
      rejections.add(order.rejectionsKey, rejection)
    }
  }

  return { send, spent: () => ({ ...spent, learntWindowTokens }) }
}

/** What the window leaves for an answer, in the model's tokens; null if it is not known. */
export function outputRoom(windowTokens: number | null, promptTokens: number): number | null {
  return windowTokens === null ? null : windowTokens - Math.ceil(promptTokens * TOKENS_RATIO)
}

// --- internal ---

/** Times that a call is repeated with a rejected field taken out. */
const REPEATS_MAX = 4

/** The fields beside the prompt: the limit of the answer, and the operator's, which may hold another limit. */
function fieldsBeside(
  { settings, limitField, dialect }: SummaryOrder,
  outputTokensMax: number | null,
  rejected: ReadonlySet<string>,
): JsonObject {
  const { parameters, max_tokens: textTokens, reasoning_tokens: reasoningTokens } = settings
  const isLimited = dialect.summaries.limitFields.some((name) => Object.hasOwn(parameters, name))
  const field = [limitField, ...dialect.summaries.limitFields].find((name) => !rejected.has(name))
  const tokens = rejected.has(REASONING_TOKENS) ? textTokens : textTokens + reasoningTokens
  const limit = Math.max(1, Math.min(tokens, outputTokensMax ?? tokens))
  return {
    ...(isLimited || field === undefined ? {} : { [field]: limit }),
    ...Object.fromEntries(Object.entries(parameters).filter(([name]) => !rejected.has(name))),
  }
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
