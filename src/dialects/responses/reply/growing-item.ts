import { isJsonObject, stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import { messageParts } from './output.ts'

/** An item of an output as it is after an event that writes it. What an event does not write stays. */
export function grownItem(item: JsonObject, type: string, event: JsonObject): JsonObject {
  const { delta, part } = event
  switch (type) {
    case 'response.output_item.done':
      return isJsonObject(event['item']) ? event['item'] : item
    case 'response.content_part.added':
    case 'response.content_part.done':
      return isJsonObject(part) ? withPart(item, event, () => part) : item
    case 'response.output_text.delta':
      return withPart(item, event, (before) =>
        grownPart({ type: 'output_text', annotations: [], ...before }, 'text', delta),
      )
    case 'response.output_text.done':
      return withPart(item, event, (before) => ({
        type: 'output_text',
        annotations: [],
        ...before,
        text: event['text'],
      }))
    case 'response.refusal.delta':
      return withPart(item, event, (before) => grownPart({ type: 'refusal', ...before }, 'refusal', delta))
    case 'response.function_call_arguments.delta':
      return grownPart(item, 'arguments', delta)
    case 'response.function_call_arguments.done':
      return { ...item, arguments: event['arguments'] ?? item['arguments'] }
    case 'response.custom_tool_call_input.delta':
      return grownPart(item, 'input', delta)
    case 'response.custom_tool_call_input.done':
      return { ...item, input: event['input'] ?? item['input'] }
    default:
      return item
  }
}

/** Which part of its item an event is about. */
export function partIndexOf(event: JsonObject): number {
  const index = event['content_index']
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : 0
}

// --- internal ---

function grownPart(object: JsonObject, key: string, delta: unknown): JsonObject {
  return { ...object, [key]: stringOr(object[key], '') + stringOr(delta, '') }
}

function withPart(
  item: JsonObject,
  event: JsonObject,
  grown: (part: JsonObject | undefined) => JsonObject,
): JsonObject {
  const parts = [...messageParts(item)]
  // An index beyond the parts is that of a new one.
  const at = Math.min(partIndexOf(event), parts.length)
  parts[at] = grown(parts[at])
  return { ...item, content: parts }
}
