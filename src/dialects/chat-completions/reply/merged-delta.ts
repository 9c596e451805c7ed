import { isJsonObject, type JsonObject } from '../../../conversation/json-value.ts'

/** What a message's deltas add up to. Values of texts grow; every other value is the last that was stated. */
export function mergedDelta(message: JsonObject, delta: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...message }
  for (const [key, value] of Object.entries(delta)) {
    // Calls are told apart by rules of their own.
    if (key !== 'tool_calls') merged[key] = mergedValue(key, merged[key], value)
  }
  return merged
}

// --- internal ---

/** The texts that come in pieces. Names, ids and signatures come whole. */
const growing: ReadonlySet<string> = new Set([
  'arguments',
  'content',
  'data',
  'input',
  'reasoning',
  'reasoning_content',
  'refusal',
  'summary',
  'text',
  'thinking',
])

function mergedValue(key: string, before: unknown, value: unknown): unknown {
  // Some servers repeat the fields of the first delta, empty.
  if (value === null || value === undefined || value === '') return before ?? value
  if (typeof value === 'string' && typeof before === 'string')
    return growing.has(key) ? before + value : value
  if (Array.isArray(value) && Array.isArray(before)) return mergedList(before, value)
  if (isJsonObject(value) && isJsonObject(before)) return mergedDelta(before, value)
  return value
}

/** Elements of the same `index` are pieces of one. */
function mergedList(before: readonly unknown[], list: readonly unknown[]): readonly unknown[] {
  const merged = [...before]
  for (const element of list) {
    const index = isJsonObject(element) ? element['index'] : undefined
    const at =
      index === undefined ? -1 : merged.findIndex((known) => isJsonObject(known) && known['index'] === index)
    const known = merged[at]
    if (isJsonObject(known) && isJsonObject(element)) merged[at] = mergedDelta(known, element)
    else merged.push(element)
  }
  return merged
}
