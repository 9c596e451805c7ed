import {
  scanBody,
  type BodyFault,
  type BodyLimits,
  type EntrySpan,
  type KnownHistory,
} from '../../conversation/body-scan.ts'
import { endOfAnyValue, scanObject, skipWhitespace } from '../../conversation/json-scan.ts'
import type { EntrySpans } from '../../conversation/json-scan.ts'
import { isJsonObject, parseJson, readKey } from '../../conversation/json-value.ts'
import type { Source, Span, Steps } from '../../conversation/source.ts'

/** What Foldgate reads of a chat completion request. Everything else in it is relayed as it stands. */
export type ChatCompletion = {
  readonly model: string | null
  /** The keys of the body, decoded. */
  readonly fieldNames: readonly string[]
  readonly stream: boolean
  /** The array with its brackets. */
  readonly messages: Span
  /** Its elements but for those that were known: delimited, not yet parsed. */
  readonly messageSpans: readonly EntrySpan[]
  /** The most tokens the reply may have, and where that number stands; null where none is set. */
  readonly outputLimit: {
    readonly name: 'max_completion_tokens' | 'max_tokens'
    readonly tokens: number
    readonly value: Span
  } | null
  /** How many replies are asked for (`n`). */
  readonly choices: number
  readonly tools: EntrySpan | null
  /** The legacy form of `tools`. */
  readonly functions: EntrySpan | null
  readonly responseFormat: EntrySpan | null
  /** Whether the reply has to call a tool. */
  readonly hasForcedToolChoice: boolean
  /** Whether the client asked for a usage event at the end of the stream. */
  readonly includeUsage: boolean
  /**
   * What asks for that event in the client's stead, and the bytes that it takes the place of; null where the
   * client has had its word, or wants no stream.
   */
  readonly usageAddition: { readonly at: Span; readonly text: string } | null
  /** Where a stream is asked for; null where none is. */
  readonly streaming: {
    readonly value: Span
    /** `stream_options` with its key and one of the commas beside it; null where there are none. */
    readonly options: Span | null
  } | null
}

/** Why a body was not read. `message-unreadable` is for the caller, who reads the messages. */
export type NotReadReason =
  | Exclude<BodyFault, 'no-json'>
  | 'bom'
  | 'not-json-object'
  | 'duplicate-key'
  | 'invalid-value'
  | 'no-messages'
  | 'message-unreadable'

export type NotRead = { readonly read: false; readonly reason: NotReadReason }

/** What is parsed for what it says; every other value only has to be JSON. */
const readNames: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'tool_choice',
  'function_call',
])

/**
 * Reads a request body without parsing it as a whole: all of it is scanned, so that it is known to be JSON, and only the
 * few values are parsed that say how it is treated. What is `known` of the messages is passed over. In steps; never throws.
 */
export function* readChatCompletion(
  source: Source,
  limits: BodyLimits,
  known: KnownHistory | null = null,
): Steps<{ readonly read: true; readonly request: ChatCompletion } | NotRead> {
  if (byteOrderMark.every((byte, index) => source.bytes[index] === byte)) return notRead('bom')
  const body = yield* scanBody(source, 'messages', known, limits)
  if (typeof body === 'string') return notRead(body === 'no-json' ? 'not-json-object' : body)
  const spans = new Map<string, EntrySpan>()
  const values = new Map<string, unknown>()
  for (const { key, value } of body.entries) {
    const name = lengthOf(key) > KEY_BYTES_MAX ? null : readKey(source, key)
    if (name === null) return notRead('invalid-value')
    if (spans.has(name)) return notRead('duplicate-key')
    spans.set(name, value)
    if (spans.size % KEYS_PER_STEP === 0) yield
    if (!readNames.has(name)) continue
    if (lengthOf(value) > VALUE_BYTES_MAX) return notRead('invalid-value')
    values.set(name, parseJson(source, value))
  }
  const messages = spans.get('messages')
  const messageSpans = body.history
  const isEmpty = messageSpans === null || (messageSpans.length === 0 && known === null)
  if (messages === undefined || messageSpans === null || isEmpty) return notRead('no-messages')
  const streaming = values.get('stream') === true ? streamingOf(source, spans, body.entries) : null
  // How much is in it is not the same where some of it was known.
  const { start, end } = messages
  const request = {
    messages: { start, end },
    messageSpans,
    streaming,
    ...settingsOf(source, spans, values),
  }
  return { read: true, request }
}

/**
 * Where the bracket of a body's `messages` stands, as far as its beginning tells; null where it is not within the first
 * megabyte and hundred keys. Never throws.
 */
export function findMessages(source: Source): number | null {
  for (let length = LOOKED_AT_BYTES; length <= LOOKED_AT_BYTES_MAX; length *= GROWTH) {
    const text = source.latin1(0, Math.min(length, source.length))
    let found: number | null = null
    let keys = 0
    scanObject(text, skipWhitespace(text, 0), function endBeforeMessages(_, start, key) {
      keys += 1
      if (keys > LOOKED_AT_KEYS_MAX) return -1
      if (readKey(source, key) !== 'messages') return endOfAnyValue(text, start)
      found = text.charAt(start) === '[' ? start : null
      return -1
    })
    if (found !== null || keys > LOOKED_AT_KEYS_MAX || length >= source.length) return found
  }
  return null
}

// --- internal ---

/** How much of a body is looked at first, in bytes: mostly the messages begin there. */
const LOOKED_AT_BYTES = 16_384

/** How much more is looked at each time. */
const GROWTH = 8

/** More is not looked at in one go; tools that stand before the messages take some hundred kilobytes. */
const LOOKED_AT_BYTES_MAX = LOOKED_AT_BYTES * GROWTH * GROWTH

/** Nobody writes more keys before the messages. */
const LOOKED_AT_KEYS_MAX = 100

/** Nobody's key is longer, in bytes. */
const KEY_BYTES_MAX = 512

/** Keys read between two pauses. */
const KEYS_PER_STEP = 512

/** What is parsed of a body beside its messages: numbers, a name, a choice among tools, in bytes. */
const VALUE_BYTES_MAX = 65_536

/** U+FEFF in UTF-8. */
const byteOrderMark = [0xef, 0xbb, 0xbf]

function lengthOf({ start, end }: Span): number {
  return end - start
}

function settingsOf(
  source: Source,
  spans: ReadonlyMap<string, EntrySpan>,
  values: ReadonlyMap<string, unknown>,
): Omit<ChatCompletion, 'messages' | 'messageSpans' | 'streaming'> {
  const model = values.get('model')
  const streamOptions = values.get('stream_options')
  return {
    model: typeof model === 'string' ? model : null,
    fieldNames: [...spans.keys()],
    stream: values.get('stream') === true,
    outputLimit:
      outputLimitOf('max_completion_tokens', spans, values) ?? outputLimitOf('max_tokens', spans, values),
    choices: positiveInteger(values.get('n')) ?? 1,
    tools: spanOpening('[', source, spans.get('tools')),
    functions: spanOpening('[', source, spans.get('functions')),
    responseFormat: spanOpening('{', source, spans.get('response_format')),
    hasForcedToolChoice: isForced(values.get('tool_choice')) || isForced(values.get('function_call')),
    includeUsage: isJsonObject(streamOptions) && streamOptions['include_usage'] === true,
    usageAddition: values.get('stream') === true ? usageAdditionOf(spans, streamOptions) : null,
  }
}

/** `streamOptions` as they were parsed; undefined where there are none. */
function usageAdditionOf(
  spans: ReadonlyMap<string, EntrySpan>,
  streamOptions: unknown,
): ChatCompletion['usageAddition'] {
  const stream = spans.get('stream')
  const options = spans.get('stream_options')
  if (stream === undefined) return null
  if (options === undefined) return { at: emptySpan(stream.end), text: `,"stream_options":{${askForUsage}}` }
  if (streamOptions === null) return { at: options, text: `{${askForUsage}}` }
  if (!isJsonObject(streamOptions) || Object.hasOwn(streamOptions, 'include_usage')) return null
  const isEmpty = Object.keys(streamOptions).length === 0
  return { at: emptySpan(options.start + 1), text: isEmpty ? askForUsage : `${askForUsage},` }
}

function streamingOf(
  source: Source,
  spans: ReadonlyMap<string, EntrySpan>,
  entries: readonly EntrySpans[],
): ChatCompletion['streaming'] {
  const value = spans.get('stream')
  if (value === undefined) return null
  const at = entries.findIndex(({ key }) => readKey(source, key) === 'stream_options')
  const [before, entry, after] = [entries[at - 1], entries[at], entries[at + 1]]
  if (entry === undefined) return { value, options: null }
  const options =
    before === undefined
      ? { start: entry.key.start, end: after?.key.start ?? entry.value.end }
      : { start: before.value.end, end: entry.value.end }
  return { value, options }
}

const askForUsage = '"include_usage":true'

function emptySpan(at: number): Span {
  return { start: at, end: at }
}

function outputLimitOf(
  name: 'max_completion_tokens' | 'max_tokens',
  spans: ReadonlyMap<string, EntrySpan>,
  values: ReadonlyMap<string, unknown>,
): ChatCompletion['outputLimit'] {
  const value = spans.get(name)
  const tokens = positiveInteger(values.get(name))
  return value === undefined || tokens === null ? null : { name, tokens, value }
}

function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

/** The span of a value that opens as its kind has to; null for `null` and whatever else stands there. */
function spanOpening(opening: '[' | '{', source: Source, span: EntrySpan | undefined): EntrySpan | null {
  return span !== undefined && source.latin1(span.start, span.start + 1) === opening ? span : null
}

// A named function is forced; a list of allowed tools says in its mode whether one of them has to be called.
function isForced(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice === 'required' || choice === 'any'
  if (choice['type'] !== 'allowed_tools') return true
  const allowed = choice['allowed_tools']
  return (isJsonObject(allowed) ? allowed['mode'] : choice['mode']) === 'required'
}

function notRead(reason: NotReadReason): NotRead {
  return { read: false, reason }
}
