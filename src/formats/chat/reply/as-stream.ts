import { isJsonObject, type JsonObject } from '../../../json/json-value.ts'
import { writeEvent } from '../../typed-events.ts'

/**
 * The events that say what a plain answer says: one chunk with the message of each choice, one with its reason to end, the usage
 * where it is stated.
 */
export function chatEvents({ choices, usage, ...about }: JsonObject): readonly (string | null)[] {
  const answered = Array.isArray(choices) ? choices.filter(isJsonObject) : []
  const chunk = (more: JsonObject): string | null =>
    writeEvent('', { ...about, object: 'chat.completion.chunk', ...more })
  return [
    ...answered.map((choice) => chunk({ choices: [messageOf(choice)] })),
    ...answered.map(({ index, finish_reason: reason }) =>
      chunk({ choices: [{ index, delta: {}, finish_reason: reason ?? null }] }),
    ),
    ...(isJsonObject(usage) ? [chunk({ choices: [], usage })] : []),
    'data: [DONE]\n\n',
  ]
}

// --- internal ---

/** A choice whose message is one delta; calls are numbered, as those of a stream are. */
function messageOf({ message, ...choice }: JsonObject): JsonObject {
  const said = isJsonObject(message) ? message : {}
  const calls = said['tool_calls']
  const numbered = Array.isArray(calls)
    ? { tool_calls: calls.map((call, index) => (isJsonObject(call) ? { index, ...call } : call)) }
    : {}
  return { ...choice, delta: { role: 'assistant', ...said, ...numbered }, finish_reason: null }
}
