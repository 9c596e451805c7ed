import { FoldgateError } from '../errors.ts'

export type ArrivalLimits = {
  /** How long a client may send nothing of its body, in milliseconds (`limits.idle_s`). */
  readonly silenceMs: number
  /** The fewest bytes of a body that a client has to send in a second (`limits.body_kb_per_s`); 0: no least. */
  readonly bytesPerSecondMin: number
  /** How far a client may be behind that, in milliseconds. Default 20,000: a connection that changes networks takes seconds. */
  readonly graceMs?: number
}

/** Sees to it that a body arrives. It begins paused. */
export type ArrivalClock = {
  readonly arrived: (bytes: number) => void
  /** Stops it: from now on it is not the client that keeps the body waiting. */
  readonly pause: () => void
  readonly goOn: () => void
}

/**
 * Calls `onLate` with a `body_timeout` where a body comes too slowly. A silence counts from the last byte; the rate by what
 * the client is behind, and what it once sent faster is no leave to be slow for hours: a body holds its place and its bytes
 * for as long as it takes.
 */
export function watchArrival(limits: ArrivalLimits, onLate: (error: FoldgateError) => void): ArrivalClock {
  const { silenceMs, bytesPerSecondMin } = limits
  const graceMs = bytesPerSecondMin === 0 ? Number.POSITIVE_INFINITY : (limits.graceMs ?? GRACE_MS)
  let timer: NodeJS.Timeout | null = null
  /** When it went on, or the last bytes came. */
  let lastMs = 0
  let silentMs = 0
  /** How far the client may still fall behind the rate. */
  let leeway = graceMs

  /** Brings both up to now. */
  function pass(): void {
    const now = performance.now()
    silentMs += now - lastMs
    leeway -= now - lastMs
    lastMs = now
  }
  function check(): void {
    pass()
    const leftMs = Math.min(silenceMs - silentMs, leeway)
    if (leftMs > 0) timer = setTimeout(checkBehindInput, Math.ceil(leftMs))
    else onLate(late(limits, leeway <= 0))
  }
  /** Node reads bytes that came while this process was busy after it has run the timers. */
  function checkBehindInput(): void {
    setImmediate(() => {
      if (timer !== null) check()
    })
  }

  return {
    arrived: (bytes) => {
      if (timer !== null) pass()
      silentMs = 0
      if (bytesPerSecondMin > 0) leeway = Math.min(graceMs, leeway + (bytes * 1000) / bytesPerSecondMin)
    },
    pause: () => {
      if (timer === null) return
      pass()
      clearTimeout(timer)
      timer = null
    },
    goOn: () => {
      if (timer !== null) return
      lastMs = performance.now()
      timer = setTimeout(checkBehindInput, Math.ceil(Math.max(0, Math.min(silenceMs - silentMs, leeway))))
    },
  }
}

// --- internal ---

const GRACE_MS = 20_000

function late({ silenceMs, bytesPerSecondMin }: ArrivalLimits, isSlow: boolean): FoldgateError {
  return new FoldgateError(
    'body_timeout',
    isSlow
      ? `The request's body came at less than ${bytesPerSecondMin / 1024} kB a second (limits.body_kb_per_s). Send it again over a faster connection, or lower that setting.`
      : `The request's body stopped arriving for ${silenceMs / 1000} s before it was complete (limits.idle_s). Send it again.`,
  )
}
