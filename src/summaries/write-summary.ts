import { drive } from '../scheduling/drive.ts'
import type { SummaryAnswer } from './answer.ts'
import { completeSummary } from './complete-summary.ts'
import { createOrderCalls, outputRoom, type OrderCalls } from './order-calls.ts'
import type { SummaryOrder, SummaryResult } from './order.ts'
import { capacityAfter, firstPiece, pieceRoom, startingCapacity } from './pieces.ts'
import { cachedCallInstruction, promptOf, type SummaryPrompt, type SummarySettings } from './prompt.ts'
import { CACHED_PROMPT, type Rejections } from './rejections.ts'
import type { Ask } from './summary-call.ts'
import { failure, type Failure, type SummaryRecord } from './summary-record.ts'

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
  const spent = calls.spent()
  const isWorthIt =
    outcome.kind === 'failed' || savesEnough(order.replacedTokens, outcome.tokens, order.settings)
  return { ...(isWorthIt ? outcome : failure('no-savings')), ...spent }
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
  switch (answer.kind) {
    case 'text':
      return completeSummary(answer, order, { previous: order.previous, fenceKey: null })
    case 'failed':
      return answer.reason === 'too-dear' || answer.reason === 'tool-call' ? null : answer
    case 'refused':
    case 'limit-refused':
      rejections.add(rejectionsKey, CACHED_PROMPT)
      return null
    case 'overflow':
      return null
  }
}

async function writeByPieces(order: SummaryOrder, calls: OrderCalls): Promise<SummaryRecord> {
  const { settings, dialect, model } = order
  const { countSteps, digest } = order.subject
  const outputTokens = settings.max_tokens + settings.reasoning_tokens
  let capacity = startingCapacity(order.windowTokens)
  let outcome: SummaryRecord = failure('empty')
  let { previous, messages: rest } = order
  let overflows = 0
  while (rest.length > 0) {
    const frameTokens = await tokensOf(promptOf(settings, { previous, messages: [] }, digest), order)
    const roomTokens = pieceRoom(capacity, frameTokens, outputTokens)
    if (roomTokens === null) return failure('overflow')
    const piece = await drive(firstPiece(rest, roomTokens, countSteps))
    const prompt = promptOf(settings, { previous, messages: piece }, digest)
    const { system, user } = prompt
    const promptTokens = await tokensOf(prompt, order)
    const answer = await calls.send({
      promptTokens,
      windowTokens: capacity.windowTokens,
      hasSystemText: system !== '',
      body: (fields, systemPlace) =>
        JSON.stringify({
          ...(model === null ? {} : { model }),
          ...dialect.summaries.asked(system, user, systemPlace),
          ...fields,
        }),
    })
    if (answer.kind === 'overflow' && overflows < OVERFLOWS_MAX) {
      overflows += 1
      capacity = capacityAfter(capacity, { ...answer, ownPromptTokens: promptTokens, piece })
      continue
    }
    outcome =
      answer.kind === 'text'
        ? completeSummary(answer, order, { previous, fenceKey: prompt.fenceKey })
        : failureOf(answer)
    if (outcome.kind === 'failed') break
    previous = outcome.text
    rest = rest.slice(piece.length)
  }
  return outcome
}

async function tokensOf({ system, user }: SummaryPrompt, { subject }: SummaryOrder): Promise<number> {
  const tokens = (await drive(subject.countSteps(system))) + (await drive(subject.countSteps(user)))
  return tokens + TEMPLATE_TOKENS
}

function failureOf(answer: Exclude<SummaryAnswer, { kind: 'text' }>): Failure {
  if (answer.kind === 'failed') return answer
  return failure(answer.kind === 'overflow' ? 'overflow' : 'upstream-error')
}
