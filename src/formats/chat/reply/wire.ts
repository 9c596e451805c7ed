import { isJsonObject, isPresent, type JsonObject, objectsOf, stringOr } from '../../../json/json-value.ts'
import type { Finish } from '../../answer-contract.ts'
import type { AnswerParts, AnswerReader, AnswerWire, ClientWriter, Move, Part } from '../../reply-wire.ts'
import { readEventText, type TypedEvent, writeEvent } from '../../typed-events.ts'
import { addUsage } from '../../usage-sum.ts'
import { finishOf } from '../../answer-json.ts'
import { readAnswer, readUsage } from '../answers.ts'
import { addedFields, thoughtFields } from '../thoughts.ts'
import { addDelta, type Growing, mergedDelta } from './merged-delta.ts'
import { createCallReader, isIncompleteCall, nameIn } from './streamed-calls.ts'

/** A chat completion: one message, which is a text with all that stands beside it, and calls. */
export const chatAnswerWire: AnswerWire = {
  readEvent,
  openReader: createReader,
  openWriter: createWriter,
  textsOf: ({ message }) => [stringOr(fieldsOf(message)['content'], '')],
  withTexts: (json, [text]) => {
    const message = fieldsOf(json['message'])
    return typeof message['content'] === 'string' ? { ...json, message: { ...message, content: text } } : json
  },
  joined: ({ message: before, ...rest }, { message, ...next }) => {
    const { content, ...added } = addedFields(fieldsOf(message))
    const [said, others] = [fieldsOf(before), mergedDelta(fieldsOf(before), added)]
    return {
      ...mergedDelta(rest, next),
      message: { ...others, content: joinedContent(said['content'], content) },
    }
  },
  textOf: ([part]) => {
    const { content } = fieldsOf(part?.['message'])
    return typeof content === 'string' ? content : isPresent(content) ? null : ''
  },
  call: ({ json }) => {
    const called = fieldsOf(json['function'])
    const given = called['arguments'] ?? ''
    return {
      id: stringOr(json['id'], ''),
      name: stringOr(called['name'], ''),
      argumentsText: typeof given === 'string' ? given : JSON.stringify(given),
    }
  },
  isCutCall: isIncompleteCall,
  kept: ([part]) =>
    Object.fromEntries(
      Object.entries(fieldsOf(part?.['message'])).filter(
        ([key, value]) => wantedBack.has(key) && isPresent(value),
      ),
    ),
  hasRefusal: ([part]) => isPresent(fieldsOf(part?.['message'])['refusal']),
  usageOf: (usage) => readUsage({ usage }),
  reasons: { calls: 'tool_calls', end: 'stop' },
  isOneText: true,
}

/**
 * The events that say what a plain answer says: one chunk with the message of each choice, one with its reason to end, the usage
 * where it is stated.
 */
export function chatEvents({ choices, usage, ...about }: JsonObject): readonly string[] {
  const answered = objectsOf(choices)
  const chunk = (more: JsonObject): string =>
    writeEvent('', { ...about, object: 'chat.completion.chunk', ...more })
  return [
    ...answered.map((choice) => chunk({ choices: [messageOf(choice)] })),
    ...answered.map(({ index, finish_reason: reason }) =>
      chunk({ choices: [{ index, delta: {}, finish_reason: reason ?? null }] }),
    ),
    ...(isJsonObject(usage) ? [chunk({ choices: [], usage })] : []),
    'data: [DONE]\n\n',
  ]
}

// --- internal ---

/** Gemini refuses a call without its signature. Whatever else a server adds to its answers others may refuse. */
const wantedBack: ReadonlySet<string> = new Set([
  'extra_content',
  ...thoughtFields.flatMap(({ name, isWantedBack }) => (isWantedBack ? [name] : [])),
])

/** Of several choices none is the reply. */
function readEvent(event: string): ReturnType<AnswerWire['readEvent']> {
  const read = readEventText(event)
  if (read.kind !== 'data') return read
  const { json } = read
  if (!isJsonObject(json)) return { kind: 'other' }
  const choices: readonly unknown[] = Array.isArray(json['choices']) ? json['choices'] : []
  const isOneOfSeveral = choices.length > 1 || (choiceIn(json)?.['index'] ?? 0) !== 0
  if (isOneOfSeveral || readAnswer(json)?.isError !== false) return { kind: 'error' }
  return { kind: 'event', name: '', type: '', json }
}

function createReader(parts: AnswerParts, toolName: string | null): AnswerReader {
  const calls = createCallReader(parts, toolName)
  const message: Growing = {}
  let text: Part | null = null
  let finish: Finish | null = null
  let usage: JsonObject | null = null
  let about: JsonObject = {}

  function take({ json }: TypedEvent): readonly Move[] {
    const choice = choiceIn(json)
    if (isJsonObject(json['usage'])) usage = json['usage']
    if (choice === null) {
      // What Azure sends first says nothing of the reply.
      return isJsonObject(json['usage']) || finish !== null
        ? [{ kind: 'end', says: 'more', json }]
        : [{ kind: 'once', json }]
    }
    const delta = fieldsOf(choice['delta'])
    const { content, tool_calls: deltas } = delta
    addDelta(message, delta)
    const moves: Move[] = []
    if (text === null) {
      text = parts.add('text', { message }, {})
      moves.push({ kind: 'begin', part: text, json })
    }
    moves.push({ kind: 'text', part: text, at: 0, text: stringOr(content, ''), json })
    moves.push(...calls.take(objectsOf(deltas), json))
    const reason = reasonIn(choice)
    if (reason === null) return moves
    finish = finishOf(reason)
    return [...moves, { kind: 'end', says: 'reason', json }]
  }

  return {
    take,
    takePlain: (body) => {
      const choice = choiceIn(body)
      if (choice === null || !isJsonObject(choice['message']) || !isOnly(body['choices'])) return false
      const { tool_calls: made, ...said } = choice['message']
      const { logprobs } = choice
      parts.add('text', { message: said, ...(isJsonObject(logprobs) ? { logprobs } : {}) }, {})
      for (const json of objectsOf(made))
        parts.add('call', json, { isOurs: toolName !== null && nameIn(json) === toolName })
      finish = finishOf(choice['finish_reason'])
      usage = isJsonObject(body['usage']) ? body['usage'] : null
      about = body
      return true
    },
    finish: () => finish,
    usage: () => usage,
    about: () => about,
  }
}

function createWriter(): ClientWriter {
  /** What the first answer said of itself. */
  let identity: JsonObject | null = null
  let isFirst = true
  let usageBefore: JsonObject | null = null
  /** Whether the answer that flows has stated a usage. */
  let hasUsage = false
  /** The latest chunk with a choice: what is said later is written like it. */
  let latest: JsonObject = {}

  /** A chunk with another delta, with the first answer's identity, and with the usage of all answers. */
  function written(chunk: JsonObject, delta: JsonObject | null, reason: unknown): readonly string[] {
    const { usage } = chunk
    const choice = choiceIn(chunk)
    hasUsage ||= isJsonObject(usage)
    const stated = {
      ...chunk,
      ...identity,
      ...(isJsonObject(usage) ? { usage: addUsage(usageBefore, usage) } : {}),
      ...(choice === null ? {} : { choices: [{ ...choice, delta, finish_reason: reason }] }),
    }
    return [writeEvent('', stated)]
  }

  /** What a chunk like this one says, but for its end, which is stated by another. */
  function said(chunk: JsonObject, delta: JsonObject): readonly string[] {
    if (Object.keys(delta).length === 0) return []
    const { usage: _usage, ...rest } = chunk
    return written(reasonIn(choiceIn(chunk) ?? {}) === null ? chunk : rest, delta, null)
  }

  /** A further answer begins no new message. */
  function fieldsBeside(chunk: JsonObject): JsonObject {
    const { tool_calls: _calls, ...delta } = fieldsOf(choiceIn(chunk)?.['delta'])
    const fields = Object.entries(isFirst ? delta : addedFields(delta)).filter(
      ([key, value]) => key !== 'content' || (value !== null && typeof value !== 'string'),
    )
    const isTelling = ([key, value]: [string, unknown]): boolean =>
      isFirst || (key !== 'role' && value !== null && value !== '')
    return Object.fromEntries(fields.filter(isTelling))
  }

  function call(
    part: Part,
    place: number,
    move: Move & { readonly kind: 'begin' | 'more' },
  ): readonly string[] {
    return said(move.json, { tool_calls: [{ ...(move.piece ?? part.json), index: place - 1 }] })
  }

  return {
    note: ({ json }) => {
      if (choiceIn(json) === null) return
      latest = json
      identity ??= identityOf(json)
    },
    begin: ({ place, part }, move) =>
      move.kind === 'begin' && part?.kind === 'call' ? call(part, place, { ...move, kind: 'begin' }) : [],
    more: ({ place, part }, move) => (part === null ? [] : call(part, place, move)),
    text: (_, { json, text }) =>
      said(choiceIn(json) === null ? { ...latest, usage: undefined } : json, {
        ...fieldsBeside(json),
        ...(text === '' ? {} : { content: text }),
      }),
    close: () => [],
    end: ({ says, json }, ending) => {
      if (says !== 'last') return written(json, {}, ending.reason ?? choiceIn(json)?.['finish_reason'])
      // Those before stated theirs, which no chunk has carried yet.
      if (usageBefore === null || hasUsage) return null
      const usage = writeEvent('', { ...latest, ...identity, choices: [], usage: usageBefore })
      return [usage, 'data: [DONE]\n\n']
    },
    cut: (_, hasEnded) => [
      ...(hasEnded ? [] : written({ ...latest, usage: undefined }, {}, 'length')),
      'data: [DONE]\n\n',
    ],
    goOn: (usage) => {
      isFirst = false
      usageBefore = usage
      hasUsage = false
    },
    body: (ending) => {
      const { about, usage } = ending
      const choice = choiceIn(about) ?? {}
      const [text = {}, ...calls] = ending.parts()
      const message = { ...fieldsOf(text['message']), ...(calls.length === 0 ? {} : { tool_calls: calls }) }
      const reason = ending.reason ?? choice['finish_reason']
      return {
        ...about,
        ...identity,
        choices: [{ ...choice, ...text, message, finish_reason: reason }],
        ...(usage === null ? {} : { usage }),
      }
    },
  }
}

/** What a chunk says of its answer: its id, when it was made, by what. */
function identityOf(json: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(json).filter(([, value]) => typeof value === 'string' || typeof value === 'number'),
  )
}

/** No text stays what it was: null, or ''. A content in parts gets one more. */
function joinedContent(before: unknown, content: unknown): unknown {
  if (!Array.isArray(before) && !Array.isArray(content))
    return stringOr(before, '') === '' ? content : stringOr(before, '') + stringOr(content, '')
  return [before, content].flatMap((each): unknown[] =>
    Array.isArray(each) ? each : isPresent(each) ? [{ type: 'text', text: each }] : [],
  )
}

function choiceIn({ choices }: JsonObject): JsonObject | null {
  const [choice]: unknown[] = Array.isArray(choices) ? choices : []
  return isJsonObject(choice) ? choice : null
}

function isOnly(choices: unknown): boolean {
  return Array.isArray(choices) && choices.length === 1
}

function reasonIn(choice: JsonObject): string | null {
  const reason = stringOr(choice['finish_reason'], '')
  return reason === '' ? null : reason
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** A choice whose message is one delta; calls are numbered, as those of a stream are. */
function messageOf({ message, ...choice }: JsonObject): JsonObject {
  const said = fieldsOf(message)
  const calls = said['tool_calls']
  const numbered = Array.isArray(calls)
    ? { tool_calls: calls.map((call, index) => (isJsonObject(call) ? { index, ...call } : call)) }
    : {}
  return { ...choice, delta: { role: 'assistant', ...said, ...numbered }, finish_reason: null }
}
