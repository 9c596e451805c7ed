import type { Cancellation } from './cancellation.ts'

/** Work that gives way had to. */
export class GaveWayError extends Error {
  override readonly name = 'GaveWayError'

  constructor() {
    super("A client's request wants the place.")
  }
}

export type Gate = ReturnType<typeof createGate>

/** Lets at most so many through at once, null: any number; the others wait in the order in which they came. */
export function createGate(placesMax: number | null) {
  const places = placesMax ?? Number.POSITIVE_INFINITY
  const waiting = new Set<() => void>()
  const idlers = new Set<AbortController>()
  let inside = 0

  /** Takes a place that is free; false where none is. */
  function enterNow(): boolean {
    if (inside >= places) return false
    inside += 1
    return true
  }

  /** Gives a place back, which was taken by either way. */
  function leave(): void {
    const [next] = waiting
    if (next === undefined) {
      inside -= 1
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    enterNow,
    leave,
    /**
     * Takes a place that is free, for work that gives way; null where none is. `wanted` aborts as soon as somebody waits
     * for the place.
     */
    enterIdle: () => {
      if (!enterNow()) return null
      const idler = new AbortController()
      idlers.add(idler)
      return {
        wanted: idler.signal,
        leave: () => {
          idlers.delete(idler)
          leave()
        },
      }
    },
    /** Resolves as soon as a place is taken. Rejects with the signal's reason when it aborts. */
    enter: async (signal: Cancellation | null): Promise<void> => {
      signal?.throwIfAborted()
      if (enterNow()) return
      await new Promise<void>((resolve, reject) => {
        const admit = () => {
          signal?.removeEventListener('abort', giveUp)
          resolve()
        }
        const giveUp = () => {
          waiting.delete(admit)
          reject(signal?.reason instanceof Error ? signal.reason : new Error('The wait was given up.'))
        }
        signal?.addEventListener('abort', giveUp)
        waiting.add(admit)
        const [idler] = idlers
        if (idler === undefined) return
        idlers.delete(idler)
        idler.abort(new GaveWayError())
      })
    },
  }
}
