import { isJsonObject, parseJsonText, type JsonObject } from '../../conversation/json-value.ts'

/**
 * System messages as the one that says what is left of them in the end: the API takes no two in a row. What is added and taken
 * away again, or the other way round, is not said; null where nothing is left.
 */
export function joinedSystems(entries: readonly string[]): string | null {
  const messages = entries.map(parseJsonText).filter(isJsonObject)
  const blocks = messages.flatMap(({ content }) => blocksIn(content))
  const changes = new Map<string, JsonObject>()
  for (const block of blocks) {
    const tool = changedTool(block)
    if (tool === null) continue
    const before = changes.get(tool)
    if (before === undefined) changes.set(tool, block)
    else if (before['type'] !== block['type']) changes.delete(tool)
  }
  const standing = new Set<unknown>(changes.values())
  const content = blocks.filter((block) => changedTool(block) === null || standing.has(block))
  if (content.length === 0) return null
  return JSON.stringify(Object.assign({}, ...messages, { content }))
}

// --- internal ---

function blocksIn(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isJsonObject) : []
}

/** Which tool a block adds or takes away; null for any other block. */
function changedTool({ type, tool }: JsonObject): string | null {
  if (type !== 'tool_addition' && type !== 'tool_removal') return null
  const name = isJsonObject(tool) ? (tool['name'] ?? tool['tool_name']) : undefined
  return typeof name === 'string' ? name : JSON.stringify(tool)
}
