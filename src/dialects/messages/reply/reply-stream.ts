import { isJsonObject, stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules, Reply, ReplyStream, Seam, StreamEvent } from '../../answer-contract.ts'
import { messageFinish } from '../read-answer.ts'
import { createStreamedUsage, sumUsage, totalUsage, type StreamedUsage } from '../usage.ts'
import {
  createAnswerBlocks,
  wholeBlock,
  writtenArguments,
  type AnswerBlocks,
  type StreamBlock,
} from './answer-blocks.ts'
import { contentText, isTextBlock, isToolUse } from './blocks.ts'
import { createMessageClientStream, type EventEntry } from './client-stream.ts'
import { readMessageEvent } from './events.ts'
import { dropsCutToolUse, shownStopReason } from './joined-message.ts'
import { messageReply } from './reply.ts'

/**
 * Events go on as they come, but for those of blocks that the client does not get to see, and what would tell it that the reply
 * took several answers. They wait while nobody knows whether they are of a block that was cut, or of an end that is not the
 * reply's. An answer in which nothing has to change passes byte for byte.
 */
export function createMessageStream<Event extends StreamEvent>(rules: CallRules): ReplyStream<Event> {
  const client = createMessageClientStream<Event>()
  let isBeyondUs = false
  let usageBefore: JsonObject | null = null
  let answer = newAnswer<Event>(rules, null)
  /** A message has begun. */
  let hasBegun = false
  let hasStopped = false

  function take(event: Event): readonly (Event | string)[] {
    if (isBeyondUs) return [event]
    const read = readMessageEvent(event.text)
    switch (read.kind) {
      case 'other':
        return [event]
      case 'error':
        isBeyondUs = true
        return [...finish(), event]
      case 'done':
        return takeEnd({ event, type: DONE, json: {} })
      case 'event': {
        const shown = takeEvent({ event, ...read })
        if (!areTooMany()) return shown
        isBeyondUs = true
        return [...shown, ...finish()]
      }
    }
  }

  function areTooMany(): boolean {
    return answer.blocks.areTooMany() || answer.held.length > WAITING_MAX || answer.ends.length > ENDS_MAX
  }

  function takeEvent(entry: EventEntry<Event>): readonly (Event | string)[] {
    const { type, json, event } = entry
    switch (type) {
      case 'message_start':
        return takeStart(entry)
      case 'message_delta': {
        answer.usage.add(json['usage'])
        const reason = isJsonObject(json['delta']) ? json['delta']['stop_reason'] : undefined
        answer.stopReason = stringOr(reason, answer.stopReason)
        return takeEnd(entry)
      }
      case 'message_stop':
        return takeEnd(entry)
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        return takeBlock(entry)
      default:
        return [event]
    }
  }

  function takeStart({ event, json }: EventEntry<Event>): readonly (Event | string)[] {
    const { message } = json
    if (isJsonObject(message)) answer.usage.add(message['usage'])
    if (answer.seam !== null) return []
    hasBegun = true
    return [event]
  }

  function takeBlock(entry: EventEntry<Event>): readonly (Event | string)[] {
    const { type, json, event } = entry
    const block = answer.blocks.take(type, json)
    if (block === null) return client.isChanged() ? [] : [event]
    // What is followed by another block was not cut.
    const before = type === 'content_block_start' ? released() : []
    if (!block.isShown) client.change()
    else if (isHeld(type, block)) answer.held.push({ entry, block })
    else return [...before, ...shownOf(entry, block)]
    return before
  }

  /** Whether an event waits for what comes next: a call that was cut is not shown, and a text goes on in the next answer. */
  function isHeld(type: string, block: StreamBlock): boolean {
    if (!rules.continues || block !== answer.blocks.all().at(-1) || answer.stopReason !== null) return false
    return isToolUse(block.begun) || (type === 'content_block_stop' && isTextBlock(block.begun))
  }

  function shownOf(entry: EventEntry<Event>, block: StreamBlock): readonly (Event | string)[] {
    const { type, json } = entry
    const { seam } = answer
    if (seam === null || !isTextBlock(block.begun)) return client.showBlock(entry, block)
    switch (type) {
      case 'content_block_start':
        return client.showText(block, seam.feed(stringOr(block.begun['text'], '')))
      case 'content_block_stop':
        return [...client.showText(block, seam.end()), ...client.showBlock(entry, block)]
      default: {
        const delta = isJsonObject(json['delta']) ? json['delta'] : {}
        return typeof delta['text'] === 'string'
          ? client.showText(block, seam.feed(delta['text']))
          : client.showBlock(entry, block)
      }
    }
  }

  /** What was held of a block. */
  function released(): readonly (Event | string)[] {
    return answer.held.splice(0).flatMap(({ entry, block }) => shownOf(entry, block))
  }

  function takeEnd(entry: EventEntry<Event>): readonly (Event | string)[] {
    if (answer.ends.length > 0 || mayGoOn()) {
      answer.ends.push(entry)
      return []
    }
    return [...(answer.stopReason === null ? [] : released()), ...ended(entry, false)]
  }

  /** Whether what has ended may turn out not to be the end of the reply. */
  function mayGoOn(): boolean {
    return answer.blocks.counts().ours > 0 || (rules.continues && wasCut())
  }

  function wasCut(): boolean {
    return messageFinish(answer.stopReason) === 'length'
  }

  function ended(entry: EventEntry<Event>, drops: boolean): readonly (Event | string)[] {
    if (entry.type === 'message_stop') hasStopped = true
    if (entry.type !== 'message_delta') return [entry.event]
    const reason = shownStopReason(answer.blocks.counts(), answer.stopReason, drops)
    return client.end(entry, reason, usageBefore === null ? null : total())
  }

  function finish(): readonly (Event | string)[] {
    const last = answer.blocks.all().at(-1)
    const isCut = wasCut() && last !== undefined && last.isShown && isToolUse(last.begun)
    const drops = dropsCutToolUse(answer.blocks.counts(), isCut, rules)
    if (drops) {
      answer.held = []
      client.change()
    }
    return [...released(), ...answer.ends.splice(0).flatMap((entry) => ended(entry, drops))]
  }

  function total(): JsonObject | null {
    return sumUsage(usageBefore, answer.usage.value())
  }

  return {
    take,
    ended: () => {
      if (isBeyondUs) return { reply: null, shown: [] }
      const { seam, blocks } = answer
      const last = blocks.all().at(-1)
      const late =
        seam !== null && last !== undefined && isTextBlock(last.begun)
          ? client.showText(last, seam.end())
          : []
      return { reply: replyOf(answer), shown: late }
    },
    finish,
    cut: () => {
      if (!hasBegun) return null
      return hasStopped ? [] : client.cut(total())
    },
    goOn: (seam) => {
      const last = answer.blocks.all().at(-1)
      const isCut = rules.continues && wasCut()
      client.goOn(isCut && last !== undefined && isTextBlock(last.begun) ? last : null)
      usageBefore = total()
      answer = newAnswer<Event>(rules, seam)
    },
    usage: () => totalUsage(total()),
  }
}

// --- internal ---

const DONE = '[DONE]'

/** What waits is given at once when that is over. A call of more pieces than this is longer than a model's output. */
const WAITING_MAX = 32_768

/** A message ends in two events. */
const ENDS_MAX = 64

/** The answer that flows. */
type Answer<Event> = {
  /** Null in the first one. */
  readonly seam: Seam | null
  readonly blocks: AnswerBlocks
  /** What waits of the last block. */
  held: { readonly entry: EventEntry<Event>; readonly block: StreamBlock }[]
  /** What waits behind all blocks. */
  readonly ends: EventEntry<Event>[]
  stopReason: string | null
  /** As its events state it so far. */
  readonly usage: StreamedUsage
}

function newAnswer<Event>(rules: CallRules, seam: Seam | null): Answer<Event> {
  const blocks = createAnswerBlocks(rules, seam !== null)
  return { seam, blocks, held: [], ends: [], stopReason: null, usage: createStreamedUsage() }
}

function replyOf<Event>({ seam, blocks, stopReason, usage }: Answer<Event>): Reply {
  const all = blocks.all()
  const content = all.map(wholeBlock)
  const said =
    seam === null ? content : all.map(({ begun, joinedText }) => ({ ...begun, text: joinedText.joined() }))
  const places = new Map(content.map((json, at) => [json, all[at]]))
  return messageReply(content, stopReason, usage.value(), contentText(said), (call) => {
    const block = places.get(call)
    return block === undefined ? '{}' : writtenArguments(block)
  })
}
