import type { Form, Outcome, Send } from '../request.ts'
import { sendAgain, standing } from './outcome.ts'
import { promptTokensOf, type Sending } from './sending.ts'
import type { Flight } from './shared-pool.ts'

/**
 * Sends once more what met a full pool, by itself as far as that can be waited for, and a last time where it is full
 * again. The request is not at fault: its bytes stay the same, and nothing is learnt.
 */
export const waitWhenCrowded =
  (sending: Sending) =>
  (send: Send): Send => {
    const { request, parts } = sending
    if (request.profile.observe) return send
    const pool = parts.poolOf(request.upstreamName)

    function enter(form: Form): Flight {
      const flight = pool.enter(promptTokensOf(request.measure, form))
      sending.flight = flight
      return flight
    }

    async function sendInFlight(form: Form, flight: Flight): Promise<Outcome> {
      try {
        const outcome = await send(form)
        outcome.answer.body.onceOver(flight.end)
        return outcome
      } catch (error) {
        flight.end()
        throw error
      }
    }

    return async function sendWaiting(form) {
      let outcome = await sendInFlight(form, enter(form))
      for (let tries = 0; isCrowded(outcome) && tries < TRIES_MAX; tries += 1) {
        const again = await sendAgain(outcome, async () => {
          const letNextFollow = await pool.turn(request.exchange.signal)
          const flight = enter(form)
          // Only now: the next one waits for this one, too.
          letNextFollow()
          return sendInFlight(form, flight)
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
