import { isJsonObject, type JsonObject } from '../json/json-value.ts'

/**
 * The usage of a reply that took several requests: every number that either states, added up, in groups of any depth, and lists
 * joined. What is neither is the later one's.
 */
export function addUsage(before: JsonObject | null, usage: JsonObject): JsonObject {
  if (before === null) return usage
  const sum: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(usage)) {
    const earlier = before[key]
    if (typeof value === 'number' && typeof earlier === 'number') sum[key] = earlier + value
    else if (isJsonObject(value) && isJsonObject(earlier)) sum[key] = addUsage(earlier, value)
    else if (Array.isArray(value) && Array.isArray(earlier)) sum[key] = [...earlier, ...value] as unknown[]
    else if (value !== null || earlier === undefined) sum[key] = value
  }
  return sum
}
