import { conversation } from '../../../support/arbitrary-conversation.ts'
import { checkRewritten } from '../check-rewritten.ts'
import { openSmallStage } from '../stage.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import { REPLY } from '../wire/recording-upstream.ts'
import { oddBody } from './odd-body.ts'

const BODY_BYTES_MAX = 1024 * 1024

/**
 * Bodies of chat completions, good and damaged in every way: the upstream is the judge of them. What is not rewritten
 * arrives byte for byte, what is rewritten keeps to the promises, and only a body over the limit is refused here.
 */
export const bodies: FuzzTarget = {
  name: 'bodies',
  share: 3,
  shows: ['relayed', 'compacted'],
  open: async () => {
    const stage = await openSmallStage({
      body_mb: BODY_BYTES_MAX / 1024 / 1024,
      bytes_in_flight_mb: 64,
    })
    return openTarget({
      arbitrary: oddBody(conversation, BODY_BYTES_MAX),
      check: async (odd): Promise<Fate> => {
        await stage.begin()
        const body = odd.bytes()
        const answer = await stage.client.ask(requestOf('/v1/chat/completions', body))
        const received = await stage.afterwards()
        if (body.length > BODY_BYTES_MAX) {
          if (answer.code !== 'body_too_large' || received.length > 0)
            throw new Error(`a body over the limit: ${answer.startLine}, ${received.length} sent on`)
          return '413 body_too_large'
        }
        if (answer.status !== 200 || answer.body.toString() !== REPLY)
          throw new Error(`${answer.startLine} ${answer.body.toString().slice(0, 300)}`)
        const [only] = received
        if (received.length !== 1 || only === undefined) throw new Error(`sent ${received.length} times`)
        const action = answer.header('x-foldgate-action') ?? ''
        if (/^relayed(?:;|$)/.test(action)) {
          if (!only.body.equals(body)) throw new Error(`${action}, but with other bytes`)
          return action
        }
        if (action !== 'compacted') throw new Error(`x-foldgate-action: ${action}`)
        checkRewritten(body, only.body)
        return action
      },
      close: stage.close,
    })
  },
}
