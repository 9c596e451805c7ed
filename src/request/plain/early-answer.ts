import type { Answer } from '../../upstream/upstreams.ts'

/**
 * The answer to a request that was sent before anybody looked into it. Whoever would have sent the very same bytes takes it; if
 * nobody does, it is given up. `Judged`: what may be found out about its beginning; `Flight`: what notes that it is under way.
 */
export class EarlyAnswer<Judged, Flight extends { readonly end: () => void }> {
  /** When it was sent, as `performance.now()` told. */
  readonly sentAtMs: number
  /** What the beginning of the answer means, if somebody has looked at that already. */
  readonly judged: Judged | null
  readonly #sending: Promise<Answer>
  #flight: Flight | null
  #firstByteMs: number | null
  #isTaken = false

  /** `seen`: what is known of an answer that has come. `flight`: null if it is noted nowhere. */
  constructor(
    sending: Promise<Answer>,
    sentAtMs: number,
    flight: Flight | null,
    seen: { readonly firstByteMs: number; readonly judged: Judged | null } | null,
  ) {
    this.#sending = sending
    this.sentAtMs = sentAtMs
    this.#flight = flight
    this.judged = seen?.judged ?? null
    this.#firstByteMs = seen?.firstByteMs ?? null
    // Who takes it is told what went wrong; until then nobody listens.
    if (seen === null) this.#sending.then(this.#came, nothing)
  }

  /** From when it was sent until the headers of the answer, in milliseconds. */
  get firstByteMs(): number {
    return this.#firstByteMs ?? performance.now() - this.sentAtMs
  }

  /** Null if it was taken or given up before. */
  take(): Promise<Answer> | null {
    if (this.#isTaken) return null
    this.#isTaken = true
    return this.#sending
  }

  /** What notes that it is under way: for whoever takes the answer. Null if nothing does, or somebody else has it. */
  takeFlight(): Flight | null {
    const flight = this.#flight
    this.#flight = null
    return flight
  }

  /** Gives it up; false if somebody has taken it. */
  discard(): boolean {
    this.takeFlight()?.end()
    const sending = this.take()
    sending?.then(({ body }) => body.destroy(), nothing)
    return sending !== null
  }

  readonly #came = (): void => {
    this.#firstByteMs ??= performance.now() - this.sentAtMs
  }
}

// --- internal ---

function nothing(): void {}
