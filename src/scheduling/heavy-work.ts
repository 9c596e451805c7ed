import type { Cancellation } from '../upstream/cancellation.ts'
import { createFairShare, type Holder, type Lease } from './fair-share.ts'

/**
 * Lets few conversations of which much is new be read and measured at a time, one of each client: side by side none of
 * them would be done sooner, and each would have all that it takes in memory until the last one is. Clients have their
 * turns in turn, however many conversations one of them sends. What goes on from a conversation that is known, and what is
 * small, waits for none of them.
 */
export type HeavyWork = { readonly begin: (client: Cancellation, holder: Holder) => HeavyTurn }

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
  const lane = createLane()
  return {
    begin: (client, holder) => {
      let leave: (() => void) | null = null
      const enter = async (): Promise<void> => {
        leave = await lane(client, holder)
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

/** There is one thread for all of it, and each has its body in memory several times: one of each of two clients. */
const AT_ONCE = 2

type Waiter = { readonly place: Lease; readonly admit: () => void }

/** Resolves with the function that ends the turn, as soon as there is one. */
function createLane(): (client: Cancellation, holder: Holder) => Promise<() => void> {
  const places = createFairShare({ max: AT_ONCE, lends: false })
  /** Those that wait, by whose they are; the client first whose turn it is. */
  const waiting = new Map<string, Set<Waiter>>()

  function admitNext(): void {
    for (const [name, own] of waiting) {
      const [next] = own
      if (next === undefined || next.place.take(1) !== 'taken') continue
      remove(name, next)
      // The others' turns come before its next one.
      waiting.delete(name)
      if (own.size > 0) waiting.set(name, own)
      next.admit()
      return
    }
  }

  function remove(name: string, waiter: Waiter): void {
    const own = waiting.get(name)
    own?.delete(waiter)
    if (own?.size === 0) waiting.delete(name)
  }

  return async function enter(client, holder) {
    client.throwIfAborted()
    const { name } = holder
    const place = places.open(holder)
    const leave = (): void => {
      place.release()
      admitNext()
    }
    if (!waiting.has(name) && place.take(1) === 'taken') return leave
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        remove(name, waiter)
        reject(client.reason)
      }
      const waiter: Waiter = {
        place,
        admit: () => {
          client.removeEventListener('abort', giveUp)
          resolve(leave)
        },
      }
      const own = waiting.get(name) ?? new Set()
      waiting.set(name, own.add(waiter))
      client.addEventListener('abort', giveUp)
    })
  }
}
