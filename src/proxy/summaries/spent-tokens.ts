import type { Store } from '../../stores/store.ts'
import type { StoreGuard } from '../memory/store-guard.ts'

/** What summaries of a conversation have cost so far, so that no amount of failures makes them dear. */
export type SpentTokens = {
  /** Prompt tokens that may still be sent for a conversation of which so many have been folded. */
  readonly left: (scope: string, conversation: string, expiredTokens: number) => Promise<number>
  readonly add: (scope: string, conversation: string, promptTokens: number) => Promise<void>
}

export function createSpentTokens(store: Store, guarded: StoreGuard): SpentTokens {
  const spentOn = async (key: string): Promise<number> => {
    const found = await guarded(null, () => store.getFirst([key]))
    const tokens = Number(found?.value ?? 0)
    return Number.isFinite(tokens) ? tokens : 0
  }
  return {
    left: async (scope, conversation, expiredTokens) =>
      Math.max(0, Math.floor(expiredTokens * SENT_SHARE_MAX) - (await spentOn(keyOf(scope, conversation)))),
    add: async (scope, conversation, promptTokens) => {
      const key = keyOf(scope, conversation)
      const tokens = (await spentOn(key)) + promptTokens
      await guarded(undefined, () => store.put(key, String(tokens), conversation))
    },
  }
}

// --- internal ---

function keyOf(scope: string, conversation: string): string {
  return `spent:${scope}:${conversation}`
}

/** Of the tokens that were folded so many are sent to a summary model at most, all calls together. */
const SENT_SHARE_MAX = 1.5
