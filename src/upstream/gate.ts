import type { Cancellation } from './cancellation.ts'

/** Lets at most so many through at once; the others wait in the order in which they came. */
export type Gate = {
  /** Takes a place that is free: the function that gives it back; null where none is. */
  readonly enterNow: () => (() => void) | null
  /** Resolves with the function that gives the place back. Rejects with the signal's reason when it aborts. */
  readonly enter: (signal: Cancellation | null) => Promise<() => void>
  /**
   * Takes a place that is free, for work that gives way; null where none is. `wanted` aborts as soon as somebody waits
   * for the place.
   */
  readonly enterIdle: () => IdlePlace | null
  /** How many are inside or waiting. */
  readonly busy: () => number
}

/** Work that gives way had to. */
export class GaveWayError extends Error {
  override readonly name = 'GaveWayError'

  constructor() {
    super("A client's request wants the place.")
  }
}

/** A place that is given back as soon as somebody else wants it. */
export type IdlePlace = { readonly leave: () => void; readonly wanted: AbortSignal }

/** `placesMax` null means without a limit. */
export function createGate(placesMax: number | null): Gate {
  const places = placesMax ?? Number.POSITIVE_INFINITY
  const waiting = new Set<() => void>()
  const idlers = new Set<AbortController>()
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

  function enterNow(): (() => void) | null {
    if (inside >= places) return null
    inside += 1
    return leaveOnce()
  }

  return {
    enterNow,
    busy: () => inside + waiting.size,
    enterIdle: function enterIdle() {
      const leave = enterNow()
      if (leave === null) return null
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
    enter: async function enter(signal) {
      signal?.throwIfAborted()
      return (
        enterNow() ??
        new Promise((resolve, reject) => {
          const admit = () => {
            signal?.removeEventListener('abort', giveUp)
            inside += 1
            resolve(leaveOnce())
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
      )
    },
  }
}
