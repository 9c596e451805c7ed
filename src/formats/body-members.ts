import { endOfAnyValue, memberWithComma, scanObject, skipWhitespace } from '../json/json-scan.ts'
import { scanBody } from '../json/body-scan.ts'
import type { BodyLimits, BodyMember, KnownHistory, ValueSpan } from '../json/body-spans.ts'
import { isJsonObject, parseJson, readKey } from '../json/json-value.ts'
import type { Source, Span, Pausable } from '../json/source.ts'
import { firstOf } from './content/slots.ts'
import { wantsStaleRefused } from './thought-refusals.ts'
import type { BodyMembers, BodyShape, BodyEdit, BodyFacts, NotReadReason, OutputLimit } from './contract.ts'

/**
 * Reads the body of a request around its history, or why not, without parsing it as a whole: all of it is scanned, so that it is known to
 * be JSON, and only the values that decide how the request is treated are parsed. A history that is `known` is passed over.
 * Never throws.
 */
export function* readBody(
  shape: BodyShape,
  source: Source,
  limits: BodyLimits,
  known: KnownHistory | null,
): Pausable<BodyFacts | NotReadReason> {
  const found = yield* readMembers(source, shape, limits, known)
  if (typeof found === 'string') return found
  const refusal = shape.refusal?.(source, found) ?? null
  if (refusal !== null) return refusal
  const { spans, values, members } = found
  const history = spans.get(shape.keys.history)
  const isText = shape.fromText !== undefined && history !== undefined && firstOf(source, history) === '"'
  const elements = isText ? [{ ...history, keys: 0, longStrings: [history] }] : found.history
  if (history === undefined || elements === null || (elements.length === 0 && known === null))
    return 'no-messages'
  const outputLimit = outputLimitOf(shape.limitNames, found)
  const model = values.get('model')
  const isStreamed = values.get('stream') === true
  return {
    model: typeof model === 'string' ? model : null,
    modelPlace: spans.get('model') ?? emptySpan(members[0]?.key.start ?? 1),
    fieldNames: [...spans.keys()],
    isStreamed,
    withoutStreaming: isStreamed ? withoutStreamingOf(source, spans, members) : null,
    // How much is in it is not the same where some of it was known.
    history: { start: history.start, end: history.end },
    canGoOn: true,
    entrySpans: shape.entries === undefined ? elements : yield* shape.entries(source, elements),
    outputLimit,
    outputLeastTokens: 1,
    repliesWanted: 1,
    system: null,
    billingLine: null,
    tools: spanOpening('[', source, spans.get('tools')),
    legacyTools: null,
    schema: null,
    isToolForced: isForced(values.get('tool_choice')),
    wantsStaleRefused: wantsStaleRefused(values.get('thinking')),
    showsUsage: true,
    usageRequest: null,
    windowTokens: null,
    modelOptions: null,
    errorsRequest: null,
    ...shape.facts(source, found, outputLimit),
  }
}

/**
 * Where the bracket of the history stands in a body, as far as its beginning tells; null where it is not within the first
 * megabyte and hundred keys. Never throws.
 */
export function findHistory({ keys: { history } }: BodyShape, source: Source): number | null {
  const text = source.latin1(0, Math.min(LOOKED_AT_BYTES_MAX, source.length))
  let found: number | null = null
  let keys = 0
  scanObject(text, skipWhitespace(text, 0), function endBeforeHistory(_, start, key) {
    keys += 1
    if (keys > LOOKED_AT_KEYS_MAX) return -1
    if (readKey(source, key) !== history) return endOfAnyValue(text, start)
    found = text.charAt(start) === '[' ? start : null
    return -1
  })
  return found
}

/** Where a text may be put in. */
export function emptySpan(at: number): Span {
  return { start: at, end: at }
}

/** A number of tokens or replies; null for anything else. */
export function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

/** The span of a value that opens as its kind has to; null for `null` and whatever else stands there. */
export function spanOpening(
  opening: '[' | '{',
  source: Source,
  span: ValueSpan | undefined,
): ValueSpan | null {
  return span !== undefined && firstOf(source, span) === opening ? span : null
}

/** The span of a text or a list of parts, in which somebody says something; null for whatever else stands there. */
export function spanOfWords(source: Source, span: ValueSpan | undefined): ValueSpan | null {
  return span !== undefined && /^["[]$/.test(firstOf(source, span)) ? span : null
}

/** Names that stand in these texts, with white space between them. */
export function fieldSet(...texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text.trim().split(/\s+/)))
}

/** Whether a choice among tools leaves none out: a named function is forced, and a list of allowed tools says so in its mode. */
export function isForced(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice === 'required' || choice === 'any'
  if (choice['type'] !== 'allowed_tools') return true
  const allowed = choice['allowed_tools']
  return (isJsonObject(allowed) ? allowed['mode'] : choice['mode']) === 'required'
}

// --- internal ---

/** Scans a body and parses what decides how it is treated. */
function* readMembers(
  source: Source,
  { keys, readNames }: BodyShape,
  limits: BodyLimits,
  known: KnownHistory | null,
): Pausable<BodyMembers | NotReadReason> {
  if (source.latin1(0, byteOrderMark.length) === byteOrderMark) return 'bom'
  const body = yield* scanBody(source, keys, known, limits)
  if (typeof body === 'string') return body === 'no-json' ? 'not-json-object' : body
  const spans = new Map<string, ValueSpan>()
  const values = new Map<string, unknown>()
  for (const { key, value } of body.entries) {
    const name = lengthOf(key) > KEY_BYTES_MAX ? null : readKey(source, key)
    if (name === null) return 'invalid-value'
    if (spans.has(name)) return 'duplicate-key'
    spans.set(name, value)
    if (spans.size % KEYS_PER_STEP === 0) yield
    if (!readNames.has(name)) continue
    if (lengthOf(value) > VALUE_BYTES_MAX) return 'invalid-value'
    values.set(name, parseJson(source, value))
  }
  return { members: body.entries, history: body.history, spans, values }
}

function outputLimitOf(limitNames: readonly string[], { spans, values }: BodyMembers): OutputLimit | null {
  for (const field of limitNames) {
    const value = spans.get(field)
    const tokens = positiveInteger(values.get(field))
    if (value !== undefined && tokens !== null) return { field, tokens, value }
  }
  return null
}

/** Servers refuse options of a stream beside a plain answer: they go, too. */
function withoutStreamingOf(
  source: Source,
  spans: ReadonlyMap<string, ValueSpan>,
  members: readonly BodyMember[],
): readonly BodyEdit[] {
  const stream = spans.get('stream')
  if (stream === undefined) return []
  const plain = { at: { start: stream.start, end: stream.end }, text: 'false' }
  const at = members.findIndex(({ key }) => readKey(source, key) === 'stream_options')
  const options = memberWithComma(members, at)
  return options === null ? [plain] : [plain, { at: options, text: '' }]
}

/** Tools that stand before a history take some hundred kilobytes. */
const LOOKED_AT_BYTES_MAX = 1024 * 1024

/** Nobody writes more keys before the history. */
const LOOKED_AT_KEYS_MAX = 100

/** Nobody's key is longer, in bytes. */
const KEY_BYTES_MAX = 512

/** Keys read between two pauses. */
const KEYS_PER_STEP = 512

/** What is parsed of a body beside its history: numbers, a name, a choice among tools, in bytes. */
const VALUE_BYTES_MAX = 65_536

/** U+FEFF in UTF-8, a character a byte. */
const byteOrderMark = '\u00ef\u00bb\u00bf'

function lengthOf({ start, end }: Span): number {
  return end - start
}
