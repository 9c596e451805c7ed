import {
  isJsonObject,
  isPresent,
  type JsonObject,
  objectsOf,
  parseJsonText,
  stringifyJson,
  stringOr,
} from '../../json/json-value.ts'
import { contentParts } from '../content/content-parts.ts'
import type { MessageFacts } from '../../conversation/message.ts'
import { contentIn, withContent, withoutMembers, withoutParts } from '../content/joined-content.ts'

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
    (Array.isArray(message['content']) && thoughtsInContent(message).length > 0)
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
  for (const field of [...thoughtFields.map(({ name }) => message[name]), thoughtsInContent(message)]) {
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

/**
 * What of a model's message is bound to what stood before it: thoughts that are signed or encrypted, as LiteLLM and OpenRouter
 * hand on those of Anthropic and OpenAI. `saysMore`: whether it says or calls something beside its content's text.
 */
export function boundOf(message: JsonObject, saysMore: boolean): Pick<MessageFacts, 'bound'> {
  if (!hasThoughts(message)) return {}
  const blocks = [...blockFields.flatMap((name) => objectsOf(message[name])), ...thoughtsInContent(message)]
  if (!blocks.some(isBoundBlock)) return {}
  const parts = contentParts(message['content'])
  // White space alone is nothing said: its servers refuse a text of nothing else.
  const isSilent = parts.every((part) => part.kind === 'reasoning' || isBlank(part))
  return { bound: isSilent && !saysMore ? 'whole' : 'part' }
}

/**
 * The message, given as JSON, without its thoughts. Those in plain fields go with the others: they are the same thoughts once
 * more, for people to read, and a gateway that finds nothing else may make of them thoughts that nobody has signed.
 */
export function unboundMessage(message: string): string {
  const left = withoutMembers(message, thoughtNames)
  const content = contentIn(left)
  if (content?.kind !== 'parts') return left
  const parts = contentParts(JSON.parse(content.json))
  const json = withoutParts(content.json, (position) => parts[position]?.kind === 'reasoning')
  // No server takes a list of nothing for the content of a message that calls.
  return json === content.json ? left : withContent(left, json === '[]' ? 'null' : json)
}

/** Messages of Foldgate's own making, as JSON, behind another request than the one that their thoughts answer. */
export function unboundTurns(messages: readonly string[]): readonly string[] {
  return messages.map((json) => {
    const message = parseJsonText(json)
    const isBound = isJsonObject(message) && boundOf(message, true).bound !== undefined
    return isBound ? unboundMessage(json) : json
  })
}

/**
 * What a further answer adds to a reply, in a message or a delta: without thoughts that are bound, since they were made behind
 * something that the client does not know. Of a stream the pieces that go before a signature go, too.
 */
export function addedFields(fields: JsonObject): JsonObject {
  const added: Record<string, unknown> = { ...fields }
  for (const name of [...blockFields, 'content']) {
    const value = fields[name]
    if (!Array.isArray(value)) continue
    const left: unknown[] = value.filter((block) => !isToBeBound(block))
    if (left.length > 0 || value.length === 0) added[name] = left
    else if (name === 'content') added[name] = null
    else delete added[name]
  }
  return added
}

// --- internal ---

type Thoughts = { readonly texts: ReadonlySet<string>; readonly opaqueCharacters: number }

const noThoughts: Thoughts = { texts: new Set(), opaqueCharacters: 0 }

/** Where a block of thoughts holds its text: Anthropic's `thinking`, the others of OpenRouter and the Responses API. */
const textKeys = ['text', 'thinking', 'reasoning', 'summary', 'content'] as const

/** What only the provider can have made, and can read: to the tokenizer it is noise, and to the model it is not text. */
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

const thoughtNames: ReadonlySet<string> = new Set(thoughtFields.map(({ name }) => name))

/** The fields that hold blocks. */
const blockFields = thoughtFields.flatMap(({ name, isPlain }) => (isPlain ? [] : [name]))

function thoughtsInContent({ content }: JsonObject): readonly unknown[] {
  return contentParts(content).flatMap((part) => (part.kind === 'reasoning' ? [part.part] : []))
}

/** How OpenRouter names what Gemini has signed: that holds in any conversation, and a call without it is refused. */
const FREE_FORMAT = 'google-'

function isBoundBlock(block: unknown): boolean {
  if (!isJsonObject(block) || stringOr(block['format'], '').startsWith(FREE_FORMAT)) return false
  return opaqueKeys.some((key) => typeof block[key] === 'string' && isPresent(block[key]))
}

/** Of providers that sign, as OpenRouter names them. */
const signedFormat = /^(?:anthropic|openai|azure-openai|xai)-/

function isToBeBound(block: unknown): boolean {
  if (!isJsonObject(block)) return false
  const { type, format } = block
  const isSigners = typeof format === 'string' && signedFormat.test(format)
  return (
    isBoundBlock(block) ||
    isSigners ||
    (type === 'thinking' && typeof block['thinking'] === 'string') ||
    type === 'redacted_thinking'
  )
}

function isBlank(part: ReturnType<typeof contentParts>[number]): boolean {
  return part.kind === 'text' && part.text.trim() === ''
}
