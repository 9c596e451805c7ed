import { createGate } from '../upstream/gate.ts'
import type { Cancellation } from '../upstream/cancellation.ts'

/**
 * Lets conversations of which much is new be read and measured one after the other. Side by side none of them would be
 * done sooner, and each would have all that it takes in memory until the last one is. What goes on from a conversation
 * that is known, and what is small, waits for none of them.
 */
export type HeavyWork = { readonly begin: (client: Cancellation) => HeavyTurn }

/** One request's turn. */
export type HeavyTurn = {
  /**
   * Waits for its turn where so many bytes are new that it needs one; null where it needs none. Rejects with the reason
   * where the client leaves.
   */
  readonly take: (newBytes: number) => Promise<void> | null
  /**
   * Waits for work that is done elsewhere, a model's or a server's: others have their turns meanwhile, and it goes on with
   * another of its own. Rejects as the work does, or with the reason where the client leaves.
   */
  readonly aside: <Result>(work: Promise<Result>) => Promise<Result>
  /** Ends it; may be called more than once, and where there was none. */
  readonly end: () => void
}

export function createHeavyWork({ bytesMin }: { readonly bytesMin: number }): HeavyWork {
  const gate = createGate(AT_ONCE)
  return {
    begin: (client) => {
      let leave: (() => void) | null = null
      const enter = async (): Promise<void> => {
        leave = gate.enterNow() ?? (await gate.enter(client))
      }
      const end = (): void => {
        leave?.()
        leave = null
      }
      return {
        take: (newBytes) => (newBytes >= bytesMin ? enter() : null),
        aside: async (work) => {
          if (leave === null) return work
          end()
          const result = await work
          await enter()
          return result
        },
        end,
      }
    },
  }
}

// --- internal ---

/** There is one thread for all of it. */
const AT_ONCE = 1
