import { isJsonObject, type JsonObject, stringOr } from '../../../json/json-value.ts'
import type { CallRules, ReplyStream, Seam, StreamEvent } from '../../answer-contract.ts'
import { addUsage } from '../../usage-sum.ts'
import { responseFinish, responseUsage } from '../read-answer.ts'
import {
  createClientStream,
  type Entry,
  grownItem,
  isClosing,
  partIndexOf,
  partTexts,
  seamedParts,
  type StreamItem,
} from './client-stream.ts'
import { type NewEvent, readTypedEvent } from '../../typed-events.ts'
import { isEnding, itemEvents, statusOf } from './events.ts'
import { createItemGate, dropsCutCall, hasWholeArguments, isFunctionCall, responseReply } from './reply.ts'
import { isMessage, outputText } from './output.ts'

/**
 * Events go on as they come, but for those of items that the client does not get to see, and what would tell it that the reply
 * took several answers. They wait, in their order, while nobody knows whether they are of such an item, or of an end that is
 * not the reply's. An answer in which nothing has to change passes byte for byte.
 */
export function createResponseStream<Event extends StreamEvent>(rules: CallRules): ReplyStream<Event> {
  const client = createClientStream<Event>()
  let isBeyondUs = false
  let usageBefore: JsonObject | null = null
  let answer = newAnswer<Event>(rules, null)
  /** The server ends its streams in `[DONE]`. */
  let saysDone = false
  let hasDone = false

  function take(event: Event): readonly (Event | string)[] {
    if (isBeyondUs) return [event]
    const read = readTypedEvent(event.text, (type) => type.startsWith('response.'))
    switch (read.kind) {
      case 'other':
        return [event]
      case 'error':
        isBeyondUs = true
        return [...finish(), event]
      case 'done':
        saysDone = true
        answer.queue.push({ event, name: '', type: DONE, json: {}, item: null })
        return drained()
      case 'event': {
        const shown = takeEvent({ event, ...read, item: null })
        if (!answer.items.areTooMany() && answer.queue.length <= WAITING_MAX) return shown
        isBeyondUs = true
        return [...shown, ...finish()]
      }
    }
  }

  function takeEvent(entry: Entry<Event>): readonly (Event | string)[] {
    const { type, json } = entry
    if (isJsonObject(json['response'])) takeResponse(entry, json['response'])
    else {
      const known = answer.items.all().length
      const item = answer.items.take(type, json)
      if (item === null) return signOfLife(entry)
      takeItem({ ...entry, item }, answer.items.all().length > known)
    }
    return drained()
  }

  /** An event that is about nothing in the response does not wait: later it is worth nothing. */
  function signOfLife(entry: Entry<Event>): readonly (Event | string)[] {
    if (answer.queue.length > 0) client.change()
    return client.show(entry)
  }

  function takeItem(entry: Entry<Event> & { readonly item: StreamItem }, isNew: boolean): void {
    const { type, json, name, item } = entry
    const { queue, seam } = answer
    if (seam === null) {
      queue.push(entry)
      return
    }
    // One that is only there when it is whole is written like any other.
    const events = isNew && item.isDone ? itemEvents(item.json, 0) : [{ ...json, type }]
    for (const each of events.flatMap((one) => joinedEvents(item, one, seam)))
      queue.push({ event: null, name: name === '' ? '' : each.type, type: each.type, json: each, item })
  }

  function takeResponse(entry: Entry<Event>, response: JsonObject): void {
    const { type, json } = entry
    if (!isEnding(type)) {
      // That a response begins has been said.
      if (answer.seam === null) answer.queue.push(entry)
      return
    }
    const stated = { ...response, status: statusOf(type, response) }
    answer.response = stated
    answer.queue.push({ ...entry, json: { ...json, response: stated } })
    if (!mayGoOn()) settle()
  }

  /** Whether what has ended may turn out not to be the end of the reply. */
  function mayGoOn(): boolean {
    const reason = responseFinish(answer.response, false)
    return reason !== 'error' && (answer.items.hasOurs() || (rules.continues && reason === 'length'))
  }

  /** Whether the answer has ended, and was not cut. */
  function isWhole(): boolean {
    const reason = responseFinish(answer.response, false)
    return reason !== null && reason !== 'length'
  }

  /** The reply ends with this answer: nothing waits any more. */
  function settle(): void {
    answer.isOver = true
    answer.items.end()
  }

  /** Whether an event has to wait, and all behind it. */
  function isHeld({ item, type }: Entry<Event>, at: number): boolean {
    const { queue, items, isOver } = answer
    if (isOver) return false
    if (item === null) return (type === DONE || isEnding(type)) && mayGoOn()
    if (item.fate !== 'shown') return item.fate === 'waiting'
    if (!rules.continues || item !== items.all().at(-1) || isWhole()) return false
    // A call that was cut is not shown, and what was followed by another was not cut.
    if (isFunctionCall(item.json)) return !item.isDone || !hasWholeArguments(item.json)
    // A message that was cut goes on in the next answer.
    if (!isClosing(type) || !isMessage(item.json) || item.isLoose) return false
    if (queue.length - at > ENDS_MAX) return false
    return queue.every((each, index) => index < at || each.item === null || isClosing(each.type))
  }

  function revealed(entry: Entry<Event>): readonly (Event | string)[] {
    const { event, type, item } = entry
    if (item?.fate === 'hidden') {
      client.change()
      return []
    }
    if (type === DONE) {
      hasDone = true
      return event === null ? [] : [event]
    }
    return isEnding(type) ? client.end(entry, { usageBefore, drops: answer.drops }) : client.show(entry)
  }

  function drained(): readonly (Event | string)[] {
    const { queue } = answer
    const held = queue.findIndex(isHeld)
    const shown: (Event | string)[] = []
    for (const entry of queue.splice(0, held === -1 ? queue.length : held)) shown.push(...revealed(entry))
    return shown
  }

  function finish(): readonly (Event | string)[] {
    const items = answer.items.all()
    settle()
    answer.drops = dropsCutCall(
      items.map(({ json }) => json),
      answer.response,
      rules,
    )
    const last = items.at(-1)
    if (answer.drops && last !== undefined) last.fate = 'hidden'
    return drained()
  }

  function usage(): JsonObject | null {
    const { usage: stated } = answer.response
    return isJsonObject(stated) ? addUsage(usageBefore, stated) : usageBefore
  }

  return {
    take,
    ended: () => {
      const { items, response, seam, queue } = answer
      if (isBeyondUs || responseFinish(response, false) === 'error') return { reply: null, shown: [] }
      const all = items.all()
      const last = all.at(-1)
      if (seam !== null && last !== undefined && !last.isDone) {
        for (const json of lateEvents(last, seam))
          queue.push({ event: null, name: client.nameOf(json.type), type: json.type, json, item: last })
      }
      const shown = drained()
      const text = outputText(all.map((item) => ({ ...item.json, content: seamedParts(item, item.json) })))
      const reply = responseReply(
        all.map(({ json }) => json),
        response,
        text,
      )
      return { reply, shown }
    },
    finish,
    cut: () => {
      if (hasDone) return []
      const events = client.hasEnded() ? [] : client.cut(usage())
      return events === null ? null : [...events, ...(saysDone ? ['data: [DONE]\n\n'] : [])]
    },
    goOn: (seam) => {
      const last = answer.items.all().at(-1)
      client.goOn(last?.fate === 'shown' ? last : null)
      usageBefore = usage()
      answer = newAnswer<Event>(rules, seam)
    },
    usage: () => responseUsage(usage()),
  }
}

// --- internal ---

const DONE = '[DONE]'

/** What waits is given at once when that is over. Thoughts of more pieces than this are longer than a model's output. */
const WAITING_MAX = 32_768

/** A message ends in three events, and whoever repeats them does not have them held. */
const ENDS_MAX = 64

/** The answer that flows. */
type Answer<Event> = {
  /** Null in the first one. */
  readonly seam: Seam | null
  readonly items: AnswerItems
  /** What waits, in its order. */
  readonly queue: Entry<Event>[]
  /** As its last event states it; empty until then. */
  response: JsonObject
  isOver: boolean
  /** Calls that were cut are left out. */
  drops: boolean
}

function newAnswer<Event>(rules: CallRules, seam: Seam | null): Answer<Event> {
  const items = createAnswerItems(rules, seam !== null)
  return { seam, items, queue: [], response: {}, isOver: false, drops: false }
}

/** The items of the answer that flows, as its events tell of them. */
type AnswerItems = ReturnType<typeof createAnswerItems>

function createAnswerItems(rules: CallRules, isFurther: boolean) {
  const gate = createItemGate(rules, isFurther)
  const items: StreamItem[] = []
  let hasLongItem = false

  /**
   * Items are told apart by their ids. Some servers give an event another one, or none, but the right place. llama.cpp gave
   * a call neither in its first months, and named it by its `call_id`.
   */
  function itemOf(event: JsonObject): StreamItem | undefined {
    const { item, item_id: itemId, output_index: index } = event
    const stated = isJsonObject(item) ? item : {}
    const id = stringOr(itemId ?? stated['id'], '')
    const callId = stringOr(itemId ?? stated['call_id'], '')
    const begun = items.filter(({ isDone }) => !isDone)
    return (
      begun.findLast(({ json }) => id !== '' && json['id'] === id) ??
      begun.findLast((each) => typeof index === 'number' && each.index === index) ??
      begun.findLast(({ json }) => callId !== '' && json['call_id'] === callId)
    )
  }

  function add(json: JsonObject, index: unknown, isLoose: boolean): StreamItem {
    const item: StreamItem = {
      json,
      index,
      fate: 'waiting',
      isForeign: false,
      isDone: false,
      isLoose,
      fedTexts: [],
      joinedTexts: [],
      shown: null,
    }
    items.push(item)
    gate.take(item)
    hasLongItem ||= isLong(item)
    return item
  }

  function grown(item: StreamItem, type: string, event: JsonObject): StreamItem {
    grow(item, type, event)
    hasLongItem ||= isLong(item)
    return item
  }

  return {
    /** Takes an event; the item that it is about, null if it is about none. */
    take: (type: string, event: JsonObject) => {
      const { item: json, output_index: index } = event
      if (type === 'response.output_item.added' && isJsonObject(json)) return add(json, index, false)
      const known = itemOf(event)
      if (known !== undefined) return grown(known, type, event)
      return isJsonObject(json) ? grown(add(json, index, true), type, event) : null
    },
    all: () => items,
    hasOurs: gate.hasOurs,
    /** Whether there are so many items, or parts of one, that each further event would take long. */
    areTooMany: () => hasLongItem || items.length > ITEMS_MAX,
    /** No more items come: what waited for one is decided on. */
    end: gate.end,
  }
}

/** No model makes more items in one answer; an event is looked for in all of them. */
const ITEMS_MAX = 1_024

/** Nor parts of a message, which are copied by every event that writes one. */
const PARTS_MAX = 1_024

function isLong({ json: { content } }: StreamItem): boolean {
  return Array.isArray(content) && content.length > PARTS_MAX
}

function grow(item: StreamItem, type: string, event: JsonObject): void {
  const before = item.json
  item.json = grownItem(before, type, event)
  item.isDone = type === 'response.output_item.done'
  if (isClosing(type) && isMessage(item.json)) {
    const [known, stated] = [partTexts(before), partTexts(item.json)]
    item.isLoose ||= known.length !== stated.length || known.some((text, at) => text !== stated[at])
  }
}

/** An event of a further answer with its text as the seam joins it; what the seam still held goes before the end of a part. */
function joinedEvents(item: StreamItem, event: NewEvent, seam: Seam): readonly NewEvent[] {
  if (!isMessage(item.json)) return [event]
  const partIndex = partIndexOf(event)
  if (event.type === 'response.output_text.delta') {
    const delta = fed(item, partIndex, stringOr(event['delta'], ''), seam)
    return delta === '' ? [] : [{ ...event, delta }]
  }
  if (!isClosing(event.type)) return [event]
  const isWhole = event.type === 'response.output_item.done'
  const late = partTexts(item.json).flatMap((text, at) =>
    isWhole || at === partIndex ? lateDelta(item, at, text, seam) : [],
  )
  return [...late, event]
}

/** What the seam still held of a message that was not brought to its end. */
function lateEvents(item: StreamItem, seam: Seam): readonly NewEvent[] {
  if (!isMessage(item.json)) return []
  const at = partTexts(item.json).length - 1
  return at < 0 ? [] : lateDelta(item, at, item.fedTexts[at] ?? '', seam)
}

function fed({ fedTexts, joinedTexts }: StreamItem, at: number, text: string, seam: Seam): string {
  const joined = seam.feed(text)
  fedTexts[at] = (fedTexts[at] ?? '') + text
  joinedTexts[at] = (joinedTexts[at] ?? '') + joined
  return joined
}

/** What is missing of a part's text: some servers state it only at its end. */
function lateDelta(item: StreamItem, at: number, text: string, seam: Seam): readonly NewEvent[] {
  const known = item.fedTexts[at] ?? ''
  const missing = text.startsWith(known) ? fed(item, at, text.slice(known.length), seam) : ''
  const held = text === '' ? '' : seam.end()
  item.joinedTexts[at] = (item.joinedTexts[at] ?? '') + held
  const delta = missing + held
  if (delta === '') return []
  const place: JsonObject = { item_id: item.json['id'], output_index: item.index, content_index: at }
  return [{ type: 'response.output_text.delta', ...place, delta, logprobs: [] }]
}
