import { memberWithComma } from '../../json/spans-in.ts'
import { scanObject, type EntrySpans } from '../../json/json-scan.ts'
import { parseJsonText } from '../../json/json-value.ts'

/**
 * An item, given as JSON, without the id by which the server demands the reasoning before it. Where its type has to have one
 * (`Missing required parameter: 'input[3].id'.`), with another id, which no server knows.
 */
export function unnamed(item: string): string {
  const fields = scanObject(item, 0)?.entries ?? []
  const at = fields.findLastIndex(({ key }) => item.slice(key.start, key.end) === '"id"')
  const field = fields[at]
  const span = memberWithComma(fields, at)
  if (field === undefined || span === null) return item
  const id = parseJsonText(item.slice(field.value.start, field.value.end))
  if (typeof id === 'string' && !isFree(item, fields))
    return item.slice(0, field.value.start) + JSON.stringify(unknownId(id)) + item.slice(field.value.end)
  return item.slice(0, span.start) + item.slice(span.end)
}

// --- internal ---

/** Types that a server takes without an id. */
const freeTypes: ReadonlySet<unknown> = new Set([
  'message',
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'tool_search_call',
])

function isFree(item: string, fields: readonly EntrySpans[]): boolean {
  const type = fields.findLast(({ key }) => item.slice(key.start, key.end) === '"type"')
  return type === undefined || freeTypes.has(parseJsonText(item.slice(type.value.start, type.value.end)))
}

/** Its first letters say of what type the item is, and servers look at them, as at its length. No server ends an id like that. */
function unknownId(id: string): string {
  return `${id.slice(0, ID_CHARACTERS_MAX - 1)}x`
}

const ID_CHARACTERS_MAX = 64
