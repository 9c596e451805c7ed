import { blockBreaks } from '../../support/messages/block-rules.ts'
import { itemBreaks } from '../../support/responses/item-rules.ts'
import type { LivedDialect } from '../harness/lived.ts'
import { isAskable, openMessagesStage } from '../harness/messages.ts'
import { systemCountOf, textsBefore } from '../harness/recordings.ts'
import { openResponsesStage, parsedItem } from '../harness/responses.ts'
import { rulesFor } from '../harness/subject.ts'
import { openBlockChatReader, openItemChatReader } from './chat-readers.ts'
import { faultsOf, type FoldgateSenderOptions, type Sender } from './senders.ts'

type LivedSenderOptions = Omit<FoldgateSenderOptions, 'dialect'> & {
  readonly dialect: LivedDialect
  /** How much the model thinks before each reply, in tokens. */
  readonly reasoningTokens: number
}

/**
 * A Foldgate before a recording upstream of another API, which is asked for one conversation as an agent lives it (in the
 * Messages API: as Claude Code does, with marks for the cache): with what the upstream names, thinks and signs. What the
 * upstream received is told as the chat that the recording is.
 */
export async function openLivedSender(options: LivedSenderOptions): Promise<Sender> {
  const { recording, profile, room, reasoningTokens, count, dialect } = options
  const { messages, points } = recording
  const api = apis[dialect]
  const areAskable = points.every((point) => api.isAskable(messages.slice(0, point)))
  const stage = await api.openStage({
    profile,
    windowTokens: room.windowTokens,
    statesUsage: true,
    // A recording that is broken itself has to get through as well; what is sent is compared with it below.
    rules: areAskable ? rulesFor(messages) : 'unchecked',
    count,
  })
  const outputTokens = room.reserveTokens
  const asked = { messages, manner: null, thoughtTokens: reasoningTokens, outputTokens }
  const chat = stage.openChat(recording, asked)
  const reader = api.openReader()
  const leading = api.hasSystemApart ? textsBefore(recording, systemCountOf(messages)) : []
  let [learntEntries, learntMessages] = [0, 0]
  return {
    send: async (point) => {
      for (; learntMessages < point; learntMessages += 1) {
        const entries = chat.before(learntMessages + 1).map(({ text }) => text)
        const message = messages[learntMessages]
        if (message !== undefined) reader.learn(message, entries.slice(learntEntries))
        learntEntries = entries.length
      }
      const { parts, exchange } = await chat.ask(point, false, 'Bearer agent')
      const received = exchange.received.at(-1) ?? null
      const sent = received?.rawParts ?? []
      return {
        received: received && {
          ...received,
          rawItems: received.rawEntries,
          rawMessages: [...leading, ...reader.read(sent)],
        },
        faults: faultsOf(exchange, api.breaksIn(sent) > api.breaksIn(parts)),
      }
    },
    close: () => stage.close(),
  }
}

const apis = {
  responses: {
    openStage: openResponsesStage,
    openReader: openItemChatReader,
    isAskable: () => true,
    /** Of what stands in the items themselves; whether reasoning is there that an id demands, the upstream checks. */
    breaksIn: (items: readonly string[]) => itemBreaks(items.map(parsedItem), new Map()).length,
    hasSystemApart: false,
  },
  messages: {
    openStage: openMessagesStage,
    openReader: openBlockChatReader,
    isAskable,
    breaksIn: (messages: readonly string[]) =>
      blockBreaks(messages.map(parsedItem), { allowsPrefill: true }).length,
    hasSystemApart: true,
  },
}
