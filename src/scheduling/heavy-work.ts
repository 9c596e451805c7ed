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

  function admission(place: Lease, name: string, client: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        remove(name, waiter)
        reject(client.reason)
      }
      const admit = (): void => {
        client.removeEventListener('abort', giveUp)
        resolve()
      }
      const waiter: Waiter = { place, admit }
      waiting.set(name, (waiting.get(name) ?? new Set()).add(waiter))
      client.addEventListener('abort', giveUp)
    })
  }

  return {
    begin: (client, holder) => {
      let place: Lease | null = null
      const enter = async (): Promise<void> => {
        client.throwIfAborted()
        const own = places.open(holder)
        if (waiting.has(holder.name) || own.take(1) !== 'taken') await admission(own, holder.name, client)
        place = own
      }
      const end = (): void => {
        if (place === null) return
        place.release()
        place = null
        admitNext()
      }
      return {
        take: (newBytes) => (newBytes >= bytesMin ? enter() : null),
        aside: async (work) => {
          if (place === null) return work
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
