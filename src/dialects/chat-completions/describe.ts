import {
  isJsonObject,
  isPresent,
  stringifyJson,
  stringOr,
  type JsonObject,
} from '../../conversation/json-value.ts'
import type { Media, ParsedMessage, Role } from '../../conversation/message.ts'
import type { Digest, Steps } from '../../conversation/source.ts'
import type { Described } from '../contract.ts'
import { audioReference, readMedia } from '../media/media.ts'
import { boundOf } from './bound-thoughts.ts'
import { readCalls, type Call } from './calls.ts'
import { contentParts, textOf } from '../content/content-parts.ts'
import { readThoughts } from './thoughts.ts'

/** What a parsed message is; null if its role is no string, or if it is nested too deep. */
export function* describeMessage(
  message: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Steps<Described | null> {
  const roleText = message['role']
  if (typeof roleText !== 'string') return null
  const role = Object.hasOwn(roleOf, roleText) ? (roleOf[roleText] ?? 'other') : 'other'
  const calls = readCalls(message)
  const content: { kind: string; text: string }[] = []
  const media: Media[] = []
  for (const part of contentParts(message['content'])) {
    if (part.kind === 'text') content.push({ kind: 'text', text: part.text })
    if (part.kind !== 'media') continue
    const read = readMedia(part.part, digest, unreadBytes)
    if (read === null) return null
    media.push(read)
    content.push({ kind: read.kind, text: read.digest })
    if (media.length % MEDIA_PER_STEP === 0) yield
  }
  const odd = oddContent(message)
  if (calls === null || odd === null) return null
  if (odd !== '') content.push({ kind: 'content', text: odd })
  const { refusal, audio } = message
  if (typeof refusal === 'string') content.push({ kind: 'text', text: refusal })
  if (isJsonObject(audio) && typeof audio['id'] === 'string') {
    const reference = audioReference(audio['id'], digest)
    media.push(reference)
    content.push({ kind: reference.kind, text: reference.digest })
  }
  const list = message['tool_calls']
  const isAssistant = role === 'assistant'
  const saysMore = calls.length > 0 || odd !== '' || typeof refusal === 'string' || isPresent(audio)
  return {
    role,
    opensReply: isAssistant,
    joinsNext: false,
    ...(isAssistant ? boundOf(message, saysMore) : {}),
    emptyCalls: isAssistant && Array.isArray(list) && list.length === 0,
    answers: role === 'tool' ? [stringOr(message['tool_call_id'], '')] : [],
    name: stringOr(message['name'], null),
    calls,
    meaning: { role: role === 'other' ? roleText : role, content },
    media,
  }
}

/** The texts of a parsed message. */
export function parseMessage(message: JsonObject): ParsedMessage & { readonly calls: readonly Call[] } {
  const { texts, opaqueCharacters } = readThoughts(message)
  const refusal = stringOr(message['refusal'], '')
  const odd = oddContent(message) ?? ''
  const uncut = new Set([...texts, refusal, odd])
  uncut.delete('')
  const besides = message['role'] === 'assistant' ? [odd, refusal] : [odd]
  return {
    text: textOf(message['content']),
    calls: readCalls(message) ?? [],
    uncut: [...uncut].join('\n'),
    besides: besides.filter((text) => text !== '').join('\n'),
    opaqueCharacters,
  }
}

// --- internal ---

const roleOf: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'developer',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** Parts that are no text read between two pauses: of each a digest is made. */
const MEDIA_PER_STEP = 256

/** A content that is neither text nor parts, as JSON; '' if it is one of these, null if it is nested too deep. */
function oddContent({ content }: JsonObject): string | null {
  const isOdd = isJsonObject(content) || typeof content === 'number' || typeof content === 'boolean'
  return isOdd ? stringifyJson(content) : ''
}
