import { promptTokensOf } from '../measure/sent-prompt.ts'
import type { Form, Outcome, Send, Sending } from '../request.ts'
import { sendAgain, standing } from './outcome.ts'
import type { Flight, PoolOf } from './shared-pool.ts'

/**
 * A request that met a full pool is sent once more, alone if the others end soon enough, and a last time if the pool is
 * full again. The request is not at fault: its bytes stay the same, and nothing is learnt.
 */
export const waitWhenCrowded =
  (poolOf: PoolOf) =>
  (send: Send): Send =>
    async function sendWaiting(form, sending) {
      const { profile, upstreamName, measure, exchange } = sending.request
      if (profile.observe) return send(form, sending)
      const pool = poolOf(upstreamName)
      const promptTokens = promptTokensOf(measure, form)
      let outcome = await sendInFlight(pool.enter(promptTokens), form, sending, send)
      for (let tries = 0; isCrowded(outcome) && tries < TRIES_MAX; tries += 1) {
        const again = await sendAgain(outcome, async () => {
          const letNextFollow = await pool.turn(exchange.signal)
          const flight = pool.enter(promptTokens)
          // Only now: the next one waits for this one, too.
          letNextFollow()
          return sendInFlight(flight, form, sending, send)
        })
        if (again === null) return standing(outcome)
        outcome = { ...again, remedy: 'waited' }
      }
      return outcome
    }

// --- internal ---

/** How often a request is tried again that met a full pool. */
const TRIES_MAX = 2

async function sendInFlight(flight: Flight, form: Form, sending: Sending, send: Send): Promise<Outcome> {
  sending.flight = flight
  try {
    const outcome = await send(form, sending)
    outcome.answer.body.onceOver(flight.end)
    return outcome
  } catch (error) {
    flight.end()
    throw error
  }
}

function isCrowded({ verdict, classification }: Outcome): boolean {
  return verdict === 'refused' && classification?.class === 'crowded'
}
