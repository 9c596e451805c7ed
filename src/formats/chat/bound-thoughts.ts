import { isJsonObject, isPresent, parseJsonText, stringOr, type JsonObject } from '../../json/json-value.ts'
import type { MessageFacts } from '../../conversation/message.ts'
import { contentParts } from '../content/content-parts.ts'
import { contentIn, withContent, withoutMembers, withoutParts } from '../content/joined-content.ts'
import { hasThoughts, thoughtFields } from './thoughts.ts'

/**
 * What of a model's message is bound to what stood before it: thoughts that are signed or encrypted, as LiteLLM and OpenRouter
 * hand on those of Anthropic and OpenAI. `saysMore`: whether it says or calls something beside its content's text.
 */
export function boundOf(message: JsonObject, saysMore: boolean): Pick<MessageFacts, 'bound'> {
  if (!hasThoughts(message)) return {}
  const parts = contentParts(message['content'])
  const inContent = parts.flatMap((part) => (part.kind === 'reasoning' ? [part.part] : []))
  const blocks = [...blockFields.flatMap((name) => listIn(message, name)), ...inContent]
  if (!blocks.some(isBoundBlock)) return {}
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

const thoughtNames: ReadonlySet<string> = new Set(thoughtFields.map(({ name }) => name))

/** The fields that hold blocks. */
const blockFields = thoughtFields.flatMap(({ name, isPlain }) => (isPlain ? [] : [name]))

function listIn(message: JsonObject, name: string): readonly unknown[] {
  const value = message[name]
  return Array.isArray(value) ? value : []
}

/** Whose value only a server can have made. */
const sealKeys = ['signature', 'data', 'encrypted_content'] as const

/** How OpenRouter names what Gemini has signed: that holds in any conversation, and a call without it is refused. */
const FREE_FORMAT = 'google-'

function isBoundBlock(block: unknown): boolean {
  if (!isJsonObject(block) || stringOr(block['format'], '').startsWith(FREE_FORMAT)) return false
  return sealKeys.some((key) => typeof block[key] === 'string' && isPresent(block[key]))
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
