import { itemBreaks } from '../../../support/responses/item-rules.ts'
import { chatOf, toolsOf } from '../../../support/responses/items.ts'
import { openLife, readReply } from '../../../support/responses/living.ts'
import { ruleBreaks } from '../../../support/strict-upstream/message-rules.ts'
import { parsedItem } from '../../replay/responses/read-item.ts'
import { openLivedStage } from '../../replay/responses/lived-stage.ts'
import { livedBody } from '../../replay/responses/lived-subject.ts'
import type { Recording } from '../../replay/recordings.ts'
import type { Room } from '../policy-sender.ts'
import type { Sender } from '../sender.ts'
import { openChatReader } from './chat-reader.ts'

type LivedSenderOptions = {
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
 * A Foldgate before a recording upstream of the Responses API, which is asked for one conversation as an agent lives it:
 * with the ids and the reasoning of the replies. What the upstream received is told as the chat that the recording is.
 */
export async function openLivedSender(options: LivedSenderOptions): Promise<Sender> {
  const { recording, profile, room, reasoningTokens, count } = options
  const messages = recording.messages.map(({ message }) => message)
  const isSound = ruleBreaks(messages, 'lenient').length === 0
  const stage = await openLivedStage({
    profile,
    windowTokens: room.windowTokens,
    statesUsage: true,
    // A recording that is broken itself has to get through as well; what is sent is compared with it below.
    rules: isSound ? 'enforced' : 'unchecked',
    count,
  })
  const { steps } = chatOf(messages, { system: 'developer', reasoningTokens })
  const tools = toolsOf(recording.tools === '' ? undefined : JSON.parse(recording.tools))
  const life = openLife({ steps })
  const reader = openChatReader()
  const items: string[] = []
  let asked = 0

  function itemsBefore(point: number): readonly string[] {
    for (const [offset, message] of recording.messages.slice(asked, point).entries()) {
      const sent = life.before(asked + offset + 1).slice(items.length)
      const texts = sent.map(({ text }) => text)
      reader.learn(message, texts)
      items.push(...texts)
    }
    asked = point
    return items
  }

  return {
    send: async (point) => {
      const outputTokens = room.reserveTokens
      const asking = { instructions: null, tools, items: itemsBefore(point), isStreamed: false, outputTokens }
      const { bytes } = livedBody(asking)
      const step = steps[point]
      const script = step?.kind === 'reply' ? step.script : ENDING
      const exchange = await stage.ask(bytes, 'Bearer agent', script)
      const reply = exchange.isReply ? readReply(exchange.answer) : null
      if (reply !== null && step !== undefined) life.reply(reply.items)
      const received = exchange.received.at(-1) ?? null
      const sent = received?.rawItems ?? []
      return {
        received: received && { ...received, rawMessages: reader.read(sent) },
        faults: {
          refused: exchange.received.filter(({ rejected }) => rejected !== null).length,
          errors: exchange.isReply ? 0 : 1,
          failedOpen: exchange.action.startsWith('failed-open') ? 1 : 0,
          broken: breaksOf(sent) > breaksOf(items) ? 1 : 0,
        },
      }
    },
    close: () => stage.close(),
  }
}

// --- internal ---

const ENDING = [{ type: 'message', text: 'Replayed.' }] as const

/** Of what stands in the items themselves; whether reasoning is there that an id demands, the upstream checks. */
function breaksOf(items: readonly string[]): number {
  return itemBreaks(items.map(parsedItem), new Map()).length
}
