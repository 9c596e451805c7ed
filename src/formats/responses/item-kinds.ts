import { isJsonObject, type JsonObject, objectsOf, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'

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
export type ItemKind = (typeof itemKinds)[number]

const itemKinds = [
  'message',
  'thought',
  'call',
  'result',
  'done',
  'setting',
  'start',
  'order',
  'reference',
  'unknown',
] as const

/** The kind of a parsed item. Messages may leave their type out, and so may references, which have nothing but an id. */
export function kindOf(item: JsonObject): ItemKind {
  const type = item['type'] ?? null
  if (type === null)
    return typeof item['role'] === 'string' ? 'message' : isReference(item) ? 'reference' : 'unknown'
  if (typeof type !== 'string') return 'unknown'
  // A search for tools is the client's to answer only if it says so; one that the server has done needs no pair.
  if (type === 'tool_search_call' && item['execution'] === 'client') return 'call'
  if (type === 'tool_search_output' && item['execution'] === 'client') return 'result'
  return kinds.get(type) ?? 'unknown'
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

/** Where the arguments of a call stand, by the type of its item, and what it is called if it has no name. */
type CallForm = { readonly argumentsKey: string; readonly name: string }

/** The forms of calls that a client answers. */
export const callForms: Readonly<Record<string, CallForm>> = {
  function_call: { argumentsKey: 'arguments', name: '' },
  custom_tool_call: { argumentsKey: 'input', name: '' },
  local_shell_call: { argumentsKey: 'action', name: 'local_shell' },
  shell_call: { argumentsKey: 'action', name: 'shell' },
  apply_patch_call: { argumentsKey: 'operation', name: 'apply_patch' },
  computer_call: { argumentsKey: 'action', name: 'computer' },
  tool_search_call: { argumentsKey: 'arguments', name: 'tool_search' },
  mcp_approval_request: { argumentsKey: 'arguments', name: '' },
}

/** The call of a parsed item; null if its arguments are nested too deep to be written. */
export function readCall(item: JsonObject): ParsedMessage['calls'][number] | null {
  const { argumentsKey, name } = callForms[stringOr(item['type'], '')] ?? {
    argumentsKey: 'arguments',
    name: '',
  }
  const given = item[argumentsKey] ?? item['actions'] ?? ''
  const argumentsText = typeof given === 'string' ? given : stringifyJson(given)
  if (argumentsText === null) return null
  return { id: callIdOf(item), name: stringOr(item['name'], name), argumentsText }
}

/** The id by which a call and its result find each other; '' if it has none. */
export function callIdOf(item: JsonObject): string {
  return stringOr(item['call_id'], stringOr(item['id'], ''))
}

/** The id of the call that a result answers. */
export function answeredIdOf(item: JsonObject): string {
  return stringOr(item['approval_request_id'], callIdOf(item))
}

/** The content of a message, or the output of a call as content: a text or parts. */
export function saidIn(kind: ItemKind, item: JsonObject): unknown {
  if (kind === 'message') return item['content']
  const { output } = item
  if (isShellOutput(output)) return output.flatMap(shellTexts).join('\n')
  // An answer to a request for approval says in words why, if it says anything.
  return output ?? item['reason']
}

/** Pictures that stand in an item where no text may stand: a screenshot, or what the server has made or its code has drawn. */
export function picturesBeside(item: JsonObject): readonly JsonObject[] {
  const { type, output, result } = item
  if (type === 'computer_call_output' && isJsonObject(output)) return [{ ...output, type: 'input_image' }]
  if (type === 'image_generation_call' && typeof result === 'string' && result !== '')
    return [{ type: 'image', source: { media_type: 'image/png', data: result } }]
  return drawnBy(item)
    .filter(isPicture)
    .map((picture) => ({ ...picture, type: 'input_image' }))
}

/** The same item without those pictures: what is left of it is text. */
export function withoutPictures(item: JsonObject): JsonObject {
  if (item['type'] === 'image_generation_call') return { ...item, result: null }
  const drawn = drawnBy(item)
  return drawn.some(isPicture) ? { ...item, outputs: drawn.filter((each) => !isPicture(each)) } : item
}

/** Where the server's own work says what came of it: a text, and lists of parts with a text each. */
export const foundKeys = { text: 'output', lists: ['outputs', 'results'], parts: ['logs', 'text'] } as const

/** What the server's own work came out as: what was printed, answered and found. */
export function foundBy(item: JsonObject): readonly string[] {
  const { lists, parts, text } = foundKeys
  const listed = lists.flatMap((key) => objectsOf(item[key]))
  const found = [item[text], ...listed.flatMap((each) => parts.map((key) => each[key]))]
  return found.filter((each) => typeof each === 'string')
}

/** Whether an output is what a shell printed: commands with `stdout`, `stderr` and how each ended. */
export function isShellOutput(output: unknown): output is readonly JsonObject[] {
  return (
    Array.isArray(output) &&
    output.length > 0 &&
    output.every((part: unknown) => isJsonObject(part) && typeof part['stdout'] === 'string')
  )
}

// --- internal ---

const typesOfKinds: Readonly<Partial<Record<ItemKind, string>>> = {
  message: 'message',
  thought: 'reasoning',
  call: `function_call custom_tool_call local_shell_call shell_call apply_patch_call computer_call
    mcp_approval_request`,
  result: `function_call_output custom_tool_call_output local_shell_call_output shell_call_output
    apply_patch_call_output computer_call_output mcp_approval_response`,
  done: `web_search_call file_search_call code_interpreter_call image_generation_call mcp_list_tools mcp_call
    program program_output tool_search_call tool_search_output`,
  setting: 'additional_tools configuration_update',
  start: 'compaction',
  order: 'compaction_trigger',
  reference: 'item_reference',
}

const kinds: ReadonlyMap<string, ItemKind> = new Map(
  itemKinds.flatMap((kind) => (typesOfKinds[kind] ?? '').split(/\s+/).map((type) => [type, kind] as const)),
)

function isReference(item: JsonObject): boolean {
  return typeof item['id'] === 'string' && Object.keys(item).every((key) => key === 'id' || key === 'type')
}

/** What code has printed and drawn. */
function drawnBy({ type, outputs }: JsonObject): readonly JsonObject[] {
  return type === 'code_interpreter_call' ? objectsOf(outputs) : []
}

function isPicture({ type, url }: JsonObject): boolean {
  return type === 'image' && typeof url === 'string' && url.startsWith('data:')
}

function shellTexts({ stdout, stderr }: JsonObject): readonly string[] {
  return [stringOr(stdout, ''), stringOr(stderr, '')].filter((text) => text !== '')
}
