import type { Chat } from '../request.ts'
import { isSensibleLimit } from '../../tokens/budget.ts'
import type { Profile } from '../../profiles/schema.ts'

/**
 * What a request keeps free of its window for the reply, in tokens: its own limit where it sets a sensible one, else the
 * profile's reserve.
 */
export function reserveOf({ chat, profile }: { readonly chat: Chat; readonly profile: Profile }): number {
  const limitTokens = chat.body.outputLimit?.tokens ?? null
  return isSensibleLimit(limitTokens) ? Math.ceil(limitTokens) : profile.window.output_reserve
}
