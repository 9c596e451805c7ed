import { isJsonObject, type JsonObject } from '../../../conversation/json-value.ts'
import { blockStop, textDelta } from './block-events.ts'
import { isTextBlock } from './blocks.ts'
import type { StreamBlock } from './answer-blocks.ts'
import { writeMessageEvent, type NewMessageEvent } from './events.ts'

/** An event on its way to the client. */
export type EventEntry<Event> = {
  /** As it came. */
  readonly event: Event
  readonly type: string
  readonly json: JsonObject
}

/** What the client has got of a reply: one message, in which the places of the blocks follow each other without gaps. */
export type MessageClientStream<Event> = {
  /** An event of a block that is shown. */
  readonly showBlock: (entry: EventEntry<Event>, block: StreamBlock) => readonly (Event | string)[]
  /** A text of a further answer. */
  readonly showText: (block: StreamBlock, text: string) => readonly string[]
  /** The event that states the end, for this reason and with this usage. */
  readonly end: (
    entry: EventEntry<Event>,
    reason: unknown,
    usage: JsonObject | null,
  ) => readonly (Event | string)[]
  /** What comes is not what the client gets, from here on. */
  readonly change: () => void
  readonly isChanged: () => boolean
  /** A further answer follows. The block, if there is one, is a text that was cut and may go on in it. */
  readonly goOn: (block: StreamBlock | null) => void
  /** The end of a reply that broke off, as of one that was cut. */
  readonly cut: (usage: JsonObject | null) => readonly string[]
}

export function createMessageClientStream<Event>(): MessageClientStream<Event> {
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
    showBlock: ({ event, type, json }, block) => {
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
    showText: (block, text) => {
      if (text === '') return []
      const before = block.shownIndex === null ? begin(block, { ...block.begun, text: '' }) : []
      block.joinedText.add(text)
      return [...before, ...(block.shownIndex === null ? [] : written(textDelta(block.shownIndex, text)))]
    },
    end: ({ event, json }, reason, usage) => {
      hasEnded = true
      if (!isChanged) return [event]
      const late = stopped(begun)
      const delta = isJsonObject(json['delta']) ? json['delta'] : {}
      const end = { ...json, type: 'message_delta', delta: { ...delta, stop_reason: reason } }
      return [...late, ...written(usage === null ? end : { ...end, usage })]
    },
    change: () => {
      isChanged = true
    },
    isChanged: () => isChanged,
    goOn: (block) => {
      isChanged = true
      stale = [...begun]
      open = block?.shownIndex ?? open
    },
    cut: (usage) => {
      const end = {
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens', stop_sequence: null },
        ...(usage === null ? {} : { usage }),
      }
      return [...stopped(begun), ...(hasEnded ? [] : written(end)), ...written({ type: 'message_stop' })]
    },
  }
}

// --- internal ---

function written(event: NewMessageEvent): readonly string[] {
  const text = writeMessageEvent(event)
  return text === null ? [] : [text]
}
