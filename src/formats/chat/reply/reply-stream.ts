import { isJsonObject, type JsonObject, stringOr } from '../../../json/json-value.ts'
import type { CallRules, ReplyStream, Seam, StreamEvent } from '../../answer-contract.ts'
import { readUsage } from '../answers.ts'
import { addedFields } from '../thoughts.ts'
import { type ChunkChoice, readChunk, writeChunk } from './chunk.ts'
import { addDelta, type Growing } from './merged-delta.ts'
import { dropsIncomplete, replyOf, shownReason } from './reply.ts'
import { createStreamedCalls, type StreamedCalls } from './streamed-calls.ts'
import { addUsage } from '../../usage-sum.ts'

/**
 * Text goes on as it comes. Calls of Foldgate's tool do not, nor anything that would tell the client that the reply
 * took several answers: their ends, ids and roles. An answer in which there is none of that passes byte for byte.
 */
export function createReplyStream<Event extends StreamEvent>(rules: CallRules): ReplyStream<Event> {
  let isFirst = true
  /** What the first answer said of itself. */
  let identity: JsonObject | null = null
  let usageBefore: JsonObject | null = null
  let isBeyondUs = false
  let answer = newAnswer<Event>(rules, null)

  function take(event: Event): readonly (Event | string)[] {
    if (isBeyondUs) return [event]
    const chunk = readChunk(event.text)
    if (chunk.kind === 'other') return [event]
    const isOneOfSeveral = chunk.kind === 'chunk' && chunk.choice?.isOneOfSeveral === true
    if (chunk.kind === 'error' || isOneOfSeveral || answer.calls.areTooMany()) {
      isBeyondUs = true
      return [...finish(), event]
    }
    if (chunk.kind === 'done') return atEnd(event, null)
    const { json, choice } = chunk
    if (isJsonObject(json['usage'])) answer.usage = json['usage']
    if (choice !== null) return takeChoice(event, json, choice)
    // What Azure sends first has been said.
    return isFirst || isJsonObject(json['usage']) ? atEnd(event, json) : []
  }

  function takeChoice(event: Event, json: JsonObject, choice: ChunkChoice): readonly (Event | string)[] {
    identity ??= identityOf(json)
    const { tool_calls: deltas, ...rest } = choice.delta
    addDelta(answer.message, choice.delta)
    answer.latest = { json, choice: choice.json }
    const passed = Array.isArray(deltas) ? answer.calls.take(deltas) : deltas
    const isSame = isFirst && passed === deltas
    const hasCalls = Array.isArray(passed) && passed.length > 0
    const delta = { ...shownDelta(rest), ...(hasCalls ? { tool_calls: passed } : {}) }
    if (choice.finishReason === null) return isSame ? [event] : changed(json, choice.json, delta)

    answer.finishReason = choice.finishReason
    if (mayGoOn()) {
      answer.held.push({ event, json, choice: choice.json })
      return changed(json, choice.json, delta)
    }
    answer.hasEnded = true
    const before = [...changed(json, choice.json, lateDelta()), ...releasedCalls()]
    return isSame ? [...before, event] : [...before, ...written(json, choice.json, delta, reason())]
  }

  /** Whether what has ended may turn out not to be the end of the reply. */
  function mayGoOn(): boolean {
    return answer.calls.hasOurs() || (rules.continues && answer.finishReason === 'length')
  }

  /** What stands behind the last delta. */
  function atEnd(event: Event, json: JsonObject | null): readonly (Event | string)[] {
    const isHeld = answer.held.length > 0 || (json === null && (mayGoOn() || answer.calls.isHolding()))
    if (isHeld) answer.held.push({ event, json, choice: null })
    else if (json === null) answer.isDone = true
    return isHeld ? [] : closing(event, json)
  }

  function closing(event: Event, json: JsonObject | null): readonly (Event | string)[] {
    return isFirst || json === null ? [event] : written(json, null, null, null)
  }

  /** What the client sees of a delta but for its calls: a further answer begins no new message. */
  function shownDelta(delta: JsonObject): JsonObject {
    if (isFirst) {
      if (typeof delta['content'] === 'string') answer.said += delta['content']
      return delta
    }
    const { content, ...rest } = addedFields(delta)
    const telling = Object.fromEntries(
      Object.entries(rest).filter(([key, value]) => key !== 'role' && value !== null && value !== ''),
    )
    const text = typeof content === 'string' ? (answer.seam?.feed(content) ?? content) : content
    if (typeof text === 'string') answer.said += text
    return text === '' || text === null || text === undefined ? telling : { ...telling, content: text }
  }

  /** What the seam still held. */
  function lateDelta(): JsonObject {
    const text = answer.seam?.end() ?? ''
    answer.said += text
    return text === '' ? {} : { content: text }
  }

  function reason(): string | null {
    return shownReason(answer.calls.all(), answer.finishReason, rules)
  }

  function releasedCalls(): readonly string[] {
    const { calls, latest, finishReason } = answer
    const deltas = calls.release({ dropsIncomplete: dropsIncomplete(calls.all(), finishReason, rules) })
    return latest === null || deltas.length === 0
      ? []
      : changed(latest.json, latest.choice, { tool_calls: deltas })
  }

  /** A chunk with what is left of its delta, if anything is; its end and its usage are stated by another. */
  function changed(json: JsonObject, choice: JsonObject, delta: JsonObject): readonly string[] {
    if (Object.keys(delta).length === 0) return []
    const { usage: _usage, ...rest } = json
    // Some servers leave the reason out where there is none yet.
    return written(stringOr(choice['finish_reason'], '') === '' ? json : rest, choice, delta, null)
  }

  /** A chunk with another delta; with the first answer's identity, and with the usage of all answers. */
  function written(
    json: JsonObject,
    choice: JsonObject | null,
    delta: JsonObject | null,
    finishReason: string | null,
  ): readonly string[] {
    const { usage } = json
    const text = writeChunk({
      ...json,
      ...(isFirst ? {} : statedIn(json, identity ?? {})),
      ...(isJsonObject(usage) ? { usage: addUsage(usageBefore, usage) } : {}),
      ...(choice === null ? {} : { choices: [{ ...choice, delta, finish_reason: finishReason }] }),
    })
    return text === null ? [] : [text]
  }

  function finish(): readonly (Event | string)[] {
    const { held } = answer
    answer.held = []
    const shown: (Event | string)[] = [...releasedCalls()]
    for (const { event, json, choice } of held) {
      if (json === null || choice === null) shown.push(...closing(event, json))
      else shown.push(...written(json, choice, {}, reason()))
    }
    return shown
  }

  return {
    take,
    ended: () => {
      if (isBeyondUs) return { reply: null, shown: [] }
      const { latest, message, calls, finishReason, usage } = answer
      const late = lateDelta()
      const shown = latest === null ? [] : changed(latest.json, latest.choice, late)
      const content = Array.isArray(message['content']) ? message['content'] : answer.said
      return { reply: replyOf({ ...message, content, tool_calls: calls.all() }, finishReason, usage), shown }
    },
    finish,
    cut: () => {
      const { latest, hasEnded, isDone } = answer
      if (latest === null) return null
      if (isDone) return []
      const { usage: _usage, ...json } = latest.json
      return [...(hasEnded ? [] : written(json, latest.choice, {}, 'length')), 'data: [DONE]\n\n']
    },
    goOn: (seam) => {
      isFirst = false
      usageBefore = answer.usage === null ? usageBefore : addUsage(usageBefore, answer.usage)
      answer = { ...newAnswer<Event>(rules, seam), latest: answer.latest }
    },
    usage: () =>
      readUsage({ usage: answer.usage === null ? usageBefore : addUsage(usageBefore, answer.usage) }),
  }
}

// --- internal ---

/** The answer that flows. */
type Answer<Event> = {
  readonly seam: Seam | null
  readonly calls: StreamedCalls
  readonly message: Growing
  /** What the client got of its text. */
  said: string
  finishReason: string | null
  /** The client got its end. */
  hasEnded: boolean
  /** The client got its `[DONE]`. */
  isDone: boolean
  usage: JsonObject | null
  /** The latest chunk with a choice: what is said later is written like it. */
  latest: { readonly json: JsonObject; readonly choice: JsonObject } | null
  /** Its end, from the chunk that states it, while nobody knows whether it is the reply's. */
  held: { readonly event: Event; readonly json: JsonObject | null; readonly choice: JsonObject | null }[]
}

function newAnswer<Event>(rules: CallRules, seam: Seam | null): Answer<Event> {
  return {
    seam,
    calls: createStreamedCalls(rules),
    message: {},
    said: '',
    finishReason: null,
    hasEnded: false,
    isDone: false,
    usage: null,
    latest: null,
    held: [],
  }
}

/** What a chunk says of its answer: its id, when it was made, by what. */
function identityOf(json: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(json).filter(([, value]) => typeof value === 'string' || typeof value === 'number'),
  )
}

/** Of `values` those that `json` states too. */
function statedIn(json: JsonObject, values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([key]) => key in json))
}
