import type { Outcome } from '../request.ts'
import { holdBack } from '../send/hold.ts'

/** An answer with all of its body taken, or with as much as came before it broke off or grew larger than so many bytes. */
export async function readWhole(outcome: Outcome, bytesMax: number): Promise<Outcome> {
  const { pieces } = await holdBack(outcome.answer.body, {
    enough: () => false,
    holdMs: ENDLESS_MS,
    bytesMax,
  })
  return { ...outcome, held: [...outcome.held, ...pieces] }
}

// --- internal ---

/** The upstream's own silence ends an answer; here nothing does. */
const ENDLESS_MS = 2 ** 31 - 1
