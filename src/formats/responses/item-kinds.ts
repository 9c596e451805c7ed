import { isJsonObject, type JsonObject } from '../../json/json-value.ts'

/**
 * What an item of a Responses input is, by its type:
 *
 * - `message`: somebody's words.
 * - `thought`: reasoning, which belongs to what the model did next.
 * - `call`, `result`: a call that the client answers, and its answer.
 * - `done`: what the server did in the course of a reply, without the client: a search, a run of code, an MCP call.
 * - `setting`: tools or parameters that are in force from there on.
 * - `start`: the server's own compaction, behind which the history begins anew.
 * - `order`: it asks for such a compaction.
 * - `reference`: it names an item that only the server has.
 * - `unknown`: of a type made up after this was written.
 */
export type ItemKind =
  | 'message'
  | 'thought'
  | 'call'
  | 'result'
  | 'done'
  | 'setting'
  | 'start'
  | 'order'
  | 'reference'
  | 'unknown'

/** The kind of a parsed item. Messages may leave their type out, and so may references, which have nothing but an id. */
export function kindOf(item: JsonObject): ItemKind {
  const type = item['type'] ?? null
  if (type === null)
    return typeof item['role'] === 'string' ? 'message' : isReference(item) ? 'reference' : 'unknown'
  if (typeof type !== 'string') return 'unknown'
  // A search for tools is the client's to answer only if it says so; one that the server has done needs no pair.
  if (type === 'tool_search_call' && item['execution'] === 'client') return 'call'
  if (type === 'tool_search_output' && item['execution'] === 'client') return 'result'
  return Object.hasOwn(kinds, type) ? (kinds[type] ?? 'unknown') : 'unknown'
}

/** Whether what is said of tools in an item holds for all that follows it. */
export function definesTools({ type }: JsonObject): boolean {
  return type === 'additional_tools' || type === 'tool_search_call' || type === 'tool_search_output'
}

/** Whether thoughts are such as a server has bound to what stood before them, or keeps itself: nobody else can read them. */
export function isBound(reasoning: JsonObject): boolean {
  const { encrypted_content: encrypted, content } = reasoning
  if (typeof encrypted === 'string' && encrypted !== '') return true
  const isPlain = Array.isArray(content) && content.some((part) => isJsonObject(part))
  return typeof reasoning['id'] === 'string' && !isPlain
}

// --- internal ---

const kinds: Readonly<Record<string, ItemKind>> = {
  message: 'message',
  reasoning: 'thought',
  function_call: 'call',
  custom_tool_call: 'call',
  local_shell_call: 'call',
  shell_call: 'call',
  apply_patch_call: 'call',
  computer_call: 'call',
  mcp_approval_request: 'call',
  function_call_output: 'result',
  custom_tool_call_output: 'result',
  local_shell_call_output: 'result',
  shell_call_output: 'result',
  apply_patch_call_output: 'result',
  computer_call_output: 'result',
  mcp_approval_response: 'result',
  web_search_call: 'done',
  file_search_call: 'done',
  code_interpreter_call: 'done',
  image_generation_call: 'done',
  mcp_list_tools: 'done',
  mcp_call: 'done',
  program: 'done',
  program_output: 'done',
  tool_search_call: 'done',
  tool_search_output: 'done',
  additional_tools: 'setting',
  configuration_update: 'setting',
  compaction: 'start',
  compaction_trigger: 'order',
  item_reference: 'reference',
}

function isReference(item: JsonObject): boolean {
  return typeof item['id'] === 'string' && Object.keys(item).every((key) => key === 'id' || key === 'type')
}
