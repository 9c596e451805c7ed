import type { Answer } from '../../upstream/upstreams.ts'

/**
 * The answer to a request that was sent before anybody looked into it. Whoever would have sent the very same bytes takes it; if
 * nobody does, it is given up. `Judged`: what may be found out about its beginning.
 */
export class EarlyAnswer<Judged> {
  /** When it was sent, as `performance.now()` told. */
  readonly sentAtMs: number
  /** What the beginning of the answer means, if somebody has looked at that already. */
  readonly judged: Judged | null
  readonly #sending: Promise<Answer>
  #firstByteMs: number | null
  #isTaken = false

  /** `seen`: what is known of an answer that has come. */
  constructor(
    sending: Promise<Answer>,
    sentAtMs: number,
    seen: { readonly firstByteMs: number; readonly judged: Judged | null } | null = null,
  ) {
    this.#sending = sending
    this.sentAtMs = sentAtMs
    this.judged = seen?.judged ?? null
    this.#firstByteMs = seen?.firstByteMs ?? null
    // Who takes it is told what went wrong; until then nobody listens.
    if (seen === null) this.#sending.then(this.#came, nothing)
  }

  /** From when it was sent until the headers of the answer, in milliseconds. */
  get firstByteMs(): number {
    return this.#firstByteMs ?? performance.now() - this.sentAtMs
  }

  /** Null if it was taken before. */
  take(): Promise<Answer> | null {
    if (this.#isTaken) return null
    this.#isTaken = true
    return this.#sending
  }

  /** Gives it up if nobody has taken it. */
  discard(): void {
    this.take()?.then(({ body }) => body.destroy(), nothing)
  }

  readonly #came = (): void => {
    this.#firstByteMs ??= performance.now() - this.sentAtMs
  }
}

// --- internal ---

function nothing(): void {}
