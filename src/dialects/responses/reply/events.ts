import {
  isJsonObject,
  parseJsonText,
  stringifyJson,
  stringOr,
  type JsonObject,
} from '../../../conversation/json-value.ts'
import { createEventReader } from '../../event-reader.ts'
import { statesError } from '../../answer-json.ts'

/** An event of a streamed response. `other`: a comment, or nothing that can be read; `done`: `[DONE]`, which imitators send. */
export type ReplyEvent =
  | { readonly kind: 'other' | 'done' | 'error' }
  | {
      readonly kind: 'event'
      readonly type: string
      readonly json: JsonObject
      /** What stands in its `event:` line; '' if there is none. */
      readonly name: string
    }

/** Reads one event, given with the blank line at its end. */
export function readReplyEvent(event: string): ReplyEvent {
  const reader = createEventReader({ eventCharactersMax: event.length })
  const [read] = [...reader.feed(event), ...reader.end()]
  if (read === undefined) return { kind: 'other' }
  const { name, data, error } = read
  if (error !== '' || name === 'error') return { kind: 'error' }
  if (data.trim() === '[DONE]') return { kind: 'done' }
  const json = parseJsonText(data)
  if (!isJsonObject(json)) return { kind: Array.isArray(json) ? 'error' : 'other' }
  const type = stringOr(json['type'], name)
  return statesError(json, type.startsWith('response.'))
    ? { kind: 'error' }
    : { kind: 'event', type, json, name }
}

/** An event as text, with an `event:` line if it has a name; null if it is nested too deep to be written. */
export function writeEvent(name: string, json: JsonObject): string | null {
  const text = stringifyJson(json)
  if (text === null) return null
  return `${name === '' ? '' : `event: ${name}\n`}data: ${text}\n\n`
}

/** Whether an event of this type is the last of a response. */
export function isEnding(type: string): boolean {
  return Object.hasOwn(endings, type)
}

/** The status of a response in an event of this type, which says it too. */
export function statusOf(type: string, response: JsonObject): unknown {
  return response['status'] ?? (isEnding(type) ? endings[type] : undefined)
}

/** Whether an event is the last word of a stream; looked up without parsing it. */
export function isDone(event: string): boolean {
  return lastWord.test(event)
}

// --- internal ---

const endings: Readonly<Record<string, string>> = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
}

const lastWord =
  /^data:\s*\[DONE\]|^event:\s*response\.(?:completed|incomplete|failed)\s*$|"type"\s*:\s*"response\.(?:completed|incomplete|failed)"/m
