import { isJsonObject, isPresent, stringOr, type JsonObject } from '../../conversation/json-value.ts'
import type { MessageFacts } from '../../conversation/message.ts'
import { contentParts } from '../content/content-parts.ts'
import { contentIn, withContent, withoutMembers, withoutParts } from '../content/joined-content.ts'
import { thoughtFields } from './thoughts.ts'

/**
 * What of a model's message is bound to what stood before it: thoughts that are signed or encrypted, as LiteLLM and OpenRouter
 * hand on those of Anthropic and OpenAI. `saysMore`: whether it says or calls something beside its content's text.
 */
export function boundOf(message: JsonObject, saysMore: boolean): Pick<MessageFacts, 'bound'> {
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

function isBlank(part: ReturnType<typeof contentParts>[number]): boolean {
  return part.kind === 'text' && part.text.trim() === ''
}
