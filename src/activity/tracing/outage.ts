import type { Log } from '../../log/log.ts'

export type Outage = {
  /** Spans could not be sent. */
  readonly failed: (spans: number, error: unknown) => void
  readonly worked: () => void
}

/** Tells the operator once when spans begin to get lost, and once when they arrive again, with how many were lost. */
export function createOutage(log: Log): Outage {
  let lost = 0
  return {
    failed: function failed(spans, error) {
      if (lost === 0) {
        log.warn('traces do not arrive: requests go on, their spans are lost until this ends', {
          reason: reasonOf(error),
        })
      }
      lost += spans
    },
    worked: function worked() {
      if (lost > 0) log.info('traces arrive again', { lost_spans: lost })
      lost = 0
    },
  }
}

// --- internal ---

/** A status or a code, never a message: answers may quote what was sent, and with it the headers that hold the key. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  const code = 'code' in error ? error.code : null
  if (typeof code === 'number') return `status ${code}`
  return typeof code === 'string' ? code : 'no good answer'
}
