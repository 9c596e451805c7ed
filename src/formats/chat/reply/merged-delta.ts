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

/** Of the lists and objects that grow here, so that none of the deltas' own is changed; of lists where the element of an `index` stands. */
const places = new WeakMap<object, Map<unknown, number>>()

function grown(key: string, before: unknown, value: unknown): unknown {
  // Some servers repeat the fields of the first delta, empty.
  if (value === null || value === undefined || value === '') return before ?? value
  if (typeof value === 'string' && typeof before === 'string')
    return growing.has(key) ? before + value : value
  if (Array.isArray(value)) return grownList(Array.isArray(before) ? before : [], value)
  if (isJsonObject(value)) return grownObject(before, value)
  return value
}

function grownObject(before: unknown, value: JsonObject): Growing {
  const object: Growing = isGrowing(before) ? before : {}
  places.set(object, places.get(object) ?? new Map())
  addDelta(object, value)
  return object
}

/** Elements of the same `index` are pieces of one, but for those that come together. */
function grownList(list: unknown[], elements: readonly unknown[]): unknown[] {
  const known = places.get(list) ?? new Map<unknown, number>()
  places.set(list, known)
  const before = list.length
  for (const element of elements) {
    if (!isJsonObject(element)) {
      list.push(element)
      continue
    }
    const { index } = element
    const at = index === undefined ? undefined : known.get(index)
    if (at === undefined) list.push(grownObject(undefined, element))
    else grownObject(list[at], element)
  }
  for (let at = before; at < list.length; at += 1) {
    const element = list[at]
    const index = isJsonObject(element) ? element['index'] : undefined
    if (index !== undefined && !known.has(index)) known.set(index, at)
  }
  return list
}

function isGrowing(value: unknown): value is Growing {
  return isJsonObject(value) && places.has(value)
}
