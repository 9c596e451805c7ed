import { isJsonObject, type JsonObject, objectsOf } from '../json/json-value.ts'
import type { RecallTool } from './contract.ts'

/** The names that the tools of a list take, whatever their kind. Tools may hold others. */
export function toolNamesIn(tools: unknown): readonly string[] {
  const names: string[] = []
  function add(list: unknown): void {
    for (const tool of objectsOf(list)) {
      for (const { name } of objectsOf([tool, tool['function'], tool['custom']]))
        if (typeof name === 'string') names.push(name)
      add(tool['tools'])
    }
  }
  add(tools)
  return names
}

/** A tool as chats have it: without `strict`, which servers want of all tools or of none. */
export function functionTool({ name, description, properties }: RecallTool): JsonObject {
  return {
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties } },
  }
}

/**
 * The tools of a list that the model is shown: those whose loading is deferred are not, until the history has named them.
 * Tools may hold others.
 */
export function shownTools(tools: unknown, named: ReadonlySet<string>): unknown {
  if (!Array.isArray(tools)) return tools
  return tools
    .filter((tool) => !isDeferred(tool, named))
    .map((tool: unknown) =>
      isJsonObject(tool) && Array.isArray(tool['tools'])
        ? { ...tool, tools: shownTools(tool['tools'], named) }
        : tool,
    )
}

/** The names of tools that an entry puts into force or, behind a `-`, takes out of it, in their order. */
export function namedTools(entry: JsonObject): readonly string[] {
  const names: string[] = []
  look(entry, '', 0, names)
  return names
}

/** Which tools are in force in the end, by what a history has named one after the other. */
export function toolsInForce(named: Iterable<string>): ReadonlySet<string> {
  const inForce = new Set<string>()
  for (const name of named)
    if (name.startsWith('-')) inForce.delete(name.slice(1))
    else inForce.add(name)
  return inForce
}

// --- internal ---

/** A reference stands in a list of a result's content at most. */
const DEPTH_MAX = 4

function isDeferred(tool: unknown, named: ReadonlySet<string>): boolean {
  if (!isJsonObject(tool) || tool['defer_loading'] !== true) return false
  const { name } = tool
  return typeof name !== 'string' || !named.has(name)
}

function look(value: unknown, mark: string, depth: number, into: string[]): void {
  if (depth > DEPTH_MAX) return
  if (Array.isArray(value)) {
    for (const each of value) look(each, mark, depth + 1, into)
    return
  }
  if (!isJsonObject(value)) return
  const { type, tool_name: toolName, name = toolName } = value
  if (type === 'tool_reference' && typeof name === 'string') into.push(mark + name)
  const marked = type === 'tool_removal' ? '-' : mark
  for (const field of ['content', 'tool', 'tool_references']) look(value[field], marked, depth + 1, into)
}
