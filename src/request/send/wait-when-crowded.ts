import type { Prepared, Outcome, Send } from '../request.ts'
import { sendAgain, standing } from './send.ts'
import type { Flight } from './shared-pool.ts'

export type CrowdOptions = {
  readonly isOn: boolean
  /** Notes that this form is on its way to the upstream. */
  readonly enter: (prepared: Prepared) => Flight
  /** Waits for this request's turn at a pool that was full; the function that comes back lets the next one follow. */
  readonly turn: () => Promise<() => void>
}

/**
 * Sends once more what met a full pool, by itself as far as that can be waited for, and a last time where it is full
 * again. The request is not at fault: its bytes stay the same, and nothing is learnt.
 */
export const waitWhenCrowded =
  (options: CrowdOptions) =>
  (send: Send): Send => {
    if (!options.isOn) return send

    async function sendInFlight(prepared: Prepared, flight: Flight): Promise<Outcome> {
      try {
        const outcome = await send(prepared)
        outcome.answer.body.onceOver(flight.end)
        return outcome
      } catch (error) {
        flight.end()
        throw error
      }
    }

    return async function sendWaiting(prepared) {
      let outcome = await sendInFlight(prepared, options.enter(prepared))
      for (let tries = 0; isCrowded(outcome) && tries < TRIES_MAX; tries += 1) {
        const again = await sendAgain(outcome, async () => {
          const letNextFollow = await options.turn()
          const flight = options.enter(prepared)
          // Only now: the next one waits for this one, too.
          letNextFollow()
          return sendInFlight(prepared, flight)
        })
        if (again === null) return standing(outcome)
        outcome = { ...again, remedy: 'waited' }
      }
      return outcome
    }
  }

// --- internal ---

/** How often a request is tried again that met a full pool. */
const TRIES_MAX = 2

function isCrowded({ verdict, classification }: Outcome): boolean {
  return verdict === 'refused' && classification?.class === 'crowded'
}
