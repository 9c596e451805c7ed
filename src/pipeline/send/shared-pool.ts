import { type Cancellation, waitFor } from '../../upstream/cancellation.ts'

/** The pool of each upstream by its name; null is the default. */
export function createSharedPools() {
  const pools = new Map<string | null, ReturnType<typeof createSharedPool>>()
  return function poolOf(upstream: string | null) {
    const known = pools.get(upstream) ?? createSharedPool()
    pools.set(upstream, known)
    return known
  }
}

// --- internal ---

/** How long a turn waits for the others, in milliseconds: they may go on for minutes, and a client waits here. */
const PATIENCE_MS = 4_000

/** How long a request waits for its turn at the most, in milliseconds. */
const QUEUE_MS = 12_000

/** A server frees its memory a moment after its last word, in milliseconds. */
const MOMENT_MS = 200

/** A request at the upstream. */
type Flight = {
  /** The most prompt tokens that were under way at once while it was, its own included. */
  sharedTokens: number
  readonly ended: Promise<void>
  /** Its answer has ended. */
  readonly end: () => void
}

/**
 * The requests under way at one upstream. A local server's slots share one memory: when the prompts under way
 * fill it, several fail together, and would again if they were repeated at once.
 */
function createSharedPool() {
  const underWay = new Set<Flight>()
  let tokens = 0
  let lastTurn: Promise<void> = Promise.resolve()

  return {
    /** Notes a request on its way there, with a prompt of so many of its tokens. */
    enter: (promptTokens: number): Flight => {
      const { promise: ended, resolve } = Promise.withResolvers<void>()
      tokens += promptTokens
      const flight: Flight = {
        sharedTokens: tokens,
        ended,
        end: () => {
          if (!underWay.delete(flight)) return
          tokens -= promptTokens
          resolve()
        },
      }
      underWay.add(flight)
      for (const each of underWay) each.sharedTokens = Math.max(each.sharedTokens, tokens)
      return flight
    },

    /**
     * Waits until a request that met a full pool may be tried again: one at a time, in the order in which they met it, each
     * once the others have ended that are under way when its turn comes, or a few seconds later. The function that comes
     * back lets the next one follow. Rejects where the client leaves.
     */
    turn: async (client: Cancellation): Promise<() => void> => {
      const before = lastTurn
      const { promise, resolve: pass } = Promise.withResolvers<void>()
      lastTurn = promise
      try {
        await waitFor(before, QUEUE_MS, client)
        await waitFor(Promise.all(Array.from(underWay, ({ ended }) => ended)), PATIENCE_MS, client)
        await waitFor(never, MOMENT_MS, client)
      } catch (error) {
        void before.then(pass)
        throw error
      }
      return pass
    },
  }
}

const never = new Promise<never>(() => {})
