import { isObject, textOf, valueDigest } from '../strict-upstream/wire-message.ts'

/**
 * An item as the Responses upstream sees it: a JSON object of which nothing is trusted. It is read here anew, and
 * not with the readers of `src/formats`, because this side judges what those produce.
 */
export type WireItem = Readonly<Record<string, unknown>>

/** The type of an item. One without a type and with a role is a message; `item_reference` may lack its type too. */
export function typeOf(item: WireItem): string {
  if (typeof item['type'] === 'string') return item['type']
  if (item['role'] !== undefined) return 'message'
  return typeof item['id'] === 'string' ? 'item_reference' : ''
}

/** The items of `input`; a string is a message of the user's. */
export function itemsOf(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input : []
}

/** Content in parts: a string is one part, of the type that fits its role. */
export function partsOf(content: unknown, textType: 'input_text' | 'output_text'): readonly WireItem[] {
  if (typeof content === 'string') return [{ type: textType, text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** The type that the texts of a message have. */
export const textTypeOf = (message: WireItem): 'input_text' | 'output_text' =>
  message['role'] === 'assistant' ? 'output_text' : 'input_text'

/** What pairs a call with its output. */
export const callIdOf = (item: WireItem): string =>
  textOf(item['call_id'] ?? item['approval_request_id'] ?? item['id'])

/** The calls that a client answers: the type of the output that it does so with, and how errors speak of it. */
export const outputTypeOf: ReadonlyMap<string, string> = new Map([
  ['function_call', 'function_call_output'],
  ['custom_tool_call', 'custom_tool_call_output'],
  ['local_shell_call', 'local_shell_call_output'],
  ['shell_call', 'shell_call_output'],
  ['apply_patch_call', 'apply_patch_call_output'],
  ['computer_call', 'computer_call_output'],
  ['tool_search_call', 'tool_search_output'],
  ['program', 'program_output'],
  ['mcp_approval_request', 'mcp_approval_response'],
])

/** Codex writes down here when and why an item was made. */
export const BOOKKEEPING = 'internal_chat_message_metadata_passthrough'

/**
 * A digest of what an item tells the model: the same for every spelling of the JSON, and whatever the item's id, status
 * and bookkeeping are. Of reasoning only the encrypted content reaches the model.
 */
export function meaningOf(item: WireItem): string {
  const known = meanings.get(item) ?? seenDigest(itemMeaning(item))
  meanings.set(item, known)
  return known
}

/** A digest of what the model notices of a value. */
export const seenDigest = (value: unknown): string =>
  valueDigest(value, (name) => name !== BOOKKEEPING && !UNSEEN.has(name))

/** Each item of a request is asked for several times. */
const meanings = new WeakMap<WireItem, string>()

/** What a client may add or leave out of an item without the model's noticing. */
const UNSEEN = new Set(['id', 'status', 'annotations', 'logprobs', 'prompt_cache_breakpoint'])

function itemMeaning(item: WireItem): WireItem {
  const type = typeOf(item)
  if (type === 'reasoning') return { type, sealed: item['encrypted_content'], content: item['content'] }
  if (type === 'message') return { ...item, type, content: partsOf(item['content'], textTypeOf(item)) }
  const { output } = item
  return typeof output === 'string' ? { ...item, output: partsOf(output, 'input_text') } : item
}
