import { type JsonObject, objectsOf, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { MessageFacts, ParsedMessage, Role } from '../../conversation/message.ts'
import { withoutReminders } from '../../conversation/reminders.ts'
import type { Digest, Pausable } from '../../json/source.ts'
import { addSaid, contentParts, kindNamed, type Said, textOf } from '../content/content-parts.ts'
import type { Described } from '../contract.ts'
import { sharedIdsOf } from '../shared-ids.ts'
import { namedTools } from '../tool-lists.ts'
import {
  type BlockKind,
  blockKindOf,
  changesTools,
  encryptedCharacters,
  foundTexts,
  holdsTools,
  isSigned,
  tellsRoomLeft,
  withoutFound,
} from './block-kinds.ts'
import { cacheTtlOf } from './cache-control.ts'

/** What a parsed block or whole message is (`holder` null); null if that cannot be told. */
export function* describeBlock(
  entry: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
  holder: JsonObject | null,
): Pausable<Described | null> {
  const speaker = (holder ?? entry)['role']
  if (typeof speaker !== 'string') return null
  const kind = holder === null ? 'said' : blockKindOf(entry, speaker)
  const read = yield* meaningOf(kind, entry, digest, unreadBytes)
  const argumentsText = kind === 'call' ? stringifyJson(entry['input'] ?? {}) : ''
  if (read === null || argumentsText === null) return null
  const isSaidAlong = holder !== null && kind === 'said' && speaker === 'user'
  // A reminder or an upload beside results is no turn of the user's: what the user said last stands before it.
  const role = isSaidAlong && saysNothing(read) ? 'other' : roleOf(kind, speaker)
  return {
    facts: {
      role,
      // What is said along with results is sent with them; of an unknown one nobody knows what belongs to it.
      ...(isSaidAlong || kind === 'unknown' ? { joinsPrevious: true } : {}),
      ...(kind === 'start' ? { startsHistory: true } : {}),
      ...(kind === 'thought' && isSigned(entry) ? { bound: 'whole' as const } : {}),
      ...sharedIdsOf(entry, kind === 'done' || kind === 'unknown'),
      ...toolsOf(entry, holder),
      ...marksIn(entry),
      ...(kind === 'said' || kind === 'call' || kind === 'result' ? {} : kindNamed(entry['type'])),
      ...(kind === 'result' && entry['is_error'] === true ? { failed: 'stated' as const } : {}),
    },
    answers: kind === 'result' ? [stringOr(entry['tool_use_id'], '')] : [],
    meaning: {
      role: kind === 'said' ? speaker : kind,
      name: null,
      content: read.content,
      calls: kind === 'call' ? [callOf(entry, argumentsText)] : [],
    },
    media: read.media,
  }
}

/** The texts of a parsed block or message. */
export function parseBlock(entry: JsonObject): ParsedMessage {
  const kind = 'role' in entry ? 'said' : blockKindOf(entry, 'assistant')
  const argumentsText = kind === 'call' ? (stringifyJson(entry['input'] ?? {}) ?? '') : ''
  return {
    text: saysContent(kind, entry) ? textOf(contentOfBlock(kind, entry)) : '',
    calls: kind === 'call' ? [callOf(entry, argumentsText)] : [],
    uncut: uncutOf(kind, entry),
    besides: '',
    opaqueCharacters: opaqueOf(kind, entry),
  }
}

/** Whether it says a text or parts; what a client finds of tools is neither. */
export function saysContent(kind: BlockKind, entry: JsonObject): boolean {
  return kind === 'said' || (kind === 'result' && !holdsTools(entry))
}

// --- internal ---

/** What says nothing of a block, or differs each time. */
const unsaid: ReadonlySet<string> = new Set(['id', 'cache_control', 'tool_use_id', 'signature'])

/** What only the server can read is counted by a rule of its own. */
const notText: ReadonlySet<string> = new Set([...unsaid, 'encrypted_content', 'encrypted_index', 'data'])

const spokenRoles: readonly Role[] = ['system', 'user', 'assistant']

function roleOf(kind: BlockKind, speaker: string): Role {
  if (kind === 'result') return 'tool'
  if (kind === 'start') return 'other'
  return spokenRoles.find((role) => role === speaker) ?? 'other'
}

function saysNothing({ content, media }: Said): boolean {
  return media.length === 0 && content.every(({ text }) => withoutReminders(text).trim() === '')
}

function toolsOf(entry: JsonObject, holder: JsonObject | null): Pick<MessageFacts, 'survives' | 'toolNames'> {
  if (holder === null && tellsRoomLeft(entry)) return { survives: 'last' }
  const survives = holder === null ? changesTools(entry['content']) : holdsTools(entry)
  if (!survives) return {}
  const toolNames = namedTools(entry)
  return {
    survives: entry['type'] === 'tool_result' ? 'each-with-call' : 'each',
    ...(toolNames.length === 0 ? {} : { toolNames }),
  }
}

/** Within an entry marks stand at blocks, and at blocks of a result. */
function marksIn(entry: JsonObject): Pick<MessageFacts, 'cacheMarks'> {
  const marks = [entry, ...objectsOf(entry['content'])].flatMap((part) => cacheTtlOf(part['cache_control']))
  return marks.length === 0 ? {} : { cacheMarks: marks }
}

function callOf({ id, name }: JsonObject, argumentsText: string): ParsedMessage['calls'][number] {
  return { id: stringOr(id, ''), name: stringOr(name, ''), argumentsText }
}

/** What a block or message says: a text or parts. */
function contentOfBlock(kind: BlockKind, entry: JsonObject): unknown {
  if (kind === 'said' && !('role' in entry)) return [entry]
  return entry['content']
}

function* meaningOf(
  kind: BlockKind,
  entry: JsonObject,
  digest: Digest,
  unreadBytes: (text: string) => number,
): Pausable<Said | null> {
  const read: Said = { content: [], media: [] }
  if (saysContent(kind, entry)) {
    const parts = contentParts(contentOfBlock(kind, entry))
    if (!(yield* addSaid(read, parts, digest, unreadBytes))) return null
  } else if (kind !== 'thought' && kind !== 'call') {
    const said = stringifyJson(entry, unsaid)
    if (said === null) return null
    read.content.push({ kind: stringOr(entry['type'], ''), text: said })
  }
  return read
}

/** What counts of an entry beside its text and its call, and is never rewritten. */
function uncutOf(kind: BlockKind, entry: JsonObject): string {
  if (kind === 'thought') return stringOr(entry['thinking'], '')
  if (kind === 'start') return stringOr(entry['content'], '')
  if (kind === 'done')
    return [stringifyJson(withoutFound(entry), notText) ?? '', ...foundTexts(entry)].join('\n')
  const isWhole = kind === 'setting' || kind === 'unknown' || (kind === 'result' && !saysContent(kind, entry))
  return isWhole ? (stringifyJson(entry, notText) ?? '') : ''
}

/** Thoughts that are not shown weigh what their signature does, in which they stand; shown ones weigh their text. */
function opaqueOf(kind: BlockKind, entry: JsonObject): number {
  if (kind === 'done') return encryptedCharacters(entry)
  const { thinking, signature, data } = entry
  if (kind !== 'thought' || stringOr(thinking, '') !== '') return 0
  return stringOr(signature, stringOr(data, '')).length
}
