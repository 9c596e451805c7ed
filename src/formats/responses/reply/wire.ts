import {
  isJsonObject,
  type JsonObject,
  objectsOf,
  parseJsonText,
  stringOr,
} from '../../../json/json-value.ts'
import type {
  AnswerReader,
  SeenPart,
  ClientWriter,
  Ending,
  Move,
  Part,
  AnswerParts,
  AnswerWire,
} from '../../reply-wire.ts'
import { type NewEvent, readTypedEvent, type TypedEvent, writeEvent } from '../../typed-events.ts'
import { callIdOf, readCall } from '../item-kinds.ts'
import { isCall, readResponse, responseFinish, responseUsage } from '../read-answer.ts'
import { isEnding, itemDone, itemEvents, partBegun, partEnd, statusOf } from './events.ts'
import { createItemReader } from './item-reader.ts'
import {
  isMessage,
  joinedMessage,
  messageParts,
  outputText,
  partTexts,
  shownPartIndex,
  withTexts,
} from './output.ts'

/** A response: its parts are the items of its output. Numbers and places follow each other without gaps. */
export const responseAnswerWire: AnswerWire = {
  readEvent: (text) => readTypedEvent(text, (type) => type.startsWith('response.')),
  openReader: createReader,
  openWriter: createWriter,
  textsOf: partTexts,
  withTexts,
  joined: joinedMessage,
  textOf: outputText,
  call: ({ json }) => {
    const { name, argumentsText } = readCall(json) ?? { name: '', argumentsText: '' }
    return { id: callIdOf(json), name, argumentsText }
  },
  isCutCall: (item) => isFunctionCall(item) && !hasWholeArguments(item),
  // The items as they came, for the answers to calls: they go back so, calls included, since they belong together.
  kept: (items, response) => ({ items, isStored: response['store'] === true }),
  hasRefusal: (items) =>
    items.some((item) => isMessage(item) && messageParts(item).some((part) => part['type'] === 'refusal')),
  usageOf: responseUsage,
  reasons: { calls: 'completed', end: null },
  statedAtEnd: (isCut) => ({ status: isCut ? 'incomplete' : 'completed' }),
  thoughtsWait: true,
  isNumbered: true,
}

/** Whether a call's arguments are whole. Of a tool with free text nobody can say. */
export function hasWholeArguments(call: JsonObject): boolean {
  return isJsonObject(parseJsonText(stringOr(call['arguments'], '')))
}

// --- internal ---

function createReader(parts: AnswerParts, toolName: string | null): AnswerReader {
  /** As the last event states it; empty until then. */
  let response: JsonObject = {}
  const items = createItemReader(parts, add)

  function add(item: JsonObject, index?: unknown): Part {
    const isFunction = isFunctionCall(item)
    const kind = isMessage(item)
      ? 'text'
      : item['type'] === 'reasoning'
        ? 'thought'
        : isCall(item)
          ? 'call'
          : 'other'
    const part = parts.add(kind, item, { index, isOurs: isFunction && item['name'] === toolName })
    part.isWhole = !isFunction
    return part
  }

  function take({ type, json }: TypedEvent): readonly Move[] {
    const { response: stated } = json
    if (!isJsonObject(stated)) {
      const moves = items.take(type, { ...json, type })
      const part = moves[0]?.part ?? null
      if (type === 'response.output_item.done' && part !== null) part.isWhole ||= hasWholeArguments(part.json)
      return moves
    }
    if (!isEnding(type)) return [{ kind: 'once', json }]
    response = { ...stated, status: statusOf(type, stated) }
    return [{ kind: 'end', says: 'reason', json: { ...json, type, response } }]
  }

  return {
    take,
    takePlain: (body) => {
      const isReply = Array.isArray(body['output']) && body['object'] !== 'response.compaction'
      if (!isReply || readResponse(body)?.isError !== false) return false
      for (const item of objectsOf(body['output'])) add(item)
      response = body
      return true
    },
    finish: () =>
      responseFinish(
        response,
        parts.all.some(({ kind }) => kind === 'call'),
      ),
    usage: () => (isJsonObject(response['usage']) ? response['usage'] : null),
    about: () => response,
  }
}

function createWriter(): ClientWriter {
  const ownId = createOwnIds()
  /** How many parts of a message the client saw begin. */
  const begunParts = new Map<SeenPart, number>()
  /** What the server says of the response: first, and last. */
  let first: JsonObject | null = null
  let latest: JsonObject = {}
  /** The number of the last event; null if they have none. */
  let number: number | null = null
  let isNamed = false
  let saysDone = false

  function written(json: JsonObject & { readonly type: string }): readonly string[] {
    if (number !== null) number += 1
    return [
      writeEvent(isNamed ? json.type : '', number === null ? json : { ...json, sequence_number: number }),
    ]
  }

  /** The beginning of a part of a message, and the end of the one before it. */
  function begunPart(one: SeenPart, at: number, part: JsonObject): readonly string[] {
    const begun = begunParts.get(one) ?? 0
    if (at < begun) return []
    begunParts.set(one, at + 1)
    const before = begun > 0 ? messageParts(seenMessage(one))[begun - 1] : undefined
    const ended = before === undefined ? [] : partEnd(before, placeOf(one, begun - 1))
    return [...ended, partBegun(part, placeOf(one, at))].flatMap(written)
  }

  function joinedResponse({ about, reason, usage, parts }: Ending): JsonObject {
    const output = parts()
    return {
      ...about,
      ...identityOf(first ?? {}),
      ...(reason === null ? {} : { status: reason, incomplete_details: null }),
      output,
      // OpenAI's own libraries add it, and some servers do.
      ...('output_text' in about ? { output_text: outputText(output, '') } : {}),
      ...(usage === null ? {} : { usage }),
    }
  }

  return {
    note: ({ name, type, json }) => {
      isNamed ||= name !== ''
      saysDone ||= type === '[DONE]'
      const response = isJsonObject(json['response']) ? json['response'] : 'output' in json ? json : null
      if (response === null) return
      first ??= response
      latest = response
    },
    passed: ({ sequence_number: stated }, one) => {
      if (typeof stated === 'number') number = stated
      if (one?.part?.kind === 'text') begunParts.set(one, messageParts(one.part.json).length)
    },
    idOf: (part) => (part.isForeign ? ownId(first ?? {}, part.json) : part.json['id']),
    begin: ({ id, place, part }, move) => {
      const item = named(part?.begun ?? {}, id)
      // One that is only there when it is whole is written like any other.
      const isWhole = move.json['type'] === 'response.output_item.done'
      if (isWhole && !isMessage(item)) return itemEvents(item, place).slice(0, -1).flatMap(written)
      const begun = isMessage(item) ? { ...item, status: 'in_progress', content: [] } : item
      return written({ type: 'response.output_item.added', output_index: place, item: begun })
    },
    text: (one, { at: partAt, text, json }) => {
      if (text === '') return []
      const at = shownPartIndex(one, partAt)
      const type = 'response.output_text.delta'
      const part = messageParts(one.part?.json ?? {})[partAt] ?? { type: 'output_text', annotations: [] }
      const stated = json['type'] === type ? json : { logprobs: [] }
      return [...begunPart(one, at, part), ...written({ ...stated, ...placeOf(one, at), type, delta: text })]
    },
    more: (one, { json }) => {
      const { part, type, content_index: partAt } = json
      const event: NewEvent = { ...json, type: stringOr(type, '') }
      if (typeof partAt !== 'number') return written(placed(event, placeOf(one)))
      const at = shownPartIndex(one, partAt)
      return isJsonObject(part) ? begunPart(one, at, part) : written(placed(event, placeOf(one, at)))
    },
    close: (one, json, move) => {
      // The ends of its parts are written when the next one begins, or with its own.
      if (move?.isAll === false) return []
      const parts = isMessage(json) ? messageParts(json) : []
      const last = parts.at(-1)
      const ended =
        last === undefined
          ? []
          : [
              ...begunPart(one, parts.length - 1, last),
              ...partEnd(last, placeOf(one, parts.length - 1)).flatMap(written),
            ]
      return [...ended, ...written(itemDone(json, one.place))]
    },
    end: ({ says, json }, ending) => {
      if (says !== 'reason') return null
      const type = ending.reason === null ? stringOr(json['type'], '') : `response.${ending.reason}`
      return written({ ...json, type, response: joinedResponse(ending) })
    },
    cut: (ending, hasEnded) => {
      const status = 'incomplete'
      const about = { ...latest, status, incomplete_details: { reason: 'max_output_tokens' }, usage: null }
      const response = joinedResponse({ ...ending, about, reason: null })
      return [
        ...(hasEnded ? [] : written({ type: 'response.incomplete', response })),
        ...(saysDone ? ['data: [DONE]\n\n'] : []),
      ]
    },
    aside: ({ type, json }) => written({ ...json, type }),
    body: joinedResponse,
  }
}

function isFunctionCall(item: JsonObject): boolean {
  return item['type'] === 'function_call'
}

/** Whose response it is: that of the first answer. */
function identityOf(response: JsonObject): JsonObject {
  return Object.fromEntries(
    ['id', 'created_at'].flatMap((key) => (key in response ? [[key, response[key]]] : [])),
  )
}

function named(item: JsonObject, id: unknown): JsonObject {
  return id === undefined ? item : { ...item, id }
}

function placeOf({ id, place }: SeenPart, at?: number): JsonObject {
  return {
    ...(id === undefined ? {} : { item_id: id }),
    output_index: place,
    ...(at === undefined ? {} : { content_index: at }),
  }
}

/** An event of an item at the place where the client sees the item: what it states of that. */
function placed(event: NewEvent, place: JsonObject): NewEvent {
  return { ...event, ...Object.fromEntries(Object.entries(place).filter(([key]) => key in event)) }
}

/** A message with what the client saw of it, as far as that is stated by now. */
function seenMessage({ before, part }: SeenPart): JsonObject {
  if (part === null) return before ?? {}
  const texts = withTexts(
    part.json,
    part.texts.map(({ shown }) => shown),
  )
  return before === null ? texts : joinedMessage(before, texts)
}

/**
 * Ids for items that a client shall send back without the thoughts that led to them: an item under the id that the server
 * gave demands these. They are made of the response's id and a number, so that no two items of a conversation share one, and
 * begin as servers demand it, `msg_` for a message.
 */
function createOwnIds(): (response: JsonObject, item: JsonObject) => string {
  let made = 0
  return (response, item) => {
    const id = stringOr(item['id'], '')
    const kind = /^[a-z]+(?=_)/.exec(id)?.[0] ?? (isMessage(item) ? 'msg' : 'fc')
    const origin = stringOr(response['id'], '')
      .replace(/^resp_/, '')
      .replaceAll(/[^\w-]/g, '')
      .slice(-ORIGIN_CHARACTERS)
    made += 1
    return `${kind}_${origin}_${made}`
  }
}

/** OpenAI takes ids of at most 64 characters. Gateways write much into a response's id, and what tells it apart to its end. */
const ORIGIN_CHARACTERS = 40
