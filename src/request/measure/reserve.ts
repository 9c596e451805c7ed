import type { Chat } from '../request.ts'
import { reserveFor } from '../../tokens/budget.ts'
import type { Profile } from '../../profiles/schema.ts'

/** What a request keeps free of its window for the reply, in tokens. */
export function reserveOf({ chat, profile }: { readonly chat: Chat; readonly profile: Profile }): number {
  return reserveFor({
    requestLimitTokens: chat.completion.outputLimit?.tokens ?? null,
    profileReserveTokens: profile.window.output_reserve,
  })
}
