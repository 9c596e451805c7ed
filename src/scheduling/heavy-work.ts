import type { Cancellation } from '../upstream/cancellation.ts'
import type { Holder } from './fair-share.ts'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

export type HeavyWork = ReturnType<typeof createHeavyWork>

/** One request's turn. */
export type HeavyTurn = ReturnType<HeavyWork['begin']>

/**
 * Lets few conversations of which much is new be read and measured at a time, one of each client: side by side none of
 * them would be done sooner, and each would have all that it takes in memory until the last one is. Clients have their
 * turns in turn, however many conversations one of them sends. What goes on from a conversation that is known, and what is
 * small, waits for none of them.
 */
export function createHeavyWork({ bytesMin }: { readonly bytesMin: number }) {
  /** The clients whose turn it is. */
  const working = new Set<string>()
  /** What lets in each that waits, by whose it is; the client first whose turn it is. */
  const waiting = new Map<string, Set<() => void>>()

  function mayEnter(name: string): boolean {
    return working.size < AT_ONCE && !working.has(name)
  }

  function admitNext(): void {
    for (const [name, own] of waiting) {
      const [admit] = own
      if (admit === undefined || !mayEnter(name)) continue
      working.add(name)
      remove(name, admit)
      // The others' turns come before its next one.
      waiting.delete(name)
      if (own.size > 0) waiting.set(name, own)
      admit()
      return
    }
  }

  function remove(name: string, admit: () => void): void {
    const own = waiting.get(name)
    own?.delete(admit)
    if (own?.size === 0) waiting.delete(name)
  }

  function admission(name: string, client: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        remove(name, admit)
        reject(client.reason)
      }
      const admit = (): void => {
        client.removeEventListener('abort', giveUp)
        resolve()
      }
      waiting.set(name, (waiting.get(name) ?? new Set()).add(admit))
      client.addEventListener('abort', giveUp)
    })
  }

  return {
    begin: (client: Cancellation, { name }: Pick<Holder, 'name'>) => {
      let isWorking = false
      const enter = async (): Promise<void> => {
        client.throwIfAborted()
        if (waiting.has(name) || !mayEnter(name)) await admission(name, client)
        else working.add(name)
        isWorking = true
      }
      const end = (): void => {
        if (!isWorking) return
        isWorking = false
        working.delete(name)
        admitNext()
      }
      return {
        /**
         * Waits for its turn where so many bytes are new that it needs one; null where it needs none. Rejects with the
         * reason where the client leaves.
         */
        take: (newBytes: number) => (newBytes >= bytesMin ? enter() : null),
        /**
         * Waits for work that is done elsewhere, a model's or a server's: others have their turns meanwhile, and it goes on
         * with another of its own. Rejects as the work does, or with the reason where the client leaves.
         */
        aside: async <Result>(work: Promise<Result>): Promise<Result> => {
          if (!isWorking) return work
          end()
          const result = await work
          await enter()
          return result
        },
        /** Ends it; may be called more than once, and where there was none. */
        end,
      }
    },
  }
}

/**
 * Lets V8 collect when the heap has grown to three times what lived in it. By itself it grants as little as a tenth where
 * little is allocated for the time that collecting takes: long bodies look like that, and a conversation of 4 MB had all that
 * lives collected every other turn. Where memory is scarce V8 decides: it grants a small heap less. Nothing is ever
 * collected on purpose: that would hold up everybody, whenever one client likes.
 */
export function letHeapGrow(): void {
  if (getHeapStatistics().heap_size_limit >= ROOMY_HEAP_BYTES)
    setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}

// --- internal ---

/** There is one thread for all of it, and each has its body in memory several times: one of each of two clients. */
const AT_ONCE = 2

/** By how much of what lives the heap may grow before it is collected. */
const GROWTH_PERCENT = 200

/** V8 gives a heap a quarter of the memory: less than this with less than about two gigabytes. */
const ROOMY_HEAP_BYTES = 512 * 1024 * 1024
