import { isJsonObject, type JsonObject, stringOr } from '../../../json/json-value.ts'
import type { CallRules, Reply, ReplyStream, Seam, StreamEvent } from '../../answer-contract.ts'
import { messageFinish } from '../read-answer.ts'
import { createStreamedUsage, type StreamedUsage, sumUsage, totalUsage } from '../usage.ts'
import {
  type AnswerBlocks,
  createAnswerBlocks,
  type StreamBlock,
  wholeBlock,
  writtenArguments,
} from './answer-blocks.ts'
import { contentText, isTextBlock, isToolUse } from './blocks.ts'
import { type NewEvent, readTypedEvent } from '../../typed-events.ts'
import { blockStop, textDelta, writeMessageEvent } from './events.ts'
import { dropsCutToolUse, messageReply, shownStopReason } from './reply.ts'

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
    const read = readTypedEvent(event.text, (type) => type !== '')
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

/** An event on its way to the client. */
type EventEntry<Event> = {
  /** As it came. */
  readonly event: Event
  readonly type: string
  readonly json: JsonObject
}

/** What the client has got of a reply: one message, in which the places of the blocks follow each other without gaps. */
function createMessageClientStream<Event>() {
  let isChanged = false
  let hasEnded = false
  let nextIndex = 0
  /** Blocks whose end the client did not get, by its places. */
  const begun = new Set<number>()
  /** Those among them of answers before, … */
  let stale: readonly number[] = []
  /** … and of these the text that was cut. */
  let open: number | null = null

  function stopped(indexes: Iterable<number>): readonly string[] {
    return [...indexes].flatMap((index) => {
      begun.delete(index)
      return written(blockStop(index))
    })
  }

  /** The client sees the beginning of a block, unless it goes on in one that it knows. */
  function begin(block: StreamBlock, json: JsonObject): readonly string[] {
    if (open !== null && isTextBlock(block.begun)) {
      const goesOn = open
      block.shownIndex = goesOn
      const before = stopped(stale.filter((index) => index !== goesOn))
      stale = []
      open = null
      return before
    }
    const before = stopped(stale)
    stale = []
    open = null
    const index = place(block)
    return [...before, ...written({ type: 'content_block_start', index, content_block: json })]
  }

  function place(block: StreamBlock): number {
    const index = !isChanged && typeof block.index === 'number' ? block.index : nextIndex
    block.shownIndex = index
    nextIndex = index + 1
    begun.add(index)
    return index
  }

  return {
    /** An event of a block that is shown. */
    showBlock: ({ event, type, json }: EventEntry<Event>, block: StreamBlock) => {
      const isEnd = type === 'content_block_stop'
      if (!isChanged) {
        if (type === 'content_block_start') place(block)
        if (isEnd && block.shownIndex !== null) begun.delete(block.shownIndex)
        return [event]
      }
      if (type === 'content_block_start') return begin(block, block.begun)
      if (block.shownIndex === null && isEnd) return []
      const before = block.shownIndex === null ? begin(block, { ...block.begun, text: '' }) : []
      const { shownIndex: index } = block
      if (isEnd && index !== null) begun.delete(index)
      return [...before, ...written({ ...json, type, index })]
    },
    /** A text of a further answer. */
    showText: (block: StreamBlock, text: string) => {
      if (text === '') return []
      const before = block.shownIndex === null ? begin(block, { ...block.begun, text: '' }) : []
      block.joinedText.add(text)
      return [...before, ...(block.shownIndex === null ? [] : written(textDelta(block.shownIndex, text)))]
    },
    /** The event that states the end, for this reason and with this usage. */
    end: ({ event, json }: EventEntry<Event>, reason: unknown, usage: JsonObject | null) => {
      hasEnded = true
      if (!isChanged) return [event]
      const late = stopped(begun)
      const delta = isJsonObject(json['delta']) ? json['delta'] : {}
      const end = { ...json, type: 'message_delta', delta: { ...delta, stop_reason: reason } }
      return [...late, ...written(usage === null ? end : { ...end, usage })]
    },
    /** What comes is not what the client gets, from here on. */
    change: () => {
      isChanged = true
    },
    isChanged: () => isChanged,
    /** A further answer follows. The block, if there is one, is a text that was cut and may go on in it. */
    goOn: (block: StreamBlock | null) => {
      isChanged = true
      stale = [...begun]
      open = block?.shownIndex ?? open
    },
    /** The end of a reply that broke off, as of one that was cut. */
    cut: (usage: JsonObject | null) => {
      const end = {
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens', stop_sequence: null },
        ...(usage === null ? {} : { usage }),
      }
      return [...stopped(begun), ...(hasEnded ? [] : written(end)), ...written({ type: 'message_stop' })]
    },
  }
}

function written(event: NewEvent): readonly string[] {
  const text = writeMessageEvent(event)
  return text === null ? [] : [text]
}
