import { endOfAnyValue, scanObject, skipWhitespace } from '../json/json-scan.ts'
import { scanBody } from '../json/body-scan.ts'
import type {
  BodyLimits,
  BodyMember,
  BodyScan,
  HistoryKeys,
  KnownHistory,
  ValueSpan,
} from '../json/body-spans.ts'
import { isJsonObject, parseJson, readKey } from '../json/json-value.ts'
import type { Source, Span, Steps } from '../json/source.ts'
import type { BodyEdit, BodyFacts, NotRead, NotReadReason, OutputLimit } from './contract.ts'

/** The members of a body by their names, and the values of those that are read. */
export type BodyMembers = Pick<BodyScan, 'history'> & {
  readonly read: true
  readonly members: readonly BodyMember[]
  readonly spans: ReadonlyMap<string, ValueSpan>
  readonly values: ReadonlyMap<string, unknown>
}

/** Scans a body and parses what stands under `readNames`: every other value only has to be JSON. */
export function* readMembers(
  source: Source,
  history: HistoryKeys,
  readNames: ReadonlySet<string>,
  limits: BodyLimits,
  known: KnownHistory | null,
): Steps<BodyMembers | NotRead> {
  if (source.latin1(0, byteOrderMark.length) === byteOrderMark) return notRead('bom')
  const body = yield* scanBody(source, history, known, limits)
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
  return { read: true, members: body.entries, history: body.history, spans, values }
}

/**
 * Where the bracket of the history stands under this key of a body, as far as its beginning tells; null where it is not within the first
 * megabyte and hundred keys. Never throws.
 */
export function findHistory(source: Source, name: string): number | null {
  for (let length = LOOKED_AT_BYTES; length <= LOOKED_AT_BYTES_MAX; length *= GROWTH) {
    const text = source.latin1(0, Math.min(length, source.length))
    let found: number | null = null
    let keys = 0
    scanObject(text, skipWhitespace(text, 0), function endBeforeHistory(_, start, key) {
      keys += 1
      if (keys > LOOKED_AT_KEYS_MAX) return -1
      if (readKey(source, key) !== name) return endOfAnyValue(text, start)
      found = text.charAt(start) === '[' ? start : null
      return -1
    })
    if (found !== null || keys > LOOKED_AT_KEYS_MAX || length >= source.length) return found
  }
  return null
}

/** What every dialect states in the same members: the model, and whether the answer is a stream. */
export function sharedFacts(
  source: Source,
  { spans, values, members }: BodyMembers,
): Pick<BodyFacts, 'model' | 'modelPlace' | 'fieldNames' | 'isStreamed' | 'withoutStreaming'> {
  const model = values.get('model')
  const isStreamed = values.get('stream') === true
  return {
    model: typeof model === 'string' ? model : null,
    // Where the name stands, or can be put in.
    modelPlace: spans.get('model') ?? emptySpan(members[0]?.key.start ?? 1),
    fieldNames: [...spans.keys()],
    isStreamed,
    withoutStreaming: isStreamed ? withoutStreamingOf(source, spans, members) : null,
  }
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
  return span !== undefined && source.latin1(span.start, span.start + 1) === opening ? span : null
}

export function notRead(reason: NotReadReason): NotRead {
  return { read: false, reason }
}

/** The limit of the output that stands under this name. */
export function outputLimitOf(
  name: string,
  { spans, values }: Pick<BodyMembers, 'spans' | 'values'>,
): OutputLimit | null {
  const value = spans.get(name)
  const tokens = positiveInteger(values.get(name))
  return value === undefined || tokens === null ? null : { field: name, tokens, value }
}

/** Whether a choice among tools leaves none out: a named function is forced, and a list of allowed tools says so in its mode. */
export function isForced(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice === 'required' || choice === 'any'
  if (choice['type'] !== 'allowed_tools') return true
  const allowed = choice['allowed_tools']
  return (isJsonObject(allowed) ? allowed['mode'] : choice['mode']) === 'required'
}

// --- internal ---

/** Servers refuse options of a stream beside a plain answer: they go, with one of the commas beside them. */
function withoutStreamingOf(
  source: Source,
  spans: ReadonlyMap<string, ValueSpan>,
  members: readonly BodyMember[],
): readonly BodyEdit[] {
  const stream = spans.get('stream')
  if (stream === undefined) return []
  const plain = { at: { start: stream.start, end: stream.end }, text: 'false' }
  const at = members.findIndex(({ key }) => readKey(source, key) === 'stream_options')
  const [before, entry, after] = [members[at - 1], members[at], members[at + 1]]
  if (entry === undefined) return [plain]
  const options =
    before === undefined
      ? { start: entry.key.start, end: after?.key.start ?? entry.value.end }
      : { start: before.value.end, end: entry.value.end }
  return [plain, { at: options, text: '' }]
}

/** How much of a body is looked at first, in bytes: mostly the history begins there. */
const LOOKED_AT_BYTES = 16_384

/** How much more is looked at each time. */
const GROWTH = 8

/** More is not looked at in one go; tools that stand before the history take some hundred kilobytes. */
const LOOKED_AT_BYTES_MAX = LOOKED_AT_BYTES * GROWTH * GROWTH

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
