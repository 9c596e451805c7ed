import { hash } from 'node:crypto'
import { isJsonObject, parseJsonText, type JsonObject } from '../../src/json/json-value.ts'
import type { ReceivedRequest } from './fake-upstream.ts'

/** How a gateway hands on what Claude has thought, beside the text of a reply. */
export type ThoughtShape = 'litellm' | 'openrouter' | 'parts'

/** The fields of a reply with these thoughts in it. */
export function thinkingReply(shape: ThoughtShape, thought: string, signature: string, text: string) {
  const block = { type: 'thinking', thinking: thought, signature }
  if (shape === 'parts')
    return { content: [block, ...(text === '' ? [] : [{ type: 'text', text }])] as unknown[] }
  if (shape === 'litellm') return { content: text, reasoning_content: thought, thinking_blocks: [block] }
  const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
  return {
    content: text,
    reasoning: thought,
    // As a client keeps them that was answered in a stream.
    reasoning_details: [
      { ...detail, text: thought },
      { ...detail, signature },
    ],
  }
}

/** The signatures in a message, whatever its shape. */
export const signaturesIn = (message: unknown): readonly string[] =>
  [...JSON.stringify(message).matchAll(/"signature":"([^"]+)"/g)].map(([, signature = '']) => signature)

/**
 * Signs what a model thinks as Anthropic does: a signature holds for the tools and messages that stood before it, thoughts
 * aside, and for the thoughts that stood there, of which only the first ones may be left out since.
 */
export function sign(body: JsonObject): string {
  const messages = messagesIn(body)
  const seal = { on: prefixOf(body, messages), behind: messages.flatMap(signaturesIn).map(nameOf) }
  return Buffer.from(JSON.stringify(seal)).toString('base64url')
}

/** Where in a request thoughts stand whose signature does not hold there; null if nowhere. */
export function misplacedThought(body: JsonObject): number | null {
  const behind: string[] = []
  const messages = messagesIn(body)
  for (const [index, message] of messages.entries()) {
    for (const signature of signaturesIn(message)) {
      const seal = parseJsonText(Buffer.from(signature, 'base64url').toString())
      const on = prefixOf(body, messages.slice(0, index))
      const was = isJsonObject(seal) && Array.isArray(seal['behind']) ? seal['behind'].join(' ') : ''
      if (!isJsonObject(seal) || seal['on'] !== on || !was.endsWith(behind.join(' '))) return index
      behind.push(nameOf(signature))
    }
  }
  return null
}

export function bodyOf({ body }: ReceivedRequest): JsonObject {
  const parsed = parseJsonText(body.toString('utf8'))
  return isJsonObject(parsed) ? parsed : {}
}

export const messagesIn = (body: JsonObject): readonly JsonObject[] =>
  Array.isArray(body['messages']) ? body['messages'].filter(isJsonObject) : []

const nameOf = (signature: string): string => hash('sha1', signature)

function prefixOf(body: JsonObject, messages: readonly JsonObject[]): string {
  const said = messages.map(({ role, content, tool_calls, tool_call_id }) => {
    const parts = Array.isArray(content) ? content.filter(isJsonObject) : [{ text: content }]
    const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    return [role, texts.join(''), tool_calls ?? null, tool_call_id ?? null]
  })
  return hash('sha1', JSON.stringify([body['tools'] ?? null, said]))
}
