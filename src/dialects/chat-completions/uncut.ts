import { contentParts } from './content.ts'
import { isJsonObject, stringifyJson } from '../../conversation/json-value.ts'
import type { JsonObject } from '../../conversation/json-value.ts'
import type { ParsedMessage } from '../../conversation/message.ts'

/**
 * What of a parsed message counts though it is never rewritten: thoughts that are sent back, in whatever
 * field, a refusal, and a content that is neither text nor parts. Servers write the same thoughts in
 * several fields and read one of them: equal texts count once.
 */
export function readUncut(message: JsonObject): Pick<ParsedMessage, 'uncut' | 'opaqueCharacters'> {
  const texts = new Set<string>()
  const opaque = new Set<string>()
  const { content, refusal } = message
  const thoughts = contentParts(content).flatMap((part) => (part.kind === 'reasoning' ? [part.part] : []))
  for (const field of [...thoughtFields.map((name) => message[name]), thoughts]) {
    const pieces: string[] = []
    readThoughts(field, 0, pieces, opaque)
    // Streamed thoughts are kept in the pieces in which they came.
    texts.add(pieces.join(''))
  }
  if (typeof refusal === 'string') texts.add(refusal)
  if (isJsonObject(content) || typeof content === 'number' || typeof content === 'boolean') {
    texts.add(stringifyJson(content) ?? '')
  }
  texts.delete('')
  return {
    uncut: [...texts].join('\n'),
    opaqueCharacters: [...opaque].reduce((sum, { length }) => sum + length, 0),
  }
}

// --- internal ---

/** DeepSeek's, vLLM and OpenRouter's, OpenRouter's signed ones, LiteLLM's, Ollama's. */
const thoughtFields = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
  'thinking',
] as const

/** Where a block of thoughts holds its text: Anthropic's `thinking`, the others of OpenRouter and the Responses API. */
const textKeys = ['text', 'thinking', 'reasoning', 'summary', 'content'] as const

/** What only the provider can read: to the tokenizer it is noise, and to the model it is not text. */
const opaqueKeys = ['data', 'signature', 'encrypted_content'] as const

/** Real blocks hold texts at the second level. */
const depthMax = 8

function readThoughts(value: unknown, depth: number, texts: string[], opaque: Set<string>): void {
  if (typeof value === 'string') {
    texts.push(value)
  } else if (depth === depthMax) {
    texts.push(stringifyJson(value) ?? '')
  } else if (Array.isArray(value)) {
    for (const element of value) readThoughts(element, depth + 1, texts, opaque)
  } else if (isJsonObject(value)) {
    readBlock(value, depth, texts, opaque)
  }
}

function readBlock(block: JsonObject, depth: number, texts: string[], opaque: Set<string>): void {
  let isKnown = false
  for (const key of opaqueKeys) {
    const text = block[key]
    if (typeof text !== 'string') continue
    isKnown = true
    opaque.add(text)
  }
  for (const key of textKeys) {
    const inner = block[key]
    if (inner === undefined || inner === null) continue
    isKnown = true
    readThoughts(inner, depth + 1, texts, opaque)
  }
  if (!isKnown) texts.push(stringifyJson(block) ?? '')
}
