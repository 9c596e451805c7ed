import { scanObject, skipWhitespace } from '../../json/json-scan.ts'
import { isJsonObject, parseJsonText, type JsonObject } from '../../json/json-value.ts'
import type { UsageHider } from '../answer-contract.ts'
import { createEventReader } from '../event-reader.ts'

/**
 * Makes of a stream that was asked for usage the one that was not: events that state it are taken out, and so is a
 * `usage` that is null. What such an event says besides belongs to the event that ended the reply, which waits for it
 * until the next event is there. Every other event goes on as it came.
 */
export function createUsageHider(): UsageHider {
  const finished = new Set<number>()
  /** The event that ended the reply, while what else belongs to it may still come; '' if none waits. */
  let waiting = ''
  let isLastHidden = false

  function release(): string {
    const event = waiting
    waiting = ''
    return event
  }

  return {
    take: (event) => {
      const reading = readForUsage(event, finished)
      isLastHidden = reading.kind === 'usage'
      const before = release()
      if (reading.kind === 'usage')
        return [before === '' ? '' : withEntries(before, reading.entries), reading.comments]
      for (const index of reading.finishes) finished.add(index)
      if (reading.finishes.length === 0) return [before, reading.event]
      waiting = reading.event
      return [before]
    },
    takeLineFeed: (lineFeed) => {
      if (isLastHidden) return ''
      if (waiting === '') return lineFeed
      waiting += lineFeed
      return ''
    },
    release,
  }
}

// --- internal ---

/** An event of a stream that was asked for usage, for a client that did not ask. */
type ReadForUsage = Shown | Hidden

type Shown = {
  readonly kind: 'shown'
  /** As it came, or without a `usage` that is null. */
  readonly event: string
  /** Indexes of the choices that end with it. */
  readonly finishes: readonly number[]
}

/** An event that states usage and no more of the reply. */
type Hidden = {
  readonly kind: 'usage'
  /** The comments within it: they are no part of what it states. */
  readonly comments: string
  /** What it says besides, keys with their values as they are spelt: `"timings":{"prompt_n":9}`. */
  readonly entries: readonly string[]
}

/**
 * Reads an event. One that states usage is hidden if it has no choices, or none but such as have `finished` before and
 * say nothing new: OpenRouter repeats the last one. An error is for the client, whatever comes with it.
 */
function readForUsage(event: string, finished: ReadonlySet<number>): ReadForUsage {
  const same: Shown = { kind: 'shown', event, finishes: [] }
  if (!event.includes('"usage"') && !statesReason.test(event)) return same
  const data = dataOf(event)
  const chunk = data === null ? null : parseJsonText(data)
  if (data === null || !isJsonObject(chunk) || (chunk['error'] ?? null) !== null) return same
  const choices: unknown = chunk['choices'] ?? []
  if (!Array.isArray(choices) || !choices.every(isJsonObject)) return same
  if (choices.every((choice) => isRepeated(choice, finished))) {
    const entries = entriesBesides(data, chunk)
    const isHidden =
      isJsonObject(chunk['usage']) ||
      // With nothing in it, not even usage, it is a sign of life; behind the end it is one too many.
      (chunk['usage'] === null && finished.size > 0 && entries.length === 0)
    if (isHidden) return { kind: 'usage', comments: commentsIn(event), entries }
  }
  const shown = chunk['usage'] === null ? withoutNull(event) : event
  return { kind: 'shown', event: shown, finishes: choices.filter(isEnd).map(indexOf) }
}

/**
 * The event with these entries in its object, but for keys that it has. llama.cpp puts its timings, xAI its citations
 * into a stream's last chunk: it is this one unless somebody asked for usage.
 */
function withEntries(event: string, entries: readonly string[]): string {
  const chunk = parseJsonText(dataOf(event) ?? '')
  const added = entries.filter((entry) => isJsonObject(chunk) && !Object.hasOwn(chunk, keyOf(entry)))
  const lines = linesOf(event)
  const at = lines.findLastIndex((line) => isData.test(line) && line.includes('}'))
  const last = lines[at]
  if (added.length === 0 || last === undefined) return event
  const brace = last.lastIndexOf('}')
  const before = lines.slice(0, at).join('') + last.slice(0, brace)
  const behind = last.slice(brace) + lines.slice(at + 1).join('')
  return before + added.map((entry) => `,${entry}`).join('') + behind
}

const statesReason = /"finish_reason"[ \t]*:[ \t]*"/
/** In UTF-8, one character a byte. */
const byteOrderMark = /^\u00ef\u00bb\u00bf/
const lineEnd = /[\r\n]+$/
const isData = /^(?:\u00ef\u00bb\u00bf)?data(?:[:\r\n]|$)/

/** A `usage` that is null, with the comma that parts it from its neighbour. */
const nullUsage = /,[ \t]*"usage"[ \t]*:[ \t]*null|"usage"[ \t]*:[ \t]*null[ \t]*,[ \t]*/

/** What every chunk of some provider carries: with the usage gone, it says nothing. */
const ordinaryKeys: ReadonlySet<string> = new Set([
  'choices',
  'created',
  'error',
  'id',
  'model',
  'object',
  'obfuscation',
  'provider',
  'service_tier',
  'system_fingerprint',
  'usage',
  'x_groq',
])

/** What a choice that has ended may state again. */
const endKeys: ReadonlySet<string> = new Set([
  'index',
  'finish_reason',
  'matched_stop',
  'native_finish_reason',
  'stop_reason',
])
const deltaKeys: ReadonlySet<string> = new Set(['role'])

/** The data of an event; null where it has none, or is an error. */
function dataOf(event: string): string | null {
  const reader = createEventReader({ eventCharactersMax: event.length })
  const [read] = [...reader.feed(event.replace(byteOrderMark, '')), ...reader.end()]
  return read === undefined || read.error !== '' || read.name === 'error' ? null : read.data
}

/** Whether a choice has ended before and says nothing now; its end may be stated again. */
function isRepeated(choice: JsonObject, finished: ReadonlySet<number>): boolean {
  const { delta = null, ...rest } = choice
  return (
    finished.has(indexOf(choice)) &&
    (delta === null || (isJsonObject(delta) && saysNothing(delta, deltaKeys))) &&
    saysNothing(rest, endKeys)
  )
}

function saysNothing(object: JsonObject, keysKnown: ReadonlySet<string>): boolean {
  return Object.entries(object).every(([key, value]) => keysKnown.has(key) || value === '' || isEmpty(value))
}

function isEnd(choice: JsonObject): boolean {
  const reason = choice['finish_reason']
  return typeof reason === 'string' && reason !== ''
}

function indexOf(choice: JsonObject): number {
  return typeof choice['index'] === 'number' ? choice['index'] : 0
}

/** Null, or a list or an object without anything in it. */
function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

function entriesBesides(data: string, chunk: JsonObject): readonly string[] {
  const entries = scanObject(data, skipWhitespace(data, 0))?.entries ?? []
  return entries
    .map(({ key, value }) => data.slice(key.start, value.end).replaceAll('\n', ' '))
    .filter((entry) => !ordinaryKeys.has(keyOf(entry)) && !isEmpty(chunk[keyOf(entry)]))
}

/** The key of an entry as it is spelt. */
function keyOf(entry: string): string {
  const [quoted = ''] = /^"(?:[^"\\]|\\.)*"/.exec(entry) ?? []
  const key = parseJsonText(quoted)
  return typeof key === 'string' ? key : ''
}

/** Where more than one thing in it is called `usage`, it is left as it is. */
function withoutNull(event: string): string {
  return event.split('"usage"').length === 2 ? event.replace(nullUsage, '') : event
}

function commentsIn(event: string): string {
  return linesOf(event)
    .filter((line) => line.startsWith(':') && lineEnd.test(line))
    .join('')
}

function linesOf(event: string): readonly string[] {
  return event.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? []
}
