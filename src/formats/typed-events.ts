import { isJsonObject, parseJsonText, stringifyJson, stringOr, type JsonObject } from '../json/json-value.ts'
import type { AnswerEvent, AnswerFacts, Answers, EventsReader } from './answer-contract.ts'
import { nothingSaid, parseAnswerText, statesError } from './answer-json.ts'
import { createEventReader, type ServerEvent } from './event-reader.ts'

/** An event but for what its place in a stream adds to it. */
export type NewEvent = JsonObject & { readonly type: string }

/** `other`: a comment, or nothing that can be read; `done`: `[DONE]`, which imitators send in streams of any dialect. */
export type Untold = { readonly kind: 'other' | 'done' | 'error' }

/** `name`: what stands in its `event:` line; '' if there is none. */
export type TypedEvent = {
  readonly kind: 'event'
  readonly name: string
  readonly type: string
  readonly json: JsonObject
}

/** Reads one event, given with the blank line at its end. `name`: what stands in its `event:` line; '' if there is none. */
export function readEventText(
  event: string,
): Untold | { readonly kind: 'data'; readonly name: string; readonly json: unknown } {
  const reader = createEventReader({ eventCharactersMax: event.length })
  const [read] = [...reader.feed(event), ...reader.end()]
  if (read === undefined) return { kind: 'other' }
  const { name, data, error } = read
  if (error !== '' || name === 'error') return { kind: 'error' }
  if (data.trim() === '[DONE]') return { kind: 'done' }
  return { kind: 'data', name, json: parseJsonText(data) }
}

/** The same of an event that has a type, as all of a dialect's `own` have. */
export function readTypedEvent(event: string, isOwn: (type: string) => boolean): Untold | TypedEvent {
  const read = readEventText(event)
  if (read.kind !== 'data') return read
  const { name, json } = read
  if (!isJsonObject(json)) return { kind: Array.isArray(json) ? 'error' : 'other' }
  const type = stringOr(json['type'], name)
  return statesError(json, isOwn(type)) ? { kind: 'error' } : { kind: 'event', name, type, json }
}

/** An event as text, with an `event:` line if it has a name; '' if it is nested too deep to be written. */
export function writeEvent(name: string, json: JsonObject): string {
  const text = stringifyJson(json)
  return text === null ? '' : `${name === '' ? '' : `event: ${name}\n`}data: ${text}\n\n`
}

/** A plain answer as the stream of events that says the same; null if there is no output in it, or it is nested too deep. */
export function asStream(
  { read, eventsOf }: Pick<Answers, 'read' | 'eventsOf'>,
  body: unknown,
): { readonly text: string; readonly statesUsage: boolean } | null {
  const facts = read(body)
  if (facts === null || facts.isError || !facts.hasOutput || !isJsonObject(body)) return null
  const events = eventsOf(body)
  return events.includes('') ? null : { text: events.join(''), statesUsage: isJsonObject(body['usage']) }
}

/** An error as an event that has a type. */
export function errorEvent(error: JsonObject): string {
  return writeEvent('error', 'error' in error ? { ...error, type: 'error' } : { type: 'error', error })
}

/** What one event says of an answer, or that it is the end. */
export type AnswerEventFacts = Partial<AnswerFacts> | 'done'

/** A reader of a stream whose events have types, by what each says, and of a plain answer that stands in its place. */
export function typedEventsReader(
  readEvent: (event: JsonObject, type: string) => AnswerEventFacts,
  readPlain: (json: unknown) => AnswerFacts | null,
): EventsReader {
  return (event) =>
    readAnswerEvent(event, (json, name) =>
      isJsonObject(json) ? readEvent(json, stringOr(json['type'], name)) : readPlain(json),
    )
}

/** What an event of an answer says, by what `factsOf` makes of its JSON: facts, the end, or null if it is no answer. */
export function readAnswerEvent(
  { name, data, error }: ServerEvent,
  factsOf: (json: unknown, name: string) => AnswerEventFacts | null,
): AnswerEvent {
  if (error !== '' || name === 'error') {
    const said = error === '' ? data : error
    return told({ isError: true, said: parseAnswerText(said) ?? said })
  }
  const text = data.trim()
  const facts = text === '[DONE]' ? 'done' : factsOf(parseAnswerText(data), name)
  if (facts === 'done') return { kind: 'done' }
  return facts === null ? { kind: text === '' ? 'empty' : 'unknown' } : told(facts)
}

// --- internal ---

function told(facts: Partial<AnswerFacts>): AnswerEvent {
  return { kind: 'facts', facts: { ...nothingSaid, ...facts } }
}
