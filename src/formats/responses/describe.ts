import {
  isJsonObject,
  type JsonObject,
  objectsOf,
  parseJsonText,
  stringifyJson,
  stringOr,
} from '../../json/json-value.ts'
import type { MessageFacts, ParsedMessage, Role } from '../../conversation/message.ts'
import type { Digest, Pausable } from '../../json/source.ts'
import {
  kindNamed,
  addSaid,
  contentParts,
  MEDIA_PER_STEP,
  type Said,
  textOf,
} from '../content/content-parts.ts'
import type { Described } from '../contract.ts'
import { readMedia } from '../media/media.ts'
import { sharedIdsOf } from '../shared-ids.ts'
import {
  answeredIdOf,
  definesTools,
  foundBy,
  foundKeys,
  isBound,
  type ItemKind,
  kindOf,
  picturesBeside,
  readCall,
  saidIn,
  withoutPictures,
} from './item-kinds.ts'
import { type EntrySpans, memberWithComma, scanObject } from '../../json/json-scan.ts'

/** What a parsed item is; null if that cannot be told, and `stateful` if it names one that only the server has. */
export function* describeItem(
  item: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Pausable<Described | 'stateful' | null> {
  const kind = kindOf(item)
  if (kind === 'reference') return 'stateful'
  const role = roleOf(kind, item)
  const read = yield* meaningOf(kind, item, digest, unreadBytes)
  const call = kind === 'call' ? readCall(item) : NO_CALL
  if (read === null || call === null) return null
  const goesOn = kind === 'unknown' || isOfProgram(item)
  const isDeveloper = role === 'developer' || role === 'system'
  return {
    facts: {
      role,
      // Of an unknown one nobody knows what belongs to it: it stays with what it came behind.
      ...(goesOn ? { joinsPrevious: true } : {}),
      ...(kind === 'start' ? { startsHistory: true } : {}),
      ...boundBy(kind, item),
      // Of an unknown one any id may be shared: that of a call, of an approval.
      ...(kind === 'unknown' ? sharedIdsOf(item, true) : {}),
      ...survivalOf(kind, item),
      ...(kind === 'message' || kind === 'call' || kind === 'result' ? {} : kindNamed(item['type'])),
    },
    answers: kind === 'result' ? [answeredIdOf(item)] : [],
    meaning: {
      role: isDeveloper || kind === 'message' ? stringOr(item['role'], role) : kind,
      name: null,
      content: read.content,
      calls: call === NO_CALL ? [] : [call],
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
    opaqueCharacters: stringOr(item['encrypted_content'], '').length,
  }
}

/**
 * An item, given as JSON, without the id by which the server demands the reasoning before it. Where its type has to have one
 * (`Missing required parameter: 'input[3].id'.`), with another id, which no server knows.
 */
export function unnamed(item: string): string {
  const fields = scanObject(item, 0)?.entries ?? []
  const at = fields.findLastIndex(({ key }) => item.slice(key.start, key.end) === '"id"')
  const field = fields[at]
  const span = memberWithComma(fields, at)
  if (field === undefined || span === null) return item
  const id = parseJsonText(item.slice(field.value.start, field.value.end))
  if (typeof id === 'string' && !isFree(item, fields))
    return item.slice(0, field.value.start) + JSON.stringify(unknownId(id)) + item.slice(field.value.end)
  return item.slice(0, span.start) + item.slice(span.end)
}

// --- internal ---

const NO_CALL = Symbol('no call')

/** What says nothing of an item, or differs each time. */
const unsaid: ReadonlySet<string> = new Set(['id', 'status', 'internal_chat_message_metadata_passthrough'])

/** What only the server can read is counted by a rule of its own. */
const notText: ReadonlySet<string> = new Set([...unsaid, 'encrypted_content'])

/** The same of an item whose findings count as the text that they are, and not as JSON. */
const notFound: ReadonlySet<string> = new Set([...notText, foundKeys.text, ...foundKeys.parts])

const spokenRoles: readonly Role[] = ['system', 'developer', 'user', 'assistant', 'tool']

/** Who speaks in what is no message; anything else is nobody's. */
const rolesOfKinds: Readonly<Partial<Record<ItemKind, Role>>> = {
  thought: 'assistant',
  call: 'assistant',
  done: 'assistant',
  result: 'tool',
  setting: 'developer',
}

function roleOf(kind: ItemKind, item: JsonObject): Role {
  const spoken = spokenRoles.find((role) => role === item['role'])
  return (kind === 'message' ? spoken : rolesOfKinds[kind]) ?? 'other'
}

/** Whether a program of the model's has made a call, or has ended: it is one with all that it calls, over several requests. */
function isOfProgram({ type, caller }: JsonObject): boolean {
  return type === 'program_output' || (isJsonObject(caller) && caller['type'] === 'program')
}

function boundBy(kind: ItemKind, item: JsonObject): Pick<MessageFacts, 'bound'> {
  if (kind === 'thought') return isBound(item) ? { bound: 'whole' } : {}
  // Its answer finds it by that name.
  if (kind === 'call' && typeof item['call_id'] !== 'string')
    return typeof item['id'] === 'string' ? { bound: 'demands' } : {}
  const isModels =
    kind === 'call' ||
    kind === 'done' ||
    kind === 'unknown' ||
    (kind === 'message' && item['role'] === 'assistant')
  return isModels && typeof item['id'] === 'string' ? { bound: 'follows' } : {}
}

function survivalOf(kind: ItemKind, item: JsonObject): Pick<MessageFacts, 'survives'> {
  if (definesTools(item)) return { survives: 'each' }
  return kind === 'setting' ? { survives: 'last' } : {}
}

/** Whether it says a text or parts; what a client finds of tools is neither. */
function saysContent(kind: ItemKind, item: JsonObject): boolean {
  return kind === 'message' || (kind === 'result' && !definesTools(item))
}

function* meaningOf(
  kind: ItemKind,
  item: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Pausable<Said | null> {
  const read: Said = { content: [], media: [] }
  if (saysContent(kind, item)) {
    if (!(yield* addSaid(read, contentParts(saidIn(kind, item)), digest, unreadBytes))) return null
  } else if (kind !== 'thought' && kind !== 'call') {
    const said = stringifyJson(withoutPictures(item), unsaid)
    if (said === null) return null
    read.content.push({ kind: stringOr(item['type'], ''), text: said })
  }
  for (const picture of picturesBeside(item)) {
    const media = readMedia(picture, digest, unreadBytes)
    if (media === null) return null
    read.media.push({ ...media, place: 'beside' })
    read.content.push({ kind: media.kind, text: media.digest })
    if (read.media.length % MEDIA_PER_STEP === 0) yield
  }
  return read
}

/** What counts of an item beside its text and its call, and is never rewritten. */
function uncutOf(kind: ItemKind, item: JsonObject): string {
  if (kind === 'thought') return [item['summary'], item['content']].flatMap(thoughtsIn).join('\n')
  const isWhole =
    kind === 'done' ||
    kind === 'setting' ||
    kind === 'unknown' ||
    (kind === 'result' && !saysContent(kind, item))
  if (!isWhole) return ''
  const rest = withoutPictures(item)
  const found = kind === 'done' ? foundBy(rest) : []
  return [stringifyJson(rest, found.length === 0 ? notText : notFound) ?? '', ...found].join('\n')
}

function thoughtsIn(parts: unknown): readonly string[] {
  return objectsOf(parts).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
}

/** Types that a server takes without an id. */
const freeTypes: ReadonlySet<unknown> = new Set([
  'message',
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'tool_search_call',
])

function isFree(item: string, fields: readonly EntrySpans[]): boolean {
  const type = fields.findLast(({ key }) => item.slice(key.start, key.end) === '"type"')
  return type === undefined || freeTypes.has(parseJsonText(item.slice(type.value.start, type.value.end)))
}

/** Its first letters say of what type the item is, and servers look at them, as at its length. No server ends an id like that. */
function unknownId(id: string): string {
  return `${id.slice(0, ID_CHARACTERS_MAX - 1)}x`
}

const ID_CHARACTERS_MAX = 64
