import { isJsonObject, isPresent, stringifyJson, type JsonObject } from '../../json/json-value.ts'
import { contentParts } from '../content/content-parts.ts'

/**
 * The fields beside the content in which servers write a model's thoughts. Those that are plain are text that may be
 * shortened; the others hold blocks, some of them signed or encrypted, which are never touched. Those that are wanted back
 * have to stand in the message that a further request shows of the reply: DeepSeek refuses a call without the thoughts that
 * led to it.
 */
export const thoughtFields = [
  // DeepSeek
  { name: 'reasoning_content', isPlain: true, isWantedBack: true },
  // vLLM, OpenRouter
  { name: 'reasoning', isPlain: true, isWantedBack: true },
  // OpenRouter's signed ones
  { name: 'reasoning_details', isPlain: false, isWantedBack: true },
  // LiteLLM
  { name: 'thinking_blocks', isPlain: false, isWantedBack: true },
  // Ollama
  { name: 'thinking', isPlain: true, isWantedBack: false },
] as const

/** Whether a message or a delta holds thoughts, in fields of their own or among the parts of its content. */
export function hasThoughts(message: JsonObject): boolean {
  return (
    thoughtFields.some(({ name }) => isPresent(message[name])) ||
    (Array.isArray(message['content']) &&
      contentParts(message['content']).some(({ kind }) => kind === 'reasoning'))
  )
}

/**
 * The thoughts of a message, and the characters of what only the provider can read. Servers write the same thoughts in
 * several fields and read one of them: equal texts count once.
 */
export function readThoughts(message: JsonObject): Thoughts {
  if (!hasThoughts(message)) return noThoughts
  const texts = new Set<string>()
  const opaque = new Set<string>()
  const inContent = contentParts(message['content']).flatMap((part) =>
    part.kind === 'reasoning' ? [part.part] : [],
  )
  for (const field of [...thoughtFields.map(({ name }) => message[name]), inContent]) {
    if (field === undefined || field === null) continue
    const pieces: string[] = []
    addThoughts(field, 0, pieces, opaque)
    // Streamed thoughts are kept in the pieces in which they came.
    texts.add(pieces.join(''))
  }
  let opaqueCharacters = 0
  for (const { length } of opaque) opaqueCharacters += length
  return { texts, opaqueCharacters }
}

// --- internal ---

type Thoughts = { readonly texts: ReadonlySet<string>; readonly opaqueCharacters: number }

const noThoughts: Thoughts = { texts: new Set(), opaqueCharacters: 0 }

/** Where a block of thoughts holds its text: Anthropic's `thinking`, the others of OpenRouter and the Responses API. */
const textKeys = ['text', 'thinking', 'reasoning', 'summary', 'content'] as const

/** What only the provider can read: to the tokenizer it is noise, and to the model it is not text. */
const opaqueKeys = ['data', 'signature', 'encrypted_content'] as const

/** Real blocks hold texts at the second level. */
const depthMax = 8

function addThoughts(value: unknown, depth: number, texts: string[], opaque: Set<string>): void {
  if (typeof value === 'string') {
    texts.push(value)
  } else if (depth === depthMax) {
    texts.push(stringifyJson(value) ?? '')
  } else if (Array.isArray(value)) {
    for (const element of value) addThoughts(element, depth + 1, texts, opaque)
  } else if (isJsonObject(value)) {
    addBlock(value, depth, texts, opaque)
  }
}

function addBlock(block: JsonObject, depth: number, texts: string[], opaque: Set<string>): void {
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
    addThoughts(inner, depth + 1, texts, opaque)
  }
  if (!isKnown) texts.push(stringifyJson(block) ?? '')
}
