import type { Server } from 'node:http'

export type DrainOptions = {
  /** How long new connections are still served while `/readyz` answers 503, in milliseconds. */
  readonly delayMs: number
  /** How long running requests may take to finish after that, in milliseconds. */
  readonly timeoutMs: number
}

/** `serving`, then `leaving` (not ready, but serving), then `closing` (running requests only). */
export type Phase = 'serving' | 'leaving' | 'closing'

export type Lifecycle = {
  readonly phase: () => Phase
  /** How many requests are running. */
  readonly running: () => number
  /** Counts a request; the returned function ends it. */
  readonly begin: () => () => void
  /** Ends the server in order. Resolves with the number of requests that had to be cut off. */
  readonly drain: (server: Server, options: DrainOptions) => Promise<number>
}

/** Follows the running requests of a server through its end. */
export function createLifecycle(): Lifecycle {
  let phase: Phase = 'serving'
  let running = 0
  let draining: Promise<number> | null = null
  let onChange: (() => void) | null = null

  async function drainOnce(server: Server, options: DrainOptions): Promise<number> {
    phase = 'leaving'
    await sleep(options.delayMs)
    phase = 'closing'
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, options.timeoutMs)
      onChange = () => {
        if (running > 0) return
        clearTimeout(timer)
        resolve()
      }
      onChange()
    })
    const cutOff = running
    // What is left are requests out of time, and connections that are kept open for more.
    server.closeAllConnections()
    await closed
    return cutOff
  }

  return {
    phase: () => phase,
    running: () => running,
    begin: function begin() {
      running += 1
      let ended = false
      return function end() {
        if (ended) return
        ended = true
        running -= 1
        onChange?.()
      }
    },
    drain: function drain(server, options) {
      draining ??= drainOnce(server, options)
      return draining
    },
  }
}

// --- internal ---

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}
