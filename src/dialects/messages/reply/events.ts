import {
  isJsonObject,
  parseJsonText,
  stringifyJson,
  stringOr,
  type JsonObject,
} from '../../../conversation/json-value.ts'
import { createEventReader } from '../../event-reader.ts'
import { statesError } from '../../answer-json.ts'

/** An event of a streamed message. `other`: a comment, or nothing that can be read; `done`: `[DONE]`, which imitators send. */
export type MessageEvent =
  | { readonly kind: 'other' | 'done' | 'error' }
  | {
      readonly kind: 'event'
      readonly type: string
      readonly json: JsonObject
    }

/** Reads one event, given with the blank line at its end. */
export function readMessageEvent(event: string): MessageEvent {
  const reader = createEventReader({ eventCharactersMax: event.length })
  const [read] = [...reader.feed(event), ...reader.end()]
  if (read === undefined) return { kind: 'other' }
  const { name, data, error } = read
  if (error !== '' || name === 'error') return { kind: 'error' }
  if (data.trim() === '[DONE]') return { kind: 'done' }
  const json = parseJsonText(data)
  if (!isJsonObject(json)) return { kind: Array.isArray(json) ? 'error' : 'other' }
  const type = stringOr(json['type'], name)
  return statesError(json, type !== '') ? { kind: 'error' } : { kind: 'event', type, json }
}

/** An event without its text. */
export type NewMessageEvent = JsonObject & { readonly type: string }

/** An event as text; null if it is nested too deep to be written. */
export function writeMessageEvent(event: NewMessageEvent): string | null {
  const text = stringifyJson(event)
  return text === null ? null : `event: ${event.type}\ndata: ${text}\n\n`
}

/** Whether an event is the last word of a stream; looked up without parsing it. */
export function isLastEvent(event: string): boolean {
  return lastWord.test(event)
}

// --- internal ---

const lastWord = /^data:\s*\[DONE\]|^event:\s*(?:message_stop|error)\s*$|"type"\s*:\s*"message_stop"/m
