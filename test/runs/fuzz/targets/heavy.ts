import { z } from 'zod'
import { checkRewritten } from '../check-rewritten.ts'
import { openSmallStage } from '../stage.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import { REPLY } from '../wire/recording-upstream.ts'
import { heavyBody, heavyBytes } from './heavy-body.ts'

const BODY_BYTES_MAX = 4 * 1024 * 1024

/**
 * Bodies that are heavier than they look: counts, depth and lengths in every place, and codings that make a million
 * bytes of a hundred. Another client is answered while they are read, and what the upstream receives is what was sent, or
 * a conversation that was rewritten by the rules.
 */
export const heavy: FuzzTarget = {
  name: 'heavy',
  share: 3,
  shows: ['relayed', 'compacted'],
  open: async () => {
    const stage = await openSmallStage({
      body_mb: BODY_BYTES_MAX / 1024 / 1024,
      bytes_in_flight_mb: 32,
    })
    return openTarget({
      arbitrary: heavyBody(BODY_BYTES_MAX - 1_000),
      check: async (body): Promise<Fate> => {
        await stage.begin()
        const { plain, sent } = heavyBytes(body)
        const coding = body.coding === null ? [] : [`Content-Encoding: ${body.coding}`]
        const asking = stage.client.ask(
          requestOf('/v1/chat/completions', sent, ['Authorization: Bearer sk-heavy', ...coding]),
        )
        // What comes of it is seen below; until then others are served.
        asking.catch(() => {})
        const meanwhile = await stage.afterwards()
        const answer = await asking
        const received = [...meanwhile, ...(await stage.afterwards())]
        if (answer.code !== null && answer.status < 500) {
          if (received.length > 0) throw new Error(`${answer.code}, and yet sent on`)
          return `${answer.status} ${answer.code}`
        }
        if (answer.status !== 200 || answer.body.toString() !== REPLY)
          throw new Error(`${answer.startLine} ${answer.body.toString().slice(0, 300)}`)
        const [only] = received
        if (received.length !== 1 || only === undefined) throw new Error(`sent ${received.length} times`)
        const action = answer.header('x-foldgate-action') ?? ''
        if (/^relayed(?:;|$)/.test(action)) {
          if (!only.body.equals(sent)) throw new Error(`${action}, but with other bytes`)
          return action
        }
        if (action !== 'compacted') throw new Error(`x-foldgate-action: ${action}`)
        if (plain.length <= COMPARED_BYTES_MAX) checkRewritten(plain, only.body)
        else chatShape.parse(JSON.parse(only.body.toString()))
        return action
      },
      close: stage.close,
    })
  },
}

// --- internal ---

/** What is longer takes longer to be compared than to be tried. */
const COMPARED_BYTES_MAX = 256 * 1024

const chatShape = z.looseObject({ messages: z.array(z.looseObject({})).min(1) })
