import type { Chat } from '../request.ts'
import type { StatedWindow } from '../../overflow/classification.ts'
import { budgetOf, isSensibleLimit } from '../../tokens/budget.ts'
import type { Profile } from '../../profiles/schema.ts'

/**
 * What a request keeps free of its window for the reply, in tokens: its own limit where it sets a sensible one, else the
 * profile's reserve.
 */
export function reserveOf({ chat, profile }: ReservingRequest): number {
  const limitTokens = chat.body.outputLimit?.tokens ?? null
  return isSensibleLimit(limitTokens) ? Math.ceil(limitTokens) : profile.window.output_reserve
}

/** What a prompt may take of a window beside that, in the provider's tokens. */
export function providerBudgetIn(
  request: ReservingRequest,
  window: StatedWindow,
  takesBeyond: (windowTokens: number) => boolean,
): number {
  const reserveTokens = reserveIn(request, window, takesBeyond)
  return budgetOf({ windowTokens: window.tokens, kind: window.kind, reserveTokens })
}

// --- internal ---

type ReservingRequest = { readonly chat: Chat; readonly profile: Profile }

/**
 * The same in a window. A limit of more than half of it says what the model can, and not what a reply needs: where the server
 * does not hold it against the window, a quarter is enough.
 */
function reserveIn(
  request: ReservingRequest,
  { tokens, kind }: StatedWindow,
  takesBeyond: (windowTokens: number) => boolean,
): number {
  const reserveTokens = reserveOf(request)
  if (kind === 'input' || reserveTokens <= tokens / 2 || !takesBeyond(tokens)) return reserveTokens
  return Math.max(request.profile.window.output_reserve, Math.floor(tokens / 4))
}
