import { requestPoints, type RawMessage } from '../harness/recordings.ts'
import { ask, OUTPUT_TOKENS, type Question, type Reply } from './ask.ts'
import type { FoldgateProgram } from './foldgate.ts'
import type { Exchange, Tap } from './tap.ts'

/** What came of one request of a conversation. */
export type Step = {
  readonly reply: Reply
  /** What the server received for it, and answered. */
  readonly exchanges: readonly Exchange[]
}

export type Walk = {
  readonly steps: readonly Step[]
  /** By how much Foldgate's count of each prompt, before its answer, was off what the server then counted: a share. */
  readonly countErrors: readonly number[]
}

/** Makes every request of a conversation through Foldgate, one after the other, and one with all of it in the end. */
export async function walk(
  messages: readonly RawMessage[],
  how: Pick<Question, 'isStreamed' | 'api'>,
  { foldgate, tap }: { readonly foldgate: FoldgateProgram; readonly tap: Tap },
): Promise<Walk> {
  const steps: Step[] = []
  tap.take()
  for (const point of pointsOf(messages)) {
    const texts = messages.slice(0, point).map(({ text }) => text)
    const reply = await ask(foldgate.origin, { ...how, messages: texts })
    steps.push({ reply, exchanges: tap.take() })
  }
  const conversation = steps.at(-1)?.reply.header('x-foldgate-conversation') ?? ''
  const rows = await foldgate.requests(conversation)
  // How a server counts is learnt from its first answer.
  return { steps, countErrors: rows.slice(1).flatMap(countError) }
}

/** The lengths of the requests that led to a conversation, and of one with all of it. */
export function pointsOf(messages: readonly RawMessage[]): readonly number[] {
  return [...requestPoints(messages), messages.length]
}

// --- internal ---

/**
 * What Foldgate tells of a prompt is its share of the budget, by the server's count as far as that is known. Nothing
 * where it only had an upper bound, or where the server said nothing.
 */
function countError(row: Record<string, unknown>): readonly number[] {
  const [share, windowTokens, promptTokens] = [
    row['sent_pressure'],
    row['window_tokens'],
    row['prompt_tokens'],
  ]
  if (row['tokens_are_bounds'] === true) return []
  if (typeof share !== 'number' || typeof windowTokens !== 'number' || typeof promptTokens !== 'number')
    return []
  return [Math.abs((share * (windowTokens - OUTPUT_TOKENS)) / promptTokens - 1)]
}
