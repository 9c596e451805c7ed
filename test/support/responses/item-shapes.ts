import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import { textTypeOf, typeOf, type WireItem } from './wire-item.ts'

type ShapeBreak = { readonly message: string; readonly param: string; readonly code: string | null }

/** What is wrong with an item by itself; null if nothing is. Items of unknown types are taken as they are. */
export function shapeBreak(item: unknown, index: number): ShapeBreak | null {
  const at = `input[${index}]`
  if (!isObject(item)) return invalidType(at, 'an object')
  const type = typeOf(item)
  if (type === '') return missing(`${at}.type`)
  const lacking = (requiredFields[type] ?? []).find((field) => item[field] === undefined)
  if (lacking !== undefined) return missing(`${at}.${lacking}`)
  for (const field of ['call_id', 'arguments', 'encrypted_content']) {
    // What tools are looked for by is any value.
    if (type === 'tool_search_call' && field === 'arguments') continue
    if (item[field] != null && typeof item[field] !== 'string')
      return invalidType(`${at}.${field}`, 'a string')
  }
  return idBreak(item, type, at) ?? (type === 'message' ? messageBreak(item, at) : outputBreak(item, at))
}

// --- internal ---

const requiredFields: Readonly<Record<string, readonly string[]>> = {
  message: ['content'],
  reasoning: ['summary'],
  function_call: ['call_id', 'name', 'arguments'],
  function_call_output: ['call_id', 'output'],
  custom_tool_call: ['call_id', 'name', 'input'],
  custom_tool_call_output: ['call_id', 'output'],
  mcp_approval_response: ['approval_request_id', 'approve'],
  compaction: ['encrypted_content'],
  item_reference: ['id'],
  computer_call: ['id'],
  web_search_call: ['id'],
  file_search_call: ['id'],
  code_interpreter_call: ['id'],
  image_generation_call: ['id'],
  mcp_list_tools: ['id'],
  mcp_call: ['id'],
  mcp_approval_request: ['id'],
  program: ['id'],
  program_output: ['id'],
}

const roles = ['user', 'assistant', 'system', 'developer']
const inputParts = ['input_text', 'input_image', 'input_file', 'input_audio']
const outputParts = ['output_text', 'refusal']
/** With which letters the ids of items begin, of types for which a client is told so. */
const idPrefixes: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', reasoning: 'rs' }

function idBreak({ id }: WireItem, type: string, at: string): ShapeBreak | null {
  const prefix = idPrefixes[type]
  if (prefix === undefined || id == null || textOf(id).startsWith(prefix)) return null
  const message = `Invalid '${at}.id': '${textOf(id)}'. Expected an ID that begins with '${prefix}'.`
  return { message, param: `${at}.id`, code: 'invalid_value' }
}

function messageBreak(item: WireItem, at: string): ShapeBreak | null {
  if (!roles.includes(textOf(item['role']))) return invalidValue(`${at}.role`, item['role'], roles)
  const known = textTypeOf(item) === 'output_text' ? outputParts : inputParts
  return contentBreak(item['content'], `${at}.content`, known)
}

function outputBreak(item: WireItem, at: string): ShapeBreak | null {
  if (item['type'] !== 'function_call_output' && item['type'] !== 'custom_tool_call_output') return null
  return contentBreak(item['output'], `${at}.output`, inputParts)
}

function contentBreak(content: unknown, at: string, known: readonly string[]): ShapeBreak | null {
  if (typeof content === 'string') return null
  if (!Array.isArray(content)) return invalidType(at, 'one of an array of objects or string')
  for (const [index, part] of (content as readonly unknown[]).entries()) {
    if (!isObject(part)) return invalidType(`${at}[${index}]`, 'an object')
    if (!known.includes(textOf(part['type'])))
      return invalidValue(`${at}[${index}].type`, part['type'], known)
  }
  return null
}

function invalidType(param: string, expected: string): ShapeBreak {
  return { message: `Invalid type for '${param}': expected ${expected}.`, param, code: 'invalid_type' }
}

function invalidValue(param: string, value: unknown, known: readonly string[]): ShapeBreak {
  const supported = known.map((one) => `'${one}'`).join(', ')
  const message = `Invalid value: '${textOf(value)}'. Supported values are: ${supported}.`
  return { message, param, code: 'invalid_value' }
}

function missing(param: string): ShapeBreak {
  return { message: `Missing required parameter: '${param}'.`, param, code: 'missing_required_parameter' }
}
