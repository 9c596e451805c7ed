import { checkInput, mayGoOn, rawItems } from '../check-input.ts'
import { openSmallStage } from '../stage.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { requestOf, type Answer } from '../wire/raw-exchange.ts'
import { answerOf, RESPONSE, RESPONSE_EVENTS, type Received } from '../wire/recording-upstream.ts'
import type { OddBody } from './odd-body.ts'
import { oddInput } from './odd-input.ts'

const BODY_BYTES_MAX = 1024 * 1024

/**
 * Conversations of the Responses API, good and damaged in every way, and what becomes of them when they go on. What is not
 * rewritten arrives byte for byte, what is rewritten keeps to the promises, and answers come back as they were.
 */
export const items: FuzzTarget = {
  name: 'items',
  share: 3,
  shows: ['relayed', 'compacted', 'relayed;reason=stateful'],
  open: async () => {
    const stage = await openSmallStage({ body_mb: BODY_BYTES_MAX / 1024 / 1024, bytes_in_flight_mb: 64 })
    let clients = 0
    return openTarget({
      arbitrary: oddInput(),
      check: async ({ isCompact, isStreamed, body, grown }): Promise<Fate> => {
        await stage.begin()
        // A client of its own for each: what another one has sent, smaller by a step, is no past of this one.
        clients += 1
        const key = `Authorization: Bearer client-${clients}`
        const isEvents = isStreamed && !isCompact
        const reply = isEvents ? RESPONSE_EVENTS : RESPONSE
        const type = `content-type: ${isEvents ? 'text/event-stream' : 'application/json'}`
        const ask = async (odd: OddBody): Promise<Sent> => {
          stage.upstream.answerWith(() => answerOf('200 OK', [type], reply))
          const sent = odd.bytes()
          const path = isCompact ? '/v1/responses/compact' : '/v1/responses'
          const answer = await stage.client.ask(requestOf(path, sent, [key]))
          if (answer.status !== 200 || answer.body.toString() !== reply)
            throw new Error(`${answer.startLine} ${answer.body.toString().slice(0, 300)}`)
          return checked(sent, answer, await stage.afterwards())
        }
        const first = await ask(body)
        if (grown !== null && mayGoOn(body.bytes())) checkGrowth(first, await ask(grown))
        return first.action
      },
      close: stage.close,
    })
  },
}

// --- internal ---

/** The window of a small stage. */
const WINDOW_TOKENS = 2_000

/** A request as it was treated. */
type Sent = {
  readonly action: string
  readonly items: readonly string[]
  /** Of the conversation as it came and as it was sent; 0 where they were not counted. */
  readonly tokens: { readonly received: number; readonly sent: number }
}

function checked(sent: Buffer, answer: Answer, received: readonly Received[]): Sent {
  const [only] = received
  if (received.length !== 1 || only === undefined) throw new Error(`sent ${received.length} times`)
  const action = answer.header('x-foldgate-action') ?? ''
  const counts = /^(\d+);sent=(\d+)$/.exec(answer.header('x-foldgate-tokens') ?? '')
  const tokens = { received: Number(counts?.[1] ?? 0), sent: Number(counts?.[2] ?? 0) }
  if (/^relayed(?:;|$)/.test(action)) {
    if (!only.body.equals(sent)) throw new Error(`${action}, but with other bytes`)
  } else {
    if (action !== 'compacted') throw new Error(`x-foldgate-action: ${action}`)
    checkInput(sent, only.body)
  }
  return { action, items: mayGoOn(sent) ? rawItems(only.body) : [], tokens }
}

/** Throws if the beginning changed of what was sent, and nothing was taken out for it (P5). */
function checkGrowth(before: Sent, after: Sent): void {
  const isSame = before.items.every((item, index) => after.items[index] === item)
  if (isSame || before.tokens.sent === 0 || after.tokens.sent === 0) return
  // Of a view that did not fit, whatever was done, another is tried at the next request.
  if (before.tokens.sent > WINDOW_TOKENS) return
  const growth = after.tokens.received - before.tokens.received
  if (after.tokens.sent >= before.tokens.sent + growth)
    throw new Error(
      `another beginning, and no less: ${JSON.stringify([before.tokens, after.tokens, different(before, after)])}`,
    )
}

/** The first items that differ. */
function different(before: Sent, after: Sent): readonly (string | undefined)[] {
  const at = before.items.findIndex((item, index) => after.items[index] !== item)
  return [before.items[at]?.slice(0, 400), after.items[at]?.slice(0, 400)]
}
