import { clipText } from '../compaction/passes/clip.ts'
import type { CountTokens } from '../compaction/subject.ts'
import type { Digest } from '../conversation/source.ts'
import { FoldgateError } from '../errors.ts'
import { readAnswer, type Reading } from './answer.ts'
import { completeSummary } from './complete-summary.ts'
import type { FailureReason } from './failure.ts'
import { fenceKeyOf, instructionSentences, promptOf, warmInstruction } from './prompt.ts'
import type { Prompt, SummarySettings } from './prompt.ts'
import type { ParameterMemory, Rejection } from './parameter-memory.ts'
import { rejectionIn } from './rejection.ts'
import { requestFields, wantedTokens, type LimitName } from './request.ts'
import { retryAfterMs } from './retry-after.ts'
import type { Entry } from './transcript.ts'

/** What came back: the whole body, whatever its status. */
export type AskAnswer = {
  readonly status: number
  readonly contentType: string
  readonly retryAfter: string | null
  readonly body: string
}

/** Sends one request. It may reject with a FoldgateError (`upstream_…`) or with the signal's reason. */
export type Ask = (request: { readonly body: string }, signal: AbortSignal) => Promise<AskAnswer>

export type Order = {
  /** The summary so far, without tags; null where there is none. */
  readonly previous: string | null
  readonly entries: readonly Entry[]
  /** What the summary replaces in the view: a longer one is refused, and one that saves too little of it. */
  readonly replacedTokens: number
  readonly settings: SummarySettings
  /** Null: the field is left out. */
  readonly model: string | null
  /** As the client's requests spell it. */
  readonly limitName: LimitName
  /** The window of the summary model, in its own tokens; null where it is not known. */
  readonly windowTokens: number | null
  /** Prompt tokens that may be sent, by our count, all calls together. */
  readonly spendableTokens: number
  /** A way to ask at the end of the conversation itself, while its cache is warm; null: by transcript. */
  readonly warm: {
    readonly body: (instruction: string) => string
    /** What the provider reads then, by our count. */
    readonly promptTokens: number
  } | null
  /** Under what the parameters that are rejected are remembered: upstream and model. */
  readonly parametersKey: string
  readonly count: CountTokens
  readonly digest: Digest
  readonly nowMs: () => number
}

/** What was asked, by the provider's count where it states one. */
export type Spent = {
  readonly calls: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
  /** A window that an overflow answer stated, in the model's tokens, for the orders to come. */
  readonly learntWindowTokens: number | null
}

export type Written = Spent &
  (
    | { readonly kind: 'written'; readonly text: string; readonly tokens: number }
    | { readonly kind: 'failed'; readonly reason: FailureReason; readonly retryAfterMs: number | null }
  )

/**
 * Has a model write a summary of these entries, in several calls where they exceed its window: each continues the
 * summary of the one before. Any of them failing fails the order. Only a defect of our own makes it reject.
 */
export async function writeSummary(
  order: Order,
  ask: Ask,
  memory: ParameterMemory,
  signal: AbortSignal,
): Promise<Written> {
  const state = startOf(order)
  const call: Call = { order, ask, memory, signal, state }
  const outcome =
    (order.warm === null ? null : await writeWarm(order.warm, call)) ?? (await writeByPieces(call))
  const { calls, promptTokens, completionTokens, cachedTokens, learntWindowTokens } = state
  const spent: Spent = { calls, promptTokens, completionTokens, cachedTokens, learntWindowTokens }
  if (outcome.kind === 'failed') return { ...outcome, ...spent }
  const tokens = order.count(outcome.text)
  const isWorthIt = savesEnough(order, tokens)
  return isWorthIt
    ? { kind: 'written', text: outcome.text, tokens, ...spent }
    : { ...failure('no-savings'), ...spent }
}

// --- internal ---

/** A summary that saves less is not worth the break in the provider's cache. */
const SAVED_TOKENS_MIN = 1024

/** Unknown windows are taken for one that holds this and an answer; larger pieces are also remembered worse. */
const UNKNOWN_PIECE_TOKENS = 32_000
/** However large the window: models lose what stands in the middle of more, and we count it in one go. */
const PIECE_TOKENS_MAX = 64_000
/** A piece with less room is not worth its instructions. */
const PIECE_TOKENS_MIN = 256

/** The model's tokens for one of ours, at the most that is usual. */
const TOKENS_RATIO = 1.25
/** Words around the messages that the chat template adds. */
const TEMPLATE_TOKENS = 16

/** Times that a call is repeated with a rejected parameter taken out. */
const REJECTIONS_MAX = 4
/** Times that an overflow makes the pieces smaller, in one order. */
const OVERFLOWS_MAX = 4

type Failure = {
  readonly kind: 'failed'
  readonly reason: FailureReason
  readonly retryAfterMs: number | null
}
type Outcome = { readonly kind: 'summary'; readonly text: string } | Failure

type State = {
  calls: number
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  learntWindowTokens: number | null
  /** By our count, of every request that was sent. */
  sentTokens: number
  windowTokens: number | null
  /** The most of a transcript that one call may carry, by what overflowed. */
  pieceTokensMax: number
}

type Call = {
  readonly order: Order
  readonly ask: Ask
  readonly memory: ParameterMemory
  readonly signal: AbortSignal
  readonly state: State
}

function startOf({ windowTokens }: Order): State {
  return {
    calls: 0,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    learntWindowTokens: null,
    sentTokens: 0,
    windowTokens,
    pieceTokensMax: windowTokens === null ? UNKNOWN_PIECE_TOKENS : PIECE_TOKENS_MAX,
  }
}

function failure(reason: FailureReason, afterMs: number | null = null): Failure {
  return { kind: 'failed', reason, retryAfterMs: afterMs }
}

function savesEnough({ replacedTokens, settings }: Order, tokens: number): boolean {
  const saved = replacedTokens - tokens
  return saved >= SAVED_TOKENS_MIN && saved >= replacedTokens * settings.min_savings_ratio
}

/** The warm way; null where a transcript may do better: the request was refused as it is, or answered with a call. */
async function writeWarm(warm: NonNullable<Order['warm']>, call: Call): Promise<Outcome | null> {
  const { order } = call
  const instruction = warmInstruction(order.settings)
  if (!mayAsk(call, warm.promptTokens)) return null
  const exchange = await exchanged(call, warm.body(instruction), warm.promptTokens)
  if (exchange.kind === 'failed') return exchange
  const { reading } = exchange
  if (reading.kind === 'text') return finished(reading, order.previous, NO_FENCE, call)
  const isHopeless = reading.kind === 'failed' && reading.reason !== 'tool-call'
  return isHopeless ? failure(reading.reason, exchange.retryAfterMs) : null
}

/** Stands in no text. */
const NO_FENCE = '\u0000'

async function writeByPieces(call: Call): Promise<Outcome> {
  const { order, state } = call
  let { previous } = order
  let rest = order.entries
  let overflows = 0
  while (rest.length > 0) {
    const roomTokens = pieceRoom(call, previous)
    if (roomTokens < PIECE_TOKENS_MIN) return failure('overflow')
    const piece = firstPiece(rest, roomTokens, order.count)
    const prompt = promptOf(order.settings, { previous, entries: piece }, order.digest)
    const promptTokens = order.count(prompt.system) + order.count(prompt.user) + TEMPLATE_TOKENS
    const exchange = await exchangedAccepted(call, prompt, promptTokens)
    if (exchange.kind === 'failed') return exchange
    const { reading } = exchange
    if (reading.kind === 'overflow') {
      overflows += 1
      if (overflows > OVERFLOWS_MAX) return failure('overflow')
      learnFromOverflow(state, reading, promptTokens, tokensOf(piece))
      continue
    }
    if (reading.kind !== 'text')
      return failure(reading.kind === 'failed' ? reading.reason : 'upstream-error', exchange.retryAfterMs)
    const key = fenceKeyOf({ previous, entries: piece }, order.digest)
    const outcome = finished(reading, previous, key, call)
    if (outcome.kind === 'failed') return outcome
    previous = outcome.text
    rest = rest.slice(piece.length)
  }
  return previous === null || order.entries.length === 0
    ? failure('empty')
    : { kind: 'summary', text: previous }
}

function finished(
  { text, isUnfinished }: Reading & { readonly kind: 'text' },
  previous: string | null,
  fenceKey: string,
  { order }: Call,
): Outcome {
  const { settings, replacedTokens, count } = order
  const instructions = instructionSentences(settings)
  const asked = { previous, instructions, fenceKey, replacedTokens, settings, count }
  const completed = completeSummary(text, isUnfinished, asked)
  return completed.kind === 'refused' ? failure(completed.reason) : { kind: 'summary', text: completed.text }
}

/** How much of the transcript goes into the next call, by our count. The output has its place in the window, half of it at the most. */
function pieceRoom({ order, state }: Call, previous: string | null): number {
  const { settings, digest, count } = order
  if (state.windowTokens === null) return state.pieceTokensMax
  const frame = promptOf(settings, { previous, entries: [] }, digest)
  const frameTokens = count(frame.system) + count(frame.user) + TEMPLATE_TOKENS
  const outputTokens = Math.min(wantedTokens(settings), Math.floor(state.windowTokens / 2))
  const roomTokens = Math.floor((state.windowTokens - outputTokens) / TOKENS_RATIO) - frameTokens
  return Math.min(state.pieceTokensMax, roomTokens)
}

/** As many of the entries as there is room for. One that is too large alone is clipped. */
function firstPiece(entries: readonly Entry[], roomTokens: number, count: CountTokens): readonly Entry[] {
  let tokens = 0
  let end = 0
  for (const entry of entries) {
    tokens += entry.tokens + ENTRY_BREAK_TOKENS
    if (tokens > roomTokens) break
    end += 1
  }
  const [first] = entries
  if (end > 0 || first === undefined) return entries.slice(0, end)
  const text = clipText(first.text, first.tokens, roomTokens, count)
  return [{ text, tokens: count(text) }]
}

/** The blank line behind an entry. */
const ENTRY_BREAK_TOKENS = 1

function tokensOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { tokens }) => sum + tokens + ENTRY_BREAK_TOKENS, 0)
}

/** Half of what overflowed is tried next, or less where the stated window says so. */
function learnFromOverflow(
  state: State,
  { window, promptTokens }: Reading & { readonly kind: 'overflow' },
  sentTokens: number,
  pieceTokens: number,
): void {
  if (window === null) {
    state.pieceTokensMax = Math.floor(pieceTokens / 2)
    return
  }
  state.learntWindowTokens = window.tokens
  const isNew = state.windowTokens === null || window.tokens < state.windowTokens
  state.windowTokens = isNew ? window.tokens : state.windowTokens
  // The model counts more than we do, or the window was known and still too small: then its share shrinks.
  const ratio = promptTokens === null ? 1 : Math.max(1, promptTokens / sentTokens / TOKENS_RATIO)
  const share = isNew ? 1 / ratio : 1 / 2
  state.pieceTokensMax = Math.min(PIECE_TOKENS_MAX, Math.floor(pieceTokens * share))
}

type Exchange =
  | {
      readonly kind: 'answered'
      readonly reading: Reading
      readonly body: string
      readonly retryAfterMs: number | null
    }
  | Failure

/** Asks, and again without what the upstream rejects by name, which is remembered. */
async function exchangedAccepted(call: Call, prompt: Prompt, promptTokens: number): Promise<Exchange> {
  const { order, memory, state } = call
  for (let repeat = 0; ; repeat += 1) {
    if (!mayAsk(call, promptTokens)) return failure('too-dear')
    const leftTokens =
      state.windowTokens === null ? null : state.windowTokens - Math.ceil(promptTokens * TOKENS_RATIO)
    const fields = requestFields(prompt, {
      settings: order.settings,
      model: order.model,
      limitName: order.limitName,
      outputTokensMax: leftTokens,
      rejections: memory.rejectedBy(order.parametersKey),
    })
    const exchange = await exchanged(call, JSON.stringify(fields), promptTokens)
    if (exchange.kind === 'failed' || repeat === REJECTIONS_MAX) return exchange
    const rejection = rejectionOf(exchange, fields, memory.rejectedBy(order.parametersKey))
    if (rejection === null) return exchange
    memory.remember(order.parametersKey, rejection)
  }
}

/** What an answer rejects of the request; null where it was accepted, or repeating it differently changes nothing. */
function rejectionOf(
  { reading, body }: Exchange & { readonly kind: 'answered' },
  fields: Readonly<Record<string, unknown>>,
  known: readonly Rejection[],
): Rejection | null {
  if (reading.kind === 'refused') return rejectionIn(body, fields)
  if (reading.kind !== 'limit-refused') return null
  // First without the room for thoughts, then without a limit.
  const isKnown = known.some(({ kind }) => kind === 'reasoning-tokens')
  return isKnown ? rejectionIn(body, fields) : { kind: 'reasoning-tokens' }
}

/** Sends one request and reads its answer. */
async function exchanged(call: Call, body: string, promptTokens: number): Promise<Exchange> {
  const { ask, order, signal, state } = call
  if (signal.aborted) return failure(reasonOf(signal.reason, signal))
  state.calls += 1
  state.sentTokens += promptTokens
  let answer: AskAnswer
  try {
    answer = await ask({ body }, signal)
  } catch (error) {
    return failure(reasonOf(error, signal))
  }
  const reading = readAnswer(answer)
  const isAnswered = answer.status >= 200 && answer.status < 300
  state.promptTokens += reading.usage?.promptTokens ?? (isAnswered ? promptTokens : 0)
  state.completionTokens +=
    reading.usage?.completionTokens ?? (reading.kind === 'text' ? order.count(reading.text) : 0)
  state.cachedTokens += reading.usage?.cachedTokens ?? 0
  return {
    kind: 'answered',
    reading,
    body: answer.body,
    retryAfterMs: retryAfterMs(answer.retryAfter, order.nowMs()),
  }
}

function mayAsk({ order, state }: Call, promptTokens: number): boolean {
  return state.sentTokens + promptTokens <= order.spendableTokens
}

/** Why no answer came. An error that nobody expects is a defect, and is thrown on. */
function reasonOf(error: unknown, signal: AbortSignal): FailureReason {
  if (error instanceof FoldgateError) {
    if (error.code === 'upstream_unreachable') return 'unreachable'
    if (error.code === 'upstream_timeout') return 'timeout'
    return 'broken-off'
  }
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout'
  if (signal.aborted) return 'cancelled'
  throw error
}
