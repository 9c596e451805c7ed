import type { Source, Span } from './source.ts'

/** A parsed JSON object of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a piece of a body; undefined where the piece is no JSON. Never throws. */
export function parseJson(source: Source, span: Span): unknown {
  return parseJsonText(source.text(span.start, span.end))
}

/** The name that stands at `key`, with its quotes; null where that is no string. Never throws. */
export function readKey(source: Source, key: Span): string | null {
  const text = source.latin1(key.start, key.end)
  if (plainKey.test(text)) return text.slice(1, -1)
  const name = parseJson(source, key)
  return typeof name === 'string' ? name : null
}

/** The value of a text; undefined where it is no JSON. Never throws. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text of a parsed value without the keys in `omitted`; null where it is nested too deep to be written. */
export function stringifyJson(value: unknown, omitted?: ReadonlySet<string>): string | null {
  try {
    const text: string | undefined = JSON.stringify(value, (key, inner: unknown) =>
      omitted?.has(key) === true ? undefined : inner,
    )
    return text ?? null
  } catch {
    return null
  }
}

/** `value` where it is a string, else `otherwise`. */
export function stringOr<Otherwise>(value: unknown, otherwise: Otherwise): string | Otherwise {
  return typeof value === 'string' ? value : otherwise
}

/** The objects of a list; none where it is no list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Whether a value says something. */
export function isPresent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isJsonObject(value)) return Object.keys(value).length > 0
  return value !== null && value !== undefined && value !== '' && value !== false
}

// --- internal ---

/** What stands for itself: nearly every key, and to be parsed costs more than all else that is done with one. */
const plainKey = /^"[\w-]*"$/
