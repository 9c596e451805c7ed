import { isJsonObject, type JsonObject } from '../../../json/json-value.ts'

/** A message, or a part of it, to which deltas are added. */
export type Growing = Record<string, unknown>

/**
 * Adds a delta to what the ones before add up to. Values of texts grow; every other value is the last that was stated. What
 * one takes does not depend on how many there were.
 */
export function addDelta(message: Growing, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    // Calls are told apart by rules of their own.
    if (key !== 'tool_calls') message[key] = grown(key, message[key], value)
  }
}

/** What the two of them add up to; neither is changed. */
export function mergedDelta(message: JsonObject, delta: JsonObject): JsonObject {
  const merged: Growing = {}
  addDelta(merged, message)
  addDelta(merged, delta)
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

function grown(key: string, before: unknown, value: unknown): unknown {
  // Some servers repeat the fields of the first delta, empty.
  if (value === null || value === undefined || value === '') return before ?? value
  if (typeof value === 'string' && typeof before === 'string')
    return growing.has(key) ? before + value : value
  if (Array.isArray(value)) return grownList(Array.isArray(before) ? before : [], value)
  return isJsonObject(value) ? grownObject(before, value) : value
}

/** What grows was made here: none of the deltas' own values is changed. */
function grownObject(before: unknown, value: JsonObject): Growing {
  const object: Growing = isJsonObject(before) ? before : {}
  addDelta(object, value)
  return object
}

/** Elements of the same `index` are pieces of one, but for those that come together. */
function grownList(list: unknown[], elements: readonly unknown[]): unknown[] {
  const latest = list.slice(-LATEST_ELEMENTS).filter(isJsonObject)
  for (const element of elements) {
    const { index } = isJsonObject(element) ? element : {}
    const known = index === undefined ? undefined : latest.find((each) => each['index'] === index)
    if (!isJsonObject(element)) list.push(element)
    else if (known === undefined) list.push(grownObject(undefined, element))
    else grownObject(known, element)
  }
  return list
}

/** A piece is one of these: no model writes at more of them at a time. */
const LATEST_ELEMENTS = 16
