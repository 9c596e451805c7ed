import { scanBody } from '../../conversation/body-scan.ts'
import type { BodyLimits, ValueSpan, KnownHistory } from '../../conversation/body-spans.ts'
import { endOfAnyValue, scanObject, skipWhitespace } from '../../conversation/json-scan.ts'
import type { EntrySpans } from '../../conversation/json-scan.ts'
import { isJsonObject, parseJson, readKey } from '../../conversation/json-value.ts'
import type { Source, Span, Steps } from '../../conversation/source.ts'
import type { BodyEdit, BodyFacts, NotRead, NotReadReason } from '../contract.ts'

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

/** Reads the body of a chat completion request around its messages. */
export function* readChatBody(
  source: Source,
  limits: BodyLimits,
  known: KnownHistory | null,
): Steps<{ readonly read: true; readonly body: BodyFacts } | NotRead> {
  if (byteOrderMark.every((byte, index) => source.bytes[index] === byte)) return notRead('bom')
  const body = yield* scanBody(source, { history: 'messages', content: null }, known, limits)
  if (typeof body === 'string') return notRead(body === 'no-json' ? 'not-json-object' : body)
  const spans = new Map<string, ValueSpan>()
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
  const isStreamed = values.get('stream') === true
  const streamOptions = values.get('stream_options')
  const model = values.get('model')
  const tools = spanOpening('[', source, spans.get('tools'))
  return {
    read: true,
    body: {
      model: typeof model === 'string' ? model : null,
      fieldNames: [...spans.keys()],
      isStreamed,
      // How much is in it is not the same where some of it was known.
      history: { start: messages.start, end: messages.end },
      entrySpans: messageSpans,
      outputLimit:
        outputLimitOf('max_completion_tokens', spans, values) ?? outputLimitOf('max_tokens', spans, values),
      repliesWanted: positiveInteger(values.get('n')) ?? 1,
      tools,
      legacyTools: spanOpening('[', source, spans.get('functions')),
      schema: spanOpening('{', source, spans.get('response_format')),
      isToolForced: isForced(values.get('tool_choice')) || isForced(values.get('function_call')),
      showsUsage: isJsonObject(streamOptions) && streamOptions['include_usage'] === true,
      usageRequest: isStreamed ? usageRequestOf(spans, streamOptions) : null,
      withoutStreaming: isStreamed ? withoutStreamingOf(source, spans, body.entries) : null,
    },
  }
}

/**
 * Where the bracket of a body's `messages` stands, as far as its beginning tells; null where it is not within the first
 * megabyte and hundred keys. Never throws.
 */
export function findHistory(source: Source): number | null {
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

/** `streamOptions` as they were parsed; undefined if there are none. */
function usageRequestOf(spans: ReadonlyMap<string, ValueSpan>, streamOptions: unknown): BodyEdit | null {
  const stream = spans.get('stream')
  const options = spans.get('stream_options')
  if (stream === undefined) return null
  if (options === undefined) return { at: emptySpan(stream.end), text: `,"stream_options":{${askForUsage}}` }
  if (streamOptions === null) return { at: options, text: `{${askForUsage}}` }
  if (!isJsonObject(streamOptions) || Object.hasOwn(streamOptions, 'include_usage')) return null
  const isEmpty = Object.keys(streamOptions).length === 0
  return { at: emptySpan(options.start + 1), text: isEmpty ? askForUsage : `${askForUsage},` }
}

/** Servers refuse options of a stream beside a plain answer: they go, with one of the commas beside them. */
function withoutStreamingOf(
  source: Source,
  spans: ReadonlyMap<string, ValueSpan>,
  entries: readonly EntrySpans[],
): readonly BodyEdit[] {
  const stream = spans.get('stream')
  if (stream === undefined) return []
  const plain = { at: { start: stream.start, end: stream.end }, text: 'false' }
  const at = entries.findIndex(({ key }) => readKey(source, key) === 'stream_options')
  const [before, entry, after] = [entries[at - 1], entries[at], entries[at + 1]]
  if (entry === undefined) return [plain]
  const options =
    before === undefined
      ? { start: entry.key.start, end: after?.key.start ?? entry.value.end }
      : { start: before.value.end, end: entry.value.end }
  return [plain, { at: options, text: '' }]
}

const askForUsage = '"include_usage":true'

function emptySpan(at: number): Span {
  return { start: at, end: at }
}

function outputLimitOf(
  name: 'max_completion_tokens' | 'max_tokens',
  spans: ReadonlyMap<string, ValueSpan>,
  values: ReadonlyMap<string, unknown>,
): BodyFacts['outputLimit'] {
  const value = spans.get(name)
  const tokens = positiveInteger(values.get(name))
  return value === undefined || tokens === null ? null : { field: name, tokens, value }
}

function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

/** The span of a value that opens as its kind has to; null for `null` and whatever else stands there. */
function spanOpening(opening: '[' | '{', source: Source, span: ValueSpan | undefined): ValueSpan | null {
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
