import { reserveFor, type Reserve } from '../../tokens/budget.ts'
import type { Profile } from '../../profiles/schema.ts'
import type { Chat } from '../request.ts'

/** What a request keeps free of its window. */
export function reserveOf({ chat, profile }: { readonly chat: Chat; readonly profile: Profile }): Reserve {
  return reserveFor(chat.body.outputLimit?.tokens ?? null, profile.window.output_reserve)
}
