import {
  isJsonObject,
  type JsonObject,
  objectsOf,
  parseJsonText,
  stringOr,
} from '../../../json/json-value.ts'
import type { Finish } from '../../answer-contract.ts'
import type { AnswerParts, AnswerReader, AnswerWire, ClientWriter, Move, Part } from '../../reply-wire.ts'
import { chatFinish, chatUsage, lineOf, readChatAnswer, statedNumbers } from '../read-answer.ts'

/** An answer: one message, which is a text with the thoughts that led to it, and calls, each of which comes whole. */
export const ollamaAnswerWire: AnswerWire = {
  readEvent: (line) => {
    const json = parseJsonText(line)
    if (!isJsonObject(json)) return { kind: line.trim() === '' ? 'other' : 'error' }
    return readChatAnswer(json)?.isError === false
      ? { kind: 'event', name: '', type: '', json }
      : { kind: 'error' }
  },
  openReader: createReader,
  openWriter: createWriter,
  textsOf: ({ content }) => [stringOr(content, '')],
  withTexts: (json, [text]) => ({ ...json, content: text }),
  joined: addedTo,
  textOf: ([part]) => stringOr(part?.['content'], ''),
  call: ({ json }) => {
    const called = isJsonObject(json['function']) ? json['function'] : {}
    const given = called['arguments'] ?? {}
    return {
      id: stringOr(json['id'], ''),
      name: nameOf(json),
      argumentsText: typeof given === 'string' ? given : JSON.stringify(given),
    }
  },
  isCutCall: () => false,
  kept: ([part]) => (stringOr(part?.['thinking'], '') === '' ? {} : { thinking: part?.['thinking'] }),
  hasRefusal: () => false,
  usageOf: (usage) => (usage === null ? null : chatUsage(usage)),
  // Ollama states "stop" for a reply that calls tools, too.
  reasons: { calls: 'stop', end: null },
  isOneText: true,
}

// --- internal ---

function createReader(parts: AnswerParts, toolName: string | null): AnswerReader {
  const message: Record<string, unknown> = { role: 'assistant', content: '' }
  let text: Part | null = null
  let finish: Finish | null = null
  let usage: JsonObject | null = null
  let about: JsonObject = {}

  function addCall(json: JsonObject): Part {
    const part = parts.add('call', json, { isOurs: toolName !== null && nameOf(json) === toolName })
    part.isWhole = true
    return part
  }
  function end(json: JsonObject): void {
    finish = chatFinish(json)
    usage = statedNumbers(json)
    about = json
  }

  return {
    take: ({ json }) => {
      const said = messageIn(json)
      const moves: Move[] = []
      if (text === null) {
        text = parts.add('text', message, {})
        moves.push({ kind: 'begin', part: text, json })
      }
      Object.assign(message, addedTo(message, said))
      moves.push({ kind: 'text', part: text, at: 0, text: stringOr(said['content'], ''), json })
      for (const call of objectsOf(said['tool_calls']))
        moves.push({ kind: 'begin', part: addCall(call), json, piece: call })
      if (json['done'] !== true) return moves
      end(json)
      return [...moves, { kind: 'end', says: 'reason', json }]
    },
    takePlain: (body) => {
      if (!isJsonObject(body['message']) || readChatAnswer(body)?.isError !== false) return false
      const { tool_calls: calls, ...said } = body['message']
      parts.add('text', said, {})
      objectsOf(calls).forEach(addCall)
      end(body)
      return true
    },
    finish: () => finish,
    usage: () => usage,
    about: () => about,
  }
}

function createWriter(): ClientWriter {
  let usageBefore: JsonObject | null = null
  /** The latest line: what is said later is written like it. */
  let latest: JsonObject = {}

  return {
    note: ({ json }) => {
      latest = json
    },
    begin: ({ part }, { json }) =>
      part?.kind === 'call' ? written(json, { tool_calls: [part.json] }, { done: false }) : [],
    text: (_, { json, text }) => {
      const thinking = stringOr(messageIn(json)['thinking'], '')
      if (text === '' && thinking === '') return []
      const said = { content: text, ...(thinking === '' ? {} : { thinking }) }
      return written({ ...latest, ...json }, said, { done: false })
    },
    more: () => [],
    close: () => [],
    end: ({ json }, { reason, usage }) => [
      lineOf({
        ...json,
        message: { role: 'assistant', content: '' },
        ...(reason === null ? {} : { done_reason: reason }),
        ...usage,
      }),
    ],
    cut: (_, hasEnded) =>
      hasEnded ? [] : written(latest, {}, { done: true, done_reason: 'length', ...usageBefore }),
    goOn: (usage) => {
      usageBefore = usage
    },
    body: ({ about, reason, usage, parts }) => {
      const [text = {}, ...calls] = parts()
      return {
        ...about,
        message: { ...text, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
        ...(reason === null ? {} : { done_reason: reason }),
        ...usage,
      }
    },
  }
}

/** A line with a message, written like another one. */
function written(like: JsonObject, message: JsonObject, more: JsonObject): readonly string[] {
  const { model, created_at: at } = like
  const line = { model, created_at: at, message: { role: 'assistant', content: '', ...message }, ...more }
  return [lineOf(line)]
}

function messageIn({ message }: JsonObject): JsonObject {
  return isJsonObject(message) ? message : {}
}

function nameOf({ function: called }: JsonObject): string {
  return isJsonObject(called) ? stringOr(called['name'], '') : ''
}

/** A message with what was said next: texts go on, and what is something else is the later one's. */
function addedTo(before: JsonObject, { tool_calls: _calls, ...next }: JsonObject): JsonObject {
  const texts = ['content', 'thinking']
    .filter((key) => typeof before[key] === 'string' && typeof next[key] === 'string')
    .map((key) => [key, stringOr(before[key], '') + stringOr(next[key], '')] as const)
  return { ...before, ...next, ...Object.fromEntries(texts) }
}
