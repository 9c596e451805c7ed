import { typeOf } from '../../../support/responses/wire-item.ts'
import { readReply } from '../../../support/responses/living.ts'
import {
  startResponsesUpstream,
  type Overflow,
  type RecordedResponsesRequest,
} from '../../../support/responses/responses-upstream.ts'
import { textOf } from '../../../support/strict-upstream/wire-message.ts'
import type { LivedReceived, LivedStage } from '../lived/lived-subject.ts'
import { standBetween } from '../stage.ts'
import type { ItemsScript } from './lived-subject.ts'

/** What the upstream received, by items too. */
type ReceivedItems = RecordedResponsesRequest & LivedReceived

type LivedStageOptions = {
  /** Foldgate's, as its file would say it. */
  readonly profile: object
  readonly windowTokens: number
  readonly statesUsage: boolean
  /** How a prompt over the window is refused. Default: a 400 with OpenAI's code. */
  readonly overflow?: Overflow
  /** Whether broken sequences are refused. Default `enforced`. */
  readonly rules?: 'enforced' | 'unchecked'
  readonly count: (text: string) => number
}

/** A Foldgate between a client and the strict Responses upstream, which answers each request as its script says. */
export async function openLivedStage({
  profile,
  ...options
}: LivedStageOptions): Promise<LivedStage<ItemsScript, ReceivedItems>> {
  let output: ItemsScript = []
  const upstream = await startResponsesUpstream({
    ...options,
    outputReserveChecked: true,
    reply: () => ({ output }),
  })
  const stage = await standBetween({
    upstream,
    profile,
    endpoint: 'responses',
    isReply: (text) => readReply(text) !== null,
    acceptedMs: () => null,
  })
  return {
    ...stage,
    ask: async (body, authorization, script) => {
      output = script
      const exchange = await stage.ask(body, authorization)
      return { ...exchange, received: exchange.received.map(seen) }
    },
  }
}

// --- internal ---

function seen(request: RecordedResponsesRequest): ReceivedItems {
  const { rawItems, items, removed } = request
  const thoughts = items.filter((item) => typeOf(item) === 'reasoning').map((item) => textOf(item['id']))
  return { ...request, rawParts: rawItems, rawEntries: rawItems, thoughts, deadThoughts: removed.length }
}
