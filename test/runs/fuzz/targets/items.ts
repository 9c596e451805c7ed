import type * as fc from 'fast-check'
import { checkInput, mayGoOn, rawItems } from '../check-input.ts'
import { checkMessages, mayGrow, rawMessages } from '../check-messages.ts'
import { openSmallStage } from '../stage.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { requestOf, type Answer } from '../wire/raw-exchange.ts'
import {
  answerOf,
  MESSAGE,
  MESSAGE_EVENTS,
  RESPONSE,
  RESPONSE_EVENTS,
  type Received,
} from '../wire/recording-upstream.ts'
import type { OddBody } from './odd-body.ts'
import { oddInput } from './odd-input.ts'
import { oddMessages } from './odd-messages.ts'

const BODY_BYTES_MAX = 1024 * 1024

/**
 * Conversations of the Responses API, good and damaged in every way, and what becomes of them when they go on. What is not
 * rewritten arrives byte for byte, what is rewritten keeps to the promises, and answers come back as they were.
 */
export const items: FuzzTarget = target({
  name: 'items',
  conversations: oddInput(),
  pathOf: ({ isCompact }) => (isCompact ? 'responses/compact' : 'responses'),
  plain: RESPONSE,
  streamed: RESPONSE_EVENTS,
  check: checkInput,
  mayGoOn,
  rawEntries: rawItems,
})

/** The same of the Messages API. */
export const blocks: FuzzTarget = target({
  name: 'blocks',
  conversations: oddMessages(),
  pathOf: () => 'messages',
  plain: MESSAGE,
  streamed: MESSAGE_EVENTS,
  check: checkMessages,
  mayGoOn: mayGrow,
  rawEntries: rawMessages,
})

// --- internal ---

/** The window of a small stage. */
const WINDOW_TOKENS = 2_000

type Conversation = {
  readonly isCompact: boolean
  readonly isStreamed: boolean
  readonly body: OddBody
  readonly grown: OddBody | null
}

/** What is known of conversations in a dialect, and how what became of them is judged. */
type Kind = {
  readonly name: string
  readonly conversations: fc.Arbitrary<Conversation>
  readonly pathOf: (conversation: Conversation) => string
  /** What the upstream answers. */
  readonly plain: string
  readonly streamed: string
  readonly check: (sent: Buffer, received: Buffer) => void
  readonly mayGoOn: (body: Buffer) => boolean
  readonly rawEntries: (body: Buffer) => readonly string[]
}

function target(kind: Kind): FuzzTarget {
  return {
    name: kind.name,
    share: 3,
    shows: ['relayed', 'compacted', 'relayed;reason=stateful'],
    open: async () => {
      const stage = await openSmallStage({
        body_mb: BODY_BYTES_MAX / 1024 / 1024,
        bytes_in_flight_mb: 64,
      })
      let clients = 0
      return openTarget({
        arbitrary: kind.conversations,
        check: async (conversation): Promise<Fate> => {
          const { isCompact, isStreamed, body, grown } = conversation
          await stage.begin()
          // A client of its own for each: what another one has sent, smaller by a step, is no past of this one.
          clients += 1
          const key = `Authorization: Bearer client-${clients}`
          const isEvents = isStreamed && !isCompact
          const reply = isEvents ? kind.streamed : kind.plain
          const type = `content-type: ${isEvents ? 'text/event-stream' : 'application/json'}`
          const ask = async (odd: OddBody): Promise<Sent> => {
            stage.upstream.answerWith(() => answerOf('200 OK', [type], reply))
            const sent = odd.bytes()
            const answer = await stage.client.ask(requestOf(`/v1/${kind.pathOf(conversation)}`, sent, [key]))
            if (answer.status !== 200 || answer.body.toString() !== reply)
              throw new Error(`${answer.startLine} ${answer.body.toString().slice(0, 300)}`)
            return checked(kind, sent, answer, await stage.afterwards())
          }
          const first = await ask(body)
          if (grown !== null && kind.mayGoOn(body.bytes())) checkGrowth(first, await ask(grown))
          return first.action
        },
        close: stage.close,
      })
    },
  }
}

/** A request as it was treated. */
type Sent = {
  readonly action: string
  /** Items, or messages. */
  readonly entries: readonly string[]
  /** Of the conversation as it came and as it was sent; 0 where they were not counted. */
  readonly tokens: { readonly received: number; readonly sent: number }
}

function checked(kind: Kind, sent: Buffer, answer: Answer, received: readonly Received[]): Sent {
  const [only] = received
  if (received.length !== 1 || only === undefined) throw new Error(`sent ${received.length} times`)
  const action = answer.header('x-foldgate-action') ?? ''
  const counts = /^(\d+);sent=(\d+)$/.exec(answer.header('x-foldgate-tokens') ?? '')
  const tokens = { received: Number(counts?.[1] ?? 0), sent: Number(counts?.[2] ?? 0) }
  if (/^relayed(?:;|$)/.test(action)) {
    if (!only.body.equals(sent)) throw new Error(`${action}, but with other bytes`)
  } else {
    if (action !== 'compacted') throw new Error(`x-foldgate-action: ${action}`)
    kind.check(sent, only.body)
  }
  return { action, entries: kind.mayGoOn(sent) ? kind.rawEntries(only.body) : [], tokens }
}

/** Throws if the beginning changed of what was sent, and nothing was taken out for it (P5). */
function checkGrowth(before: Sent, after: Sent): void {
  const isSame = before.entries.every((entry, index) => after.entries[index] === entry)
  if (isSame || before.tokens.sent === 0 || after.tokens.sent === 0) return
  // Of a view that did not fit, whatever was done, another is tried at the next request.
  if (before.tokens.sent > WINDOW_TOKENS) return
  const growth = after.tokens.received - before.tokens.received
  if (after.tokens.sent >= before.tokens.sent + growth)
    throw new Error(
      `another beginning, and no less: ${JSON.stringify([before.tokens, after.tokens, different(before, after)])}`,
    )
}

/** The first entries that differ. */
function different(before: Sent, after: Sent): readonly (string | undefined)[] {
  const at = before.entries.findIndex((entry, index) => after.entries[index] !== entry)
  return [before.entries[at]?.slice(0, 400), after.entries[at]?.slice(0, 400)]
}
