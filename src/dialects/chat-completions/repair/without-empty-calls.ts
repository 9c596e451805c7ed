import { scanObject } from '../../../conversation/json-scan.ts'
import { contentIn, valueText, withContent } from '../joined-content.ts'

/**
 * An assistant message, given as JSON, without its empty list of calls. With no calls it has to say something: where
 * it has no content, and nothing that stands for one, it gets an empty one.
 */
export function withoutEmptyCalls(message: string): string {
  const entries = scanObject(message, 0)?.entries ?? []
  const at = entries.findIndex(({ key }) => JSON.parse(message.slice(key.start, key.end)) === 'tool_calls')
  const list = entries[at]
  const next = entries[at + 1]
  const previous = entries[at - 1]
  if (list === undefined) return message
  // The role is another entry, so that there is always one before it or behind it.
  const start = previous?.value.end ?? list.key.start
  const end = previous === undefined ? (next?.key.start ?? list.value.end) : list.value.end
  const left = message.slice(0, start) + message.slice(end)
  return contentIn(left) === null && standingForContent.every((key) => isAbsent(left, key))
    ? withContent(left, '""')
    : left
}

// --- internal ---

const standingForContent = ['content', 'function_call', 'refusal', 'audio']

function isAbsent(message: string, key: string): boolean {
  const value = valueText(message, key)
  return value === null || value === 'null'
}
