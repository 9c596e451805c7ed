import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** `serving`, then `leaving` (not ready, but serving), then `closing` (running requests only). */
export type Phase = 'serving' | 'leaving' | 'closing'

/** Follows the running requests of a server through its end. */
export class Lifecycle {
  phase: Phase = 'serving'
  /** How many requests are running. */
  running = 0
  #onEnd: (() => void) | null = null

  /** Counts a request, until `end` is called for it. */
  begin(): void {
    this.running += 1
  }

  /** The answer to a request is over. */
  readonly end = (): void => {
    this.running -= 1
    if (this.running === 0) this.#onEnd?.()
  }

  /** From here on it is not ready, but serves what still comes. */
  leave(): void {
    if (this.phase === 'serving') this.phase = 'leaving'
  }

  /**
   * Ends the servers: new connections are still served for `delayMs` while `/readyz` answers 503, and running requests may
   * take `timeoutMs` after that. Resolves with the number of requests that had to be cut off.
   */
  async drain(servers: readonly Server[], delayMs: number, timeoutMs: number): Promise<number> {
    this.leave()
    await sleep(delayMs)
    this.phase = 'closing'
    // Their ports are free from here on, all at once: the next one takes them while this one finishes.
    const closed = Promise.all(
      servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve()))),
    )
    if (this.running > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        this.#onEnd = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const cutOff = this.running
    // What is left are requests out of time, and connections that are kept open for more.
    for (const server of servers) server.closeAllConnections()
    await closed
    return cutOff
  }
}
