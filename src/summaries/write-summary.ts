import { runInSlices } from '../scheduling/drive.ts'
import { type Ask, readSummaryAnswer, type SummaryAnswer } from './summary-call.ts'
import { acceptSummary } from './accept-summary.ts'
import type { SummaryOrder, SummaryResult } from './summary-order.ts'
import { cachedCallInstruction, promptOf, type SummaryPrompt, type SummarySettings } from './prompt.ts'
import {
  CACHED_PROMPT,
  REASONING_TOKENS,
  rejectionIn,
  type Rejections,
  SYSTEM_ROLE,
} from './refused-fields.ts'
import { failure, type Failure, type FailureReason, type SummaryRecord } from './summary-record.ts'
import { isJsonObject, type JsonObject } from '../json/json-value.ts'
import { FoldgateError } from '../errors.ts'
import type { WholeAnswer } from '../overflow/classify.ts'
import { GaveWayError } from '../upstream/concurrency.ts'
import { clipText } from '../compaction/passes/clip.ts'
import type { CountSteps } from '../compaction/history/history.ts'
import type { Pausable } from '../json/source.ts'
import type { TranscriptMessage } from './transcript.ts'

/**
 * Has a model write the summary of an order, in several calls if its messages exceed the model's window: each continues
 * the summary of the one before. If any of them fails, the order fails. Only a defect of our own makes it reject.
 */
export async function writeSummary(
  order: SummaryOrder,
  ask: Ask,
  rejections: Rejections,
  signal: AbortSignal,
): Promise<SummaryResult> {
  const calls = createOrderCalls(order, ask, rejections, signal)
  const outcome = (await writeByCachedCall(order, calls, rejections)) ?? (await writeByPieces(order, calls))
  const isWorthIt =
    outcome.kind === 'failed' || savesEnough(order.replacedTokens, outcome.tokens, order.settings)
  return { ...(isWorthIt ? outcome : failure('no-savings')), ...calls.spent }
}

/** Whether a summary of this size is worth the break in the provider's cache, beside what it replaces; in tokens. */
export function savesEnough(
  replacedTokens: number,
  summaryTokens: number,
  { min_savings_ratio }: Pick<SummarySettings, 'min_savings_ratio'>,
): boolean {
  const savedTokens = replacedTokens - summaryTokens
  return savedTokens >= SAVED_TOKENS_MIN && savedTokens >= replacedTokens * min_savings_ratio
}

// --- internal ---

const SAVED_TOKENS_MIN = 1024

/** Times that an overflow makes the pieces smaller, in one order. */
const OVERFLOWS_MAX = 4

/** Tokens that chat templates add around two messages. */
const TEMPLATE_TOKENS = 16

/** Null if there is no such call, or a transcript may do better: it was too dear, refused as it is, or answered with a call. */
async function writeByCachedCall(
  order: SummaryOrder,
  calls: OrderCalls,
  rejections: Rejections,
): Promise<SummaryRecord | null> {
  const { cachedCall, settings, windowTokens, rejectionsKey } = order
  if (cachedCall === null || order.messages.length === 0) return null
  const { promptTokens } = cachedCall
  const room = outputRoom(windowTokens, promptTokens)
  if (room !== null && room < settings.max_tokens) return null
  if (rejections.of(rejectionsKey).has(CACHED_PROMPT)) return null
  const instruction = cachedCallInstruction(settings)
  const answer = await calls.send({
    promptTokens,
    windowTokens,
    hasSystemText: false,
    body: (fields) => cachedCall.body(instruction, fields),
  })
  if (answer.kind === 'text')
    return acceptSummary(answer, order, { previous: order.previous, fenceKey: null })
  if (answer.kind === 'failed')
    return answer.reason === 'too-dear' || answer.reason === 'tool-call' ? null : answer
  if (answer.kind !== 'overflow') rejections.add(rejectionsKey, CACHED_PROMPT)
  return null
}

async function writeByPieces(order: SummaryOrder, calls: OrderCalls): Promise<SummaryRecord> {
  const { settings, dialect, model } = order
  const { countSteps, digest } = order.history
  let { previous, messages: rest, windowTokens } = order
  let pieceTokensMax = windowTokens === null ? UNKNOWN_PIECE_TOKENS : PIECE_TOKENS_MAX
  let outcome: SummaryRecord = failure('empty')
  let overflows = 0
  while (rest.length > 0) {
    const frameTokens = await tokensOf(promptOf(settings, { previous, messages: [] }, digest), order)
    const roomTokens = Math.min(pieceTokensMax, promptRoom(windowTokens, settings) - frameTokens)
    if (roomTokens < PIECE_TOKENS_MIN) return failure('overflow')
    const piece = await runInSlices(firstPiece(rest, roomTokens, countSteps))
    const prompt = promptOf(settings, { previous, messages: piece }, digest)
    const { system, user } = prompt
    const answer = await calls.send({
      promptTokens: await tokensOf(prompt, order),
      windowTokens,
      hasSystemText: system !== '',
      body: (fields, systemPlace) =>
        JSON.stringify({
          ...(model === null ? {} : { model }),
          ...(systemPlace === 'user' && system !== ''
            ? dialect.summaries.asked('', `${system}\n\n${user}`)
            : dialect.summaries.asked(system, user)),
          ...fields,
        }),
    })
    if (answer.kind === 'overflow' && overflows < OVERFLOWS_MAX) {
      overflows += 1
      windowTokens = Math.min(answer.window?.tokens ?? Infinity, windowTokens ?? Infinity)
      if (windowTokens === Infinity) windowTokens = null
      pieceTokensMax = Math.floor(piece.reduce((sum, { tokens }) => sum + tokens + BREAK_TOKENS, 0) / 2)
      continue
    }
    outcome =
      answer.kind === 'text'
        ? acceptSummary(answer, order, { previous, fenceKey: prompt.fenceKey })
        : failureOf(answer)
    if (outcome.kind === 'failed') break
    previous = outcome.text
    rest = rest.slice(piece.length)
  }
  return outcome
}

/** What a window leaves for a prompt, by our count: the output has its place in it, half of it at the most. */
function promptRoom(windowTokens: number | null, settings: SummarySettings): number {
  if (windowTokens === null) return Infinity
  const outputTokens = settings.max_tokens + settings.reasoning_tokens
  return Math.floor((windowTokens - Math.min(outputTokens, Math.floor(windowTokens / 2))) / TOKENS_RATIO)
}

async function tokensOf({ system, user }: SummaryPrompt, { history }: SummaryOrder): Promise<number> {
  const tokens =
    (await runInSlices(history.countSteps(system))) + (await runInSlices(history.countSteps(user)))
  return tokens + TEMPLATE_TOKENS
}

function failureOf(answer: Exclude<SummaryAnswer, { kind: 'text' }>): Failure {
  if (answer.kind === 'failed') return answer
  return failure(answer.kind === 'overflow' ? 'overflow' : 'upstream-error')
}

/** A prompt, and how it is sent. */
type CallPrompt = {
  /** By our count. */
  readonly promptTokens: number
  /** The model's window, in its own tokens; null if it is not known. */
  readonly windowTokens: number | null
  readonly hasSystemText: boolean
  /** The whole body with these `fields` beside the prompt; if the model takes no system role, the system text stands in the user's message. */
  readonly body: (fields: JsonObject, systemPlace: 'own' | 'user') => string
}

/** Makes the calls of one order, and keeps its account. */
type OrderCalls = ReturnType<typeof createOrderCalls>

function createOrderCalls(order: SummaryOrder, ask: Ask, rejections: Rejections, signal: AbortSignal) {
  const spent = {
    calls: 0,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    cacheWrittenTokens: 0,
    sentTokens: 0,
    learntWindowTokens: null as number | null,
  }
  let hasGivenWay = false

  /** Charges for a prompt that is to be sent; false if it may not be paid. */
  function charge(promptTokens: number, mayExceed: boolean): boolean {
    if (!mayExceed && spent.sentTokens + promptTokens > order.spendableTokens) return false
    spent.calls += 1
    spent.sentTokens += promptTokens
    return true
  }

  /** The text of the answer is '' if none came. */
  async function sendOnce(
    body: string,
    promptTokens: number,
  ): Promise<{ readonly answer: SummaryAnswer; readonly text: string }> {
    if (signal.aborted) return { answer: failure('cancelled'), text: '' }
    if (!charge(promptTokens, false)) return { answer: failure('too-dear'), text: '' }
    const payAgain = (): boolean => {
      // To give way once is usual, and a summary is not given up for it: its cost is saved on those to come.
      const mayExceed = !hasGivenWay
      hasGivenWay = true
      return charge(promptTokens, mayExceed)
    }
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
    const ownCompletionTokens = answer.kind === 'text' ? order.history.count(answer.text) : 0
    spent.promptTokens += usage?.promptTokens ?? (wasRead ? promptTokens : 0)
    spent.completionTokens += usage?.completionTokens ?? ownCompletionTokens
    spent.cachedTokens += usage?.cachedTokens ?? 0
    spent.cacheWrittenTokens += usage?.cacheWrittenTokens ?? 0
    if (answer.kind === 'overflow')
      spent.learntWindowTokens = answer.window?.tokens ?? spent.learntWindowTokens
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
      const optional = Object.keys(fields).filter((name) => mustLimit !== true || !limitFields.includes(name))
      const rejection =
        answer.kind === 'limit-refused' && !rejected.has(REASONING_TOKENS)
          ? REASONING_TOKENS
          : rejectionIn(text, optional, hasSystemText && systemPlace === 'own')
      if (rejection === null) return answer
      rejections.add(order.rejectionsKey, rejection)
    }
  }

  return {
    /** Sends a prompt, and again without the fields that the model rejects by name, which is remembered. */
    send,
    spent,
  }
}

/** What the window leaves for an answer, in the model's tokens; null if it is not known. */
function outputRoom(windowTokens: number | null, promptTokens: number): number | null {
  return windowTokens === null ? null : windowTokens - Math.ceil(promptTokens * TOKENS_RATIO)
}

/** Times that a call is repeated with a rejected field taken out. */
const REPEATS_MAX = 4

/** The fields beside the prompt: the limit of the answer, and the operator's, which may hold another limit. */
function fieldsBeside(
  { settings, limitField, modelOptions = null, dialect: { summaries } }: SummaryOrder,
  outputTokensMax: number | null,
  rejected: ReadonlySet<string>,
): JsonObject {
  const { parameters, max_tokens: textTokens, reasoning_tokens: reasoningTokens } = settings
  const { limitFields } = summaries
  const isLimited = limitFields.some((name) => Object.hasOwn(parameters, name))
  const fields = limitFields.includes(limitField) ? [limitField, ...limitFields] : limitFields
  const field = fields.find((name) => !rejected.has(name))
  const tokens = rejected.has(REASONING_TOKENS) ? textTokens : textTokens + reasoningTokens
  const limit = Math.max(1, Math.min(tokens, outputTokensMax ?? tokens))
  const own = Object.fromEntries(Object.entries(parameters).filter(([name]) => !rejected.has(name)))
  if (field === undefined) return own
  // The operator's are told among the others, which stay: without them the model would be loaded anew.
  if (summaries.limit !== undefined) {
    const others = isJsonObject(own[field]) ? own[field] : {}
    return { ...own, [field]: { ...summaries.limit(limit, modelOptions), ...others } }
  }
  return { ...(isLimited ? {} : { [field]: limit }), ...own }
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

/** The model's tokens for one of ours, at the most that is usual. */
const TOKENS_RATIO = 1.25

/** As many of the messages as there is room for. One that is too large alone is clipped. */
function* firstPiece(
  messages: readonly TranscriptMessage[],
  roomTokens: number,
  countSteps: CountSteps,
): Pausable<readonly TranscriptMessage[]> {
  let tokens = 0
  let end = 0
  for (const message of messages) {
    tokens += message.tokens + BREAK_TOKENS
    if (tokens > roomTokens) break
    end += 1
  }
  const [first] = messages
  if (end > 0 || first === undefined) return messages.slice(0, end)
  const text = yield* clipText(first.text, first.tokens, roomTokens, countSteps)
  return [{ text, tokens: yield* countSteps(text) }]
}

/** Unknown windows are taken for one that holds this and an answer. */
const UNKNOWN_PIECE_TOKENS = 32_000
/** Even in a larger window: models lose what stands in the middle of a longer text, and we count it in one go. */
const PIECE_TOKENS_MAX = 64_000
/** A piece with less room is not worth its instructions. */
const PIECE_TOKENS_MIN = 256

/** The blank line behind a message. */
const BREAK_TOKENS = 1
