/** Lets few begin at once, and one more each time that those take long. */
export type Turns = {
  /** Resolves when it is one's turn; what it resolves with ends the turn. */
  readonly take: () => Promise<() => void>
}

/**
 * A server that answers one request at a time is not to find a dozen in front of its first chat; one that never
 * answers some of them is not to keep the others from being asked.
 */
export function createTurns(options: { readonly atOnce: number; readonly patienceMs: number }): Turns {
  const waiting: (() => void)[] = []
  let running = 0
  let timer: NodeJS.Timeout | null = null

  function admit(): void {
    const next = waiting.shift()
    if (next !== undefined) {
      running += 1
      next()
    }
    if (timer !== null) clearTimeout(timer)
    timer = waiting.length === 0 ? null : setTimeout(admit, options.patienceMs)
  }

  function end(): void {
    running -= 1
    if (running < options.atOnce) admit()
  }

  return {
    take: async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      if (running < options.atOnce) admit()
      else timer ??= setTimeout(admit, options.patienceMs)
      await promise
      return end
    },
  }
}
