import { blockBreaks } from '../../../support/messages/block-rules.ts'
import { chatOf, toolsOf } from '../../../support/messages/chat.ts'
import { openLife, readReply, type LivedMessage } from '../../../support/messages/living.ts'
import { ruleBreaks } from '../../../support/strict-upstream/message-rules.ts'
import { openMessagesStage } from '../../replay/messages/messages-stage.ts'
import { isAskable, messagesBody } from '../../replay/messages/messages-subject.ts'
import { livedEntries } from '../../replay/messages/read-block.ts'
import type { Recording } from '../../replay/recordings.ts'
import type { Room } from '../policy-sender.ts'
import type { Sender } from '../sender.ts'
import { systemCountOf } from '../shares.ts'
import { openBlockChatReader } from './block-chat-reader.ts'

type MessagesSenderOptions = {
  readonly recording: Recording
  /** As its file would say it. */
  readonly profile: object
  readonly room: Room
  /** How much the model thinks before each reply, in tokens. */
  readonly reasoningTokens: number
  /** The upstream's. */
  readonly count: (text: string) => number
}

/**
 * A Foldgate before a recording upstream of the Messages API, which is asked for one conversation as Claude Code lives it: with
 * the thinking of the replies, and with marks for the cache. What the upstream received is told as the chat that the recording is.
 */
export async function openMessagesSender(options: MessagesSenderOptions): Promise<Sender> {
  const { recording, profile, room, reasoningTokens, count } = options
  const { points } = recording
  const chat = recording.messages.map(({ message }) => message)
  // A recording that is broken itself has to get through as well; what is sent is compared with it below.
  const isSound =
    ruleBreaks(chat, 'lenient').length === 0 &&
    points.every((point) => isAskable(recording.messages.slice(0, point)))
  const stage = await openMessagesStage({
    profile,
    windowTokens: room.windowTokens,
    statesUsage: true,
    rules: isSound ? 'enforced' : 'unchecked',
    count,
  })
  const { system, steps } = chatOf(chat, { thinkingTokens: reasoningTokens })
  const tools = toolsOf(recording.tools === '' ? undefined : JSON.parse(recording.tools))
  const leading = recording.messages.slice(0, systemCountOf(recording.messages)).map(({ text }) => text)
  const life = openLife({ steps })
  const reader = openBlockChatReader()
  let messages: readonly LivedMessage[] = []
  let learnt = 0
  let asked = 0

  function messagesBefore(point: number): readonly LivedMessage[] {
    for (const [offset, message] of recording.messages.slice(asked, point).entries()) {
      messages = life.before(asked + offset + 1)
      const entries = livedEntries(messages).map(({ text }) => text)
      reader.learn(message, entries.slice(learnt))
      learnt = entries.length
    }
    asked = point
    return messages
  }

  return {
    send: async (point) => {
      const sent = messagesBefore(point)
      const { bytes } = messagesBody({
        system,
        isClaudeCode: true,
        tools,
        messages: sent,
        isStreamed: false,
        outputTokens: room.reserveTokens,
      })
      const step = steps[point]
      const script = step?.kind === 'reply' ? step.script : ENDING
      const exchange = await stage.ask(bytes, 'Bearer agent', script)
      const reply = exchange.isReply ? readReply(exchange.answer) : null
      const received = exchange.received.at(-1) ?? null
      const came = breaksOf(
        sent.map(({ role, blocks }) => `{"role":"${role}","content":[${blocks.join(',')}]}`),
      )
      const broken = breaksOf(received?.rawMessages ?? [])
      if (reply !== null && step !== undefined) life.reply(reply.blocks)
      return {
        received: received && {
          ...received,
          rawItems: received.rawEntries,
          rawMessages: [...leading, ...reader.read(received.rawMessages)],
        },
        faults: {
          refused: exchange.received.filter(({ rejected }) => rejected !== null).length,
          errors: exchange.isReply ? 0 : 1,
          failedOpen: exchange.action.startsWith('failed-open') ? 1 : 0,
          broken: broken > came ? 1 : 0,
        },
      }
    },
    close: () => stage.close(),
  }
}

// --- internal ---

const ENDING = [{ type: 'text', text: 'Replayed.' }] as const

function breaksOf(rawMessages: readonly string[]): number {
  const messages = rawMessages.map((text): unknown => JSON.parse(text))
  return blockBreaks(messages, { allowsPrefill: true }).length
}
