import { readReply } from '../../../support/messages/living.ts'
import {
  startMessagesUpstream,
  type RecordedMessagesRequest,
} from '../../../support/messages/messages-upstream.ts'
import type { LivedReceived, LivedStage } from '../lived/lived-subject.ts'
import { standBetween } from '../stage.ts'
import type { BlocksScript } from './messages-subject.ts'
import { entriesOf, thoughtNames } from './read-block.ts'

/** What the upstream received, by messages too. */
type ReceivedMessages = RecordedMessagesRequest & LivedReceived

type MessagesStageOptions = {
  /** Foldgate's, as its file would say it. */
  readonly profile: object
  readonly windowTokens: number
  readonly statesUsage: boolean
  /** Whether broken sequences are refused. Default `enforced`. */
  readonly rules?: 'enforced' | 'unchecked'
  readonly count: (text: string) => number
}

/** A Foldgate between a client and the strict Messages upstream, which answers each request as its script says. */
export async function openMessagesStage({
  profile,
  ...options
}: MessagesStageOptions): Promise<LivedStage<BlocksScript, ReceivedMessages>> {
  let content: BlocksScript = []
  const upstream = await startMessagesUpstream({
    ...options,
    outputReserveChecked: false,
    reply: () => ({ content }),
  })
  const stage = await standBetween({
    upstream,
    // It is Anthropic, as far as it goes, at another address: Claude Code's line for billing stays.
    profile: { messages: { blank_billing: 'never' }, ...profile },
    endpoint: 'messages',
    headers: { 'anthropic-version': '2023-06-01' },
    isReply: (text) => readReply(text) !== null,
    acceptedMs: () => null,
  })
  return {
    ...stage,
    ask: async (body, authorization, script) => {
      content = script
      const exchange = await stage.ask(body, authorization)
      return { ...exchange, received: exchange.received.map(seen) }
    },
  }
}

// --- internal ---

function seen(request: RecordedMessagesRequest): ReceivedMessages {
  const { rawMessages, messages, cache, transformations } = request
  return {
    ...request,
    cachedTokens: cache.read,
    rawParts: rawMessages,
    rawEntries: rawMessages.flatMap(entriesOf),
    thoughts: messages.flatMap(({ blocks }) => thoughtNames(blocks)),
    deadThoughts: transformations.length,
  }
}
