/** Lets at most so many through at once; the others wait in the order in which they came. */
export type Gate = {
  /** Resolves with the function that gives the place back. Rejects with the signal's reason when it aborts. */
  readonly enter: (signal: AbortSignal | null) => Promise<() => void>
  /** How many are inside or waiting. */
  readonly busy: () => number
}

/** `placesMax` null means without a limit. */
export function createGate(placesMax: number | null): Gate {
  const places = placesMax ?? Number.POSITIVE_INFINITY
  const waiting = new Set<() => void>()
  let inside = 0

  function leaveOnce(): () => void {
    let left = false
    return function leave() {
      if (left) return
      left = true
      inside -= 1
      const [next] = waiting
      if (next === undefined) return
      waiting.delete(next)
      next()
    }
  }

  return {
    busy: () => inside + waiting.size,
    enter: async function enter(signal) {
      signal?.throwIfAborted()
      if (inside < places) {
        inside += 1
        return leaveOnce()
      }
      return new Promise((resolve, reject) => {
        const admit = () => {
          signal?.removeEventListener('abort', giveUp)
          inside += 1
          resolve(leaveOnce())
        }
        const giveUp = () => {
          waiting.delete(admit)
          reject(signal?.reason instanceof Error ? signal.reason : new Error('The wait was given up.'))
        }
        signal?.addEventListener('abort', giveUp, { once: true })
        waiting.add(admit)
      })
    },
  }
}
