import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import { isThinking, typeOf, type WireBlock } from './wire-block.ts'

/** What is wrong with an entry of `messages` by itself, with where it is; null if nothing is. Unknown blocks are taken as they are. */
export function messageShapeBreak(message: unknown, index: number): string | null {
  const at = `messages.${index}`
  if (!isObject(message)) return `${at}: Input should be an object`
  const role = textOf(message['role'])
  if (!roles.has(role)) return `${at}.role: Input should be 'user', 'assistant' or 'system'`
  const { content } = message
  if (content === undefined) return `${at}.content: Field required`
  if (typeof content !== 'string' && !Array.isArray(content))
    return `${at}.content: Input should be a valid string or a valid list`
  if (content.length === 0)
    return `${at}: all messages must have non-empty content except for the optional final assistant message`
  if (typeof content === 'string') return textBreak(content, 'messages')
  for (const [place, block] of (content as readonly unknown[]).entries()) {
    const broken = blockBreak(block, role, `${at}.content.${place}`)
    if (broken !== null) return broken
  }
  return null
}

/** The same for `system`. */
export function systemBreak(system: unknown): string | null {
  if (system === undefined || typeof system === 'string') return null
  if (!Array.isArray(system)) return 'system: Input should be a valid string or a valid list'
  for (const [place, block] of (system as readonly unknown[]).entries()) {
    if (!isObject(block) || typeOf(block) !== 'text') return `system.${place}.type: Input should be 'text'`
    if (textOf(block['text']) === '') return 'system: text content blocks must be non-empty'
  }
  return null
}

// --- internal ---

const roles = new Set(['user', 'assistant', 'system'])

/** Which members a block has to have, by its type. */
const requiredMembers: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['source'],
  document: ['source'],
  tool_use: ['id', 'name', 'input'],
  tool_result: ['tool_use_id'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
}

const roleOf: Readonly<Record<string, string>> = {
  tool_use: 'assistant',
  thinking: 'assistant',
  redacted_thinking: 'assistant',
  compaction: 'assistant',
  tool_result: 'user',
}

function blockBreak(block: unknown, role: string, at: string): string | null {
  if (!isObject(block)) return `${at}: Input should be an object`
  const type = typeOf(block)
  if (type === '') return `${at}.type: Field required`
  const lacking = (requiredMembers[type] ?? []).find((name) => block[name] === undefined)
  if (lacking !== undefined) return `${at}.${type}.${lacking}: Field required`
  if (roleOf[type] !== undefined && roleOf[type] !== role)
    return `${at}: \`${type}\` blocks can only be in \`${roleOf[type]}\` messages`
  if (isThinking(block) && block['cache_control'] !== undefined)
    return `${at}.${type}.cache_control: Extra inputs are not permitted`
  if (type === 'text') return textBreak(textOf(block['text']), 'messages')
  if (type === 'tool_use') return callBreak(block, at)
  return type === 'tool_result' ? resultBreak(block, at) : null
}

function textBreak(text: string, at: string): string | null {
  if (text === '') return `${at}: text content blocks must be non-empty`
  return text.trim() === '' ? `${at}: text content blocks must contain non-whitespace text` : null
}

function callBreak(call: WireBlock, at: string): string | null {
  if (!/^[a-zA-Z0-9_-]+$/.test(textOf(call['id'])))
    return `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
  return isObject(call['input']) ? null : `${at}.tool_use.input: Input should be a valid dictionary`
}

function resultBreak({ content }: WireBlock, at: string): string | null {
  if (content === undefined || typeof content === 'string') return null
  if (!Array.isArray(content))
    return `${at}.tool_result.content: Input should be a valid string or a valid list`
  return content.some(isEmptyText) ? 'messages: text content blocks must be non-empty' : null
}

function isEmptyText(part: unknown): boolean {
  return isObject(part) && typeOf(part) === 'text' && textOf(part['text']) === ''
}
