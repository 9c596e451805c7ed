import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import { callIdOf, outputTypeOf, typeOf, type WireItem, textTypeOf } from './wire-item.ts'

export type ItemRule =
  | 'item-shape'
  | 'call-unanswered'
  | 'output-orphan'
  | 'reasoning-alone'
  | 'reasoning-missing'
  | 'update-repeated'
  | 'trigger-not-last'

/** A rule that a list of items breaks, in OpenAI's words. */
export type ItemBreak = {
  readonly rule: ItemRule
  /** Index of the item at which it shows. */
  readonly index: number
  readonly message: string
  readonly param: string
  readonly code: string | null
}

/** What an upstream knows of an item that it has made. */
export type IssuedItem = {
  /** Names the reply that it was part of. */
  readonly reply: string
  /** The reasoning that led to it; null where there was none. */
  readonly reasoningId: string | null
}

/** What an upstream knows of the items that it has made, by their ids. */
export type Issued = { get(id: string): IssuedItem | undefined }

/** Every rule that the items break, in their order; none for a valid conversation. */
export function itemBreaks(items: readonly unknown[], issued: Issued): readonly ItemBreak[] {
  const breaks: ItemBreak[] = []
  const read = items.map((item, index): WireItem => {
    const broken = shapeBreak(item, index)
    if (broken !== null) breaks.push({ rule: 'item-shape', index, ...broken })
    return isObject(item) ? item : {}
  })
  breaks.push(...pairBreaks(read), ...groupBreaks(read, issued), ...placeBreaks(read))
  return breaks.toSorted((left, right) => left.index - right.index)
}

type ShapeBreak = { readonly message: string; readonly param: string; readonly code: string | null }

/** What is wrong with an item by itself; null if nothing is. Items of unknown types are taken as they are. */
function shapeBreak(item: unknown, index: number): ShapeBreak | null {
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

/** What ends a group of reasoning and what followed from it. */
const closing: ReadonlySet<string> = new Set([
  ...outputTypeOf.values(),
  'reasoning',
  'configuration_update',
  'additional_tools',
  'compaction',
  'compaction_trigger',
])

/** Whether an item is the model's own: what reasoning leads to. An unknown one belongs to what came before it. */
function isOfModel(item: WireItem): boolean {
  const type = typeOf(item)
  return type === 'message' ? item['role'] === 'assistant' : !closing.has(type)
}

/** The type of the call that an output of a type answers. */
const callTypeOf: ReadonlyMap<string, string> = new Map(
  [...outputTypeOf].map(([call, output]) => [output, call]),
)

const wordsOf = (callType: string): string =>
  callType === 'mcp_approval_request' ? 'MCP approval request' : callType.replaceAll('_', ' ')

/** Every call is answered later, every output answers an earlier call; ids repeat in the wild, so places count. */
function pairBreaks(items: readonly WireItem[]): readonly ItemBreak[] {
  const breaks: ItemBreak[] = []
  const open = new Map<string, number[]>()
  const broken = (rule: ItemRule, index: number, message: string) =>
    breaks.push({ rule, index, message, param: 'input', code: null })
  for (const [index, item] of items.entries()) {
    const type = typeOf(item)
    if (type.startsWith('tool_search') && item['call_id'] == null) continue
    if (outputTypeOf.has(type)) {
      const key = `${type} ${callIdOf(item)}`
      open.set(key, [...(open.get(key) ?? []), index])
    }
    const callType = callTypeOf.get(type)
    if (callType === undefined) continue
    const asked = open.get(`${callType} ${callIdOf(item)}`)?.shift()
    const named = `${wordsOf(callType)} output with call_id ${callIdOf(item)}`
    if (asked === undefined) broken('output-orphan', index, `No tool call found for ${named}.`)
  }
  for (const index of [...open.values()].flat()) {
    const item = items[index] ?? {}
    const named = `${wordsOf(typeOf(item))} ${callIdOf(item)}`
    broken('call-unanswered', index, `No tool output found for ${named}.`)
  }
  return breaks
}

/** Reasoning goes with what followed from it, and the other way round. */
function groupBreaks(items: readonly WireItem[], issued: Issued): readonly ItemBreak[] {
  const breaks: ItemBreak[] = []
  const ids = new Set<string>()
  let unfollowed: { readonly item: WireItem; readonly index: number } | null = null
  const broken = (rule: ItemRule, index: number, message: string) =>
    breaks.push({ rule, index, message, param: 'input', code: null })
  const leaveUnfollowed = () => {
    if (unfollowed === null) return
    const id = textOf(unfollowed.item['id'])
    const alone = `Item '${id}' of type 'reasoning' was provided without its required following item.`
    broken('reasoning-alone', unfollowed.index, alone)
    unfollowed = null
  }
  for (const [index, item] of items.entries()) {
    const id = textOf(item['id'])
    if (typeOf(item) === 'reasoning') {
      const before = unfollowed === null ? undefined : issued.get(textOf(unfollowed.item['id']))
      const reply = issued.get(id)?.reply
      if (before !== undefined && reply !== undefined && before.reply !== reply) leaveUnfollowed()
      unfollowed = { item, index }
      ids.add(id)
    } else if (isOfModel(item)) {
      unfollowed = null
      const required = issued.get(id)?.reasoningId ?? null
      const named = `Item '${id}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${required}'.`
      if (required !== null && !ids.has(required)) broken('reasoning-missing', index, named)
    } else {
      leaveUnfollowed()
      ids.clear()
    }
  }
  leaveUnfollowed()
  return breaks
}

const placeBreaks = (items: readonly WireItem[]): readonly ItemBreak[] =>
  items.flatMap((item, index): readonly ItemBreak[] => {
    const broken = (rule: ItemRule, message: string) => [
      { rule, index, message, param: `input[${index}]`, code: 'invalid_value' },
    ]
    const type = typeOf(item)
    if (type === 'compaction_trigger' && index < items.length - 1) {
      return broken(
        'trigger-not-last',
        `Invalid 'input[${index}]': 'compaction_trigger' must be the last item.`,
      )
    }
    const previous = items[index - 1]
    if (type !== 'configuration_update' || previous === undefined || typeOf(previous) !== type) return []
    const repeated = `Invalid 'input[${index}]': a 'configuration_update' may not follow another.`
    return broken('update-repeated', repeated)
  })

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

const invalidType = (param: string, expected: string): ShapeBreak => ({
  message: `Invalid type for '${param}': expected ${expected}.`,
  param,
  code: 'invalid_type',
})

function invalidValue(param: string, value: unknown, known: readonly string[]): ShapeBreak {
  const supported = known.map((one) => `'${one}'`).join(', ')
  const message = `Invalid value: '${textOf(value)}'. Supported values are: ${supported}.`
  return { message, param, code: 'invalid_value' }
}

const missing = (param: string): ShapeBreak => ({
  message: `Missing required parameter: '${param}'.`,
  param,
  code: 'missing_required_parameter',
})
