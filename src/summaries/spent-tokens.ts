import type { KeyedConversation, RecordedConversation } from './summary-record.ts'
import type { Store } from '../storage/store.ts'
import type { StoreGuard } from '../storage/store-guard.ts'

/**
 * Prompt tokens that summaries of a conversation have cost so far: however often they fail, they do not become dear. An
 * account is kept by the end of a summary, so conversations that only begin alike share the cost of that beginning alone.
 */
export function createSpentTokens(store: Store, guarded: StoreGuard) {
  async function soFar({ chat, place: { scope } }: RecordedConversation) {
    const frontiers = [...chat.keys.keys()].filter((end) => chat.structure.isFrontier(end))
    const ends = frontiers.slice(-LOOKED_BACK_MAX).toReversed()
    const found = await guarded(null, () => store.getFirst(ends.map((end) => keyOf(scope, chat, end))))
    const tokens = Number(found?.value)
    return found !== null && Number.isFinite(tokens)
      ? { end: ends[found.index] ?? 0, tokens }
      : { end: 0, tokens: 0 }
  }

  return {
    /** Prompt tokens that may still be sent for a conversation of which `expiredTokens` have been folded. */
    left: async (of: RecordedConversation, expiredTokens: number) =>
      Math.max(0, Math.floor(expiredTokens * SENT_SHARE_MAX) - (await soFar(of)).tokens),
    /** Adds the tokens that were sent for a summary that ends at message `end`. The account is deleted with the conversation. */
    add: async (of: RecordedConversation, end: number, promptTokens: number) => {
      const before = await soFar(of)
      // The last entry is the one that counts.
      const key = keyOf(of.place.scope, of.chat, Math.max(end, before.end))
      const value = String(before.tokens + promptTokens)
      await guarded(undefined, () => store.put([{ key, value, group: of.remembered.conversation }]))
    },
  }
}

// --- internal ---

function keyOf(scope: string, { keys }: KeyedConversation, end: number): string {
  return `spent:${scope}:${keys[end] ?? ''}`
}

/** Of the latest frontiers so many are looked at: behind the last summary there are fewer. */
const LOOKED_BACK_MAX = 1024

/** The tokens that are sent to a summary model, all calls together, are at most this many times those that were folded. */
const SENT_SHARE_MAX = 1.5
