import type { Reading } from './answer.ts'
import { completeSummary } from './complete-summary.ts'
import { openExchanges, type Exchanges } from './exchange.ts'
import { failure, type Failure } from './failure.ts'
import type { Ask, Order, Spent } from './order.ts'
import type { ParameterMemory } from './parameter-memory.ts'
import { capacityAfter, firstPiece, pieceRoom, startingCapacity } from './pieces.ts'
import { instructionSentences, promptOf, type Prompt } from './prompt.ts'
import { wantedTokens } from './request.ts'
import { savesEnough } from './savings.ts'

export type Written =
  | ({ readonly kind: 'written'; readonly text: string; readonly tokens: number } & Spent)
  | (Failure & Spent)

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
  const exchanges = openExchanges(order, ask, memory, signal)
  const warm = await writeWarm(order, exchanges)
  const { learntWindowTokens = null, outcome } =
    warm === null ? await writeByPieces(order, exchanges) : { outcome: warm }
  const spent: Spent = { ...exchanges.spent(), learntWindowTokens }
  if (outcome.kind === 'failed') return { ...outcome, ...spent }
  const { text, tokens } = outcome
  if (!savesEnough(order.replacedTokens, tokens, order.settings))
    return { ...failure('no-savings'), ...spent }
  return { kind: 'written', text, tokens, ...spent }
}

// --- internal ---

/** Times that an overflow makes the pieces smaller, in one order. */
const OVERFLOWS_MAX = 4

/** What chat templates add around two messages. */
const TEMPLATE_TOKENS = 16

type Outcome = { readonly kind: 'summary'; readonly text: string; readonly tokens: number } | Failure

/** The warm way; null where a transcript may do better: it was too dear, refused as it is, or answered with a call. */
async function writeWarm(order: Order, exchanges: Exchanges): Promise<Outcome | null> {
  if (order.entries.length === 0) return null
  const exchange = await exchanges.sendWarm()
  if (exchange === null) return null
  if (exchange.kind === 'failed') return exchange.reason === 'too-dear' ? null : exchange
  const { reading } = exchange
  if (reading.kind === 'text') return summaryFrom(reading, order.previous, null, order)
  const isHopeless = reading.kind === 'failed' && reading.reason !== 'tool-call'
  return isHopeless ? failure(reading.reason) : null
}

type ByPieces = { readonly outcome: Outcome; readonly learntWindowTokens: number | null }

async function writeByPieces(order: Order, exchanges: Exchanges): Promise<ByPieces> {
  const { settings, digest, countSteps, run } = order
  let capacity = startingCapacity(order.windowTokens)
  let outcome: Outcome = failure('empty')
  let { previous, entries: rest } = order
  let learntWindowTokens: number | null = null
  let overflows = 0
  while (rest.length > 0) {
    const frameTokens = await tokensOf(promptOf(settings, { previous, entries: [] }, digest), order)
    const roomTokens = pieceRoom(capacity, frameTokens, wantedTokens(settings))
    if (roomTokens === null) return { outcome: failure('overflow'), learntWindowTokens }
    const piece = await run(firstPiece(rest, roomTokens, countSteps))
    const prompt = promptOf(settings, { previous, entries: piece }, digest)
    const promptTokens = await tokensOf(prompt, order)
    const exchange = await exchanges.sendPrompt(prompt, promptTokens, capacity.windowTokens)
    if (exchange.kind === 'failed') return { outcome: exchange, learntWindowTokens }
    const { reading } = exchange
    if (reading.kind === 'overflow' && overflows < OVERFLOWS_MAX) {
      overflows += 1
      learntWindowTokens = reading.window?.tokens ?? learntWindowTokens
      capacity = capacityAfter(capacity, { ...reading, ownPromptTokens: promptTokens, piece })
      continue
    }
    outcome =
      reading.kind === 'text' ? summaryFrom(reading, previous, prompt.fenceKey, order) : failureFrom(reading)
    if (outcome.kind === 'failed') break
    previous = outcome.text
    rest = rest.slice(piece.length)
  }
  return { outcome, learntWindowTokens }
}

async function tokensOf({ system, user }: Prompt, { countSteps, run }: Order): Promise<number> {
  return (await run(countSteps(system))) + (await run(countSteps(user))) + TEMPLATE_TOKENS
}

type TextReading = Extract<Reading, { kind: 'text' }>

function summaryFrom(
  { text, isUnfinished }: TextReading,
  previous: string | null,
  fenceKey: string | null,
  { settings, replacedTokens, count }: Order,
): Outcome {
  const instructions = instructionSentences(settings)
  const asked = { previous, instructions, fenceKey, replacedTokens, settings, count }
  const completed = completeSummary(text, isUnfinished, asked)
  if (completed.kind === 'refused') return failure(completed.reason)
  return { kind: 'summary', text: completed.text, tokens: completed.tokens }
}

function failureFrom(reading: Exclude<Reading, TextReading>): Failure {
  switch (reading.kind) {
    case 'failed':
      return failure(reading.reason)
    case 'overflow':
      return failure('overflow')
    case 'refused':
    case 'limit-refused':
      return failure('upstream-error')
  }
}
