import { isJsonObject, stringifyJson, stringOr, type JsonObject } from '../../conversation/json-value.ts'
import type { Media, MessageFacts, ParsedMessage, Role } from '../../conversation/message.ts'
import type { Digest, Steps } from '../../conversation/source.ts'
import { contentParts, textOf } from '../content/content-parts.ts'
import type { Described } from '../contract.ts'
import { readMedia } from '../media/media.ts'
import { answeredIdOf, readCall } from './calls.ts'
import { definesTools, isBound, kindOf, type ItemKind } from './item-kinds.ts'
import { saidIn, picturesBeside } from './outputs.ts'

/** What a parsed item is; null if that cannot be told, and `stateful` if it names one that only the server has. */
export function* describeItem(
  item: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Steps<Described | 'stateful' | null> {
  const kind = kindOf(item)
  if (kind === 'reference') return 'stateful'
  const role = roleOf(kind, item)
  const read = yield* meaningOf(kind, item, digest, unreadBytes)
  const call = kind === 'call' ? readCall(item) : NO_CALL
  if (read === null || call === null) return null
  const isReply = role === 'assistant'
  const isDeveloper = role === 'developer' || role === 'system'
  return {
    role,
    opensReply: isReply,
    boundToNext: isReply,
    // Nobody knows what belongs to it: it stays with what it came behind.
    ...(kind === 'unknown' ? { boundToPrevious: true } : {}),
    ...(kind === 'start' ? { startsHistory: true } : {}),
    ...boundBy(kind, item),
    ...survivalOf(kind, item),
    emptyCalls: false,
    answers: kind === 'result' ? [answeredIdOf(item)] : [],
    name: null,
    calls: call === NO_CALL ? [] : [call],
    meaning: {
      role: isDeveloper || kind === 'message' ? stringOr(item['role'], role) : kind,
      content: read.content,
    },
    media: read.media,
  }
}

/** The texts of a parsed item. */
export function parseItem(item: JsonObject): ParsedMessage {
  const kind = kindOf(item)
  const call = kind === 'call' ? readCall(item) : null
  return {
    text: kind === 'message' || kind === 'result' ? textOf(saidIn(kind, item)) : '',
    calls: call === null ? [] : [call],
    uncut: uncutOf(kind, item),
    besides: '',
    opaqueCharacters: opaqueOf(item),
  }
}

// --- internal ---

const NO_CALL = Symbol('no call')

/** What says nothing of an item, or differs each time. */
const unsaid: ReadonlySet<string> = new Set(['id', 'status', 'internal_chat_message_metadata_passthrough'])

/** Base64 and what only the server can read: counted by rules of their own. */
const notText: ReadonlySet<string> = new Set([...unsaid, 'encrypted_content', 'result'])

/** Parts that are no text read between two pauses: of each a digest is made. */
const MEDIA_PER_STEP = 256

const spokenRoles: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'developer',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
}

function roleOf(kind: ItemKind, item: JsonObject): Role {
  switch (kind) {
    case 'message':
      return spokenRoles[stringOr(item['role'], '')] ?? 'other'
    case 'thought':
    case 'call':
    case 'done':
      return 'assistant'
    case 'result':
      return 'tool'
    case 'setting':
      return 'developer'
    case 'start':
    case 'order':
    case 'reference':
    case 'unknown':
      return 'other'
  }
}

function boundBy(kind: ItemKind, item: JsonObject): Pick<MessageFacts, 'bound'> {
  if (kind === 'thought') return isBound(item) ? { bound: 'whole' } : {}
  const isModels = kind === 'call' || kind === 'done' || (kind === 'message' && item['role'] === 'assistant')
  return isModels && typeof item['id'] === 'string' ? { bound: 'follows' } : {}
}

function survivalOf(kind: ItemKind, item: JsonObject): Pick<MessageFacts, 'survives'> {
  if (definesTools(item)) return { survives: 'each' }
  return kind === 'setting' ? { survives: 'last' } : {}
}

type Read = Pick<Described, 'media'> & Pick<Described['meaning'], 'content'>

function* meaningOf(
  kind: ItemKind,
  item: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Steps<Read | null> {
  const content: { kind: string; text: string }[] = []
  const media: Media[] = []
  if (kind === 'message' || kind === 'result') {
    const output = saidIn(kind, item)
    for (const part of contentParts(output)) {
      if (part.kind === 'text') content.push({ kind: 'text', text: part.text })
      if (part.kind !== 'media') continue
      const read = readMedia(part.part, digest, unreadBytes)
      if (read === null) return null
      media.push(read)
      content.push({ kind: read.kind, text: read.digest })
      if (media.length % MEDIA_PER_STEP === 0) yield
    }
  } else if (kind !== 'thought' && kind !== 'call') {
    const said = stringifyJson(item, unsaid)
    if (said === null) return null
    content.push({ kind: stringOr(item['type'], ''), text: said })
  }
  for (const picture of picturesBeside(item)) {
    const read = readMedia(picture, digest, unreadBytes)
    if (read === null) return null
    media.push({ ...read, place: 'beside' })
    content.push({ kind: read.kind, text: read.digest })
  }
  return { content, media }
}

/** What counts of an item beside its text and its call, and is never rewritten. */
function uncutOf(kind: ItemKind, item: JsonObject): string {
  switch (kind) {
    case 'thought':
      return [item['summary'], item['content']].flatMap(thoughtsIn).join('\n')
    case 'done':
    case 'setting':
    case 'unknown':
      return stringifyJson(item, notText) ?? ''
    case 'message':
    case 'call':
    case 'result':
    case 'start':
    case 'order':
    case 'reference':
      return ''
  }
}

function thoughtsIn(parts: unknown): readonly string[] {
  if (!Array.isArray(parts)) return []
  return parts.flatMap((part: unknown) =>
    isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : [],
  )
}

function opaqueOf({ encrypted_content: encrypted }: JsonObject): number {
  return typeof encrypted === 'string' ? encrypted.length : 0
}
