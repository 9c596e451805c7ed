import { scanArray, scanObject } from '../../json/json-scan.ts'
import type { Span } from '../../json/source.ts'
import type { TextPart } from './content-parts.ts'

/** The JSON of a content value, as it is encoded. */
export type JsonContent = { readonly kind: 'string' | 'parts'; readonly json: string }

/**
 * Several contents as one, in their order. A string where that is asked for and all of them are nothing but text,
 * with their encoding as it was; else parts, which are left as they are spelt.
 */
export function joinedContent(
  kind: JsonContent['kind'],
  contents: readonly JsonContent[],
  textPart: TextPart,
): string {
  const texts = contents.map((content) =>
    content.kind === 'string' ? [content.json] : textValues(content.json),
  )
  return kind === 'string' && texts.every((values) => values !== null)
    ? joinStrings(texts.flatMap((values) => values ?? []))
    : joinParts(contents, textPart)
}

/**
 * Users' messages, given as JSON, as one: the one at `base`, with the content of all of them in its type. Null if one of them
 * has a content that is neither text nor parts.
 */
export function joinedMessages(messages: readonly string[], base: number, textPart: TextPart): string | null {
  const contents = messages.map(contentIn)
  if (!contents.every((content) => content !== null)) return null
  return withContent(messages[base] ?? '', joinedContent(contents[base]?.kind ?? 'parts', contents, textPart))
}

/** The content of a message given as JSON; null where it has none, or one that is neither text nor parts. */
export function contentIn(message: string): JsonContent | null {
  const json = valueText(message, 'content')
  if (json?.startsWith('"')) return { kind: 'string', json }
  return json?.startsWith('[') ? { kind: 'parts', json } : null
}

/** The message, given as JSON, with this content; everything else in it is left as it is spelt. */
export function withContent(message: string, content: string): string {
  return withValue(message, 'content', content)
}

/** An object, given as JSON, with this value under this key; everything else in it is left as it is spelt. */
export function withValue(json: string, key: string, value: string): string {
  const old = valueSpan(json, key)
  if (old !== null) return json.slice(0, old.start) + value + json.slice(old.end)
  const last = entriesOf(json).at(-1)
  if (last === undefined) return json
  return `${json.slice(0, last.value.end)},${JSON.stringify(key)}:${value}${json.slice(last.value.end)}`
}

/** An object, given as JSON, without what stands under these keys; everything else in it is left as it is spelt. */
export function withoutMembers(json: string, keys: ReadonlySet<string>): string {
  const entries = entriesOf(json)
  const left = entries.filter(({ key }) => !keys.has(keyIn(json, key)))
  if (left.length === entries.length) return json
  return `{${left.map(({ key, value }) => json.slice(key.start, value.end)).join(',')}}`
}

/** A list, given as JSON, without some of its elements, which are left as they are spelt. */
export function withoutParts(json: string, isLeftOut: (position: number) => boolean): string {
  const parts = partsOf(json)
  const left = parts.filter((_, position) => !isLeftOut(position))
  return left.length === parts.length ? json : `[${left.join(',')}]`
}

/** The JSON of an object's value under this key, as it is encoded; null where it has none. */
export function valueText(json: string, key: string): string | null {
  const value = valueSpan(json, key)
  return value === null ? null : json.slice(value.start, value.end)
}

// --- internal ---

// The scanner works on any text; offsets are characters here, since the text is in hand already.

/** The texts of a content array as they are encoded; null where it holds more than text. */
function textValues(json: string): string[] | null {
  const values = partsOf(json).map((part) => valueText(part, 'text'))
  return values.every((value) => value?.startsWith('"')) ? values.flatMap((value) => value ?? []) : null
}

function partsOf(json: string): string[] {
  return (scanArray(json, 0)?.elements ?? []).map((part) => json.slice(part.start, part.end))
}

function entriesOf(json: string): readonly { readonly key: Span; readonly value: Span }[] {
  return scanObject(json, 0)?.entries ?? []
}

function valueSpan(json: string, key: string): Span | null {
  return entriesOf(json).findLast((entry) => keyIn(json, entry.key) === key)?.value ?? null
}

function keyIn(json: string, { start, end }: Span): string {
  const key: unknown = JSON.parse(json.slice(start, end))
  return typeof key === 'string' ? key : ''
}

function joinStrings(values: readonly string[]): string {
  return `"${values.map((value) => value.slice(1, -1)).join(String.raw`\n\n`)}"`
}

function joinParts(contents: readonly JsonContent[], textPart: TextPart): string {
  const parts = contents.flatMap((content) =>
    content.kind === 'string' ? [textPart(content.json)] : partsOf(content.json),
  )
  return `[${parts.join(',')}]`
}
