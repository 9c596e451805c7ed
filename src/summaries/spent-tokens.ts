import type { KeyedConversation } from './summary-keys.ts'
import type { Store } from '../stores/store.ts'
import type { StoreGuard } from '../stores/store-guard.ts'

/**
 * What summaries of a conversation have cost so far, so that no amount of failures makes them dear. It is kept by where
 * they end: conversations that only begin alike share what was spent on their common beginning, and no more.
 */
export type SpentTokens = {
  /** Prompt tokens that may still be sent for a conversation of which so many have been folded. */
  readonly left: (of: Account, expiredTokens: number) => Promise<number>
  /** What was sent for a summary that ends at `end`. `conversation`: its id, with which the account is deleted. */
  readonly add: (
    of: Account,
    spent: { readonly end: number; readonly promptTokens: number; readonly conversation: string },
  ) => Promise<void>
}

export type Account = { readonly chat: KeyedConversation; readonly scope: string }

export function createSpentTokens(store: Store, guarded: StoreGuard): SpentTokens {
  async function soFar({ chat, scope }: Account): Promise<{ readonly end: number; readonly tokens: number }> {
    const ends = chat.keys.flatMap((_, end) => (chat.structure.isFrontier(end) ? [end] : [])).toReversed()
    for (let at = 0; at < ends.length; at += KEYS_PER_LOOKUP) {
      const some = ends.slice(at, at + KEYS_PER_LOOKUP)
      const keys = some.map((end) => keyOf(scope, chat, end))
      const found = await guarded(null, () => store.getFirst(keys))
      const tokens = Number(found?.value)
      if (found !== null && Number.isFinite(tokens)) return { end: some[found.index] ?? 0, tokens }
    }
    return { end: 0, tokens: 0 }
  }

  return {
    left: async (of, expiredTokens) =>
      Math.max(0, Math.floor(expiredTokens * SENT_SHARE_MAX) - (await soFar(of)).tokens),
    add: async (of, { end, promptTokens, conversation }) => {
      const before = await soFar(of)
      // The last entry is the one that counts.
      const key = keyOf(of.scope, of.chat, Math.max(end, before.end))
      const tokens = before.tokens + promptTokens
      await guarded(undefined, () => store.put([{ key, value: String(tokens), group: conversation }]))
    },
  }
}

// --- internal ---

function keyOf(scope: string, { keys }: KeyedConversation, end: number): string {
  return `spent:${scope}:${keys[end] ?? ''}`
}

const KEYS_PER_LOOKUP = 256

/** Of the tokens that were folded so many are sent to a summary model at most, all calls together. */
const SENT_SHARE_MAX = 1.5
