import type { Chat, Form, PreparedRequest } from '../request.ts'
import { type MessageTreatment, outlineOf } from '../../compaction/outline.ts'
import type { ViewMessage } from '../../compaction/view/view-message.ts'
import type { BodyPiece } from '../../json/splice.ts'
import { isJsonObject, parseJson, parseJsonText } from '../../json/json-value.ts'
import { systemText } from '../../formats/content/content-parts.ts'
import { parseEntry } from '../../formats/entry-facts.ts'
import { sum, sumOf } from '../../conversation/sizes.ts'
import { PRIMING_TOKENS } from '../../tokens/message-tokens.ts'
import type { HeldMessages, HeldOutline, HeldText, Opening } from '../../telemetry/request-report.ts'

/** The messages of a request as they came and as they were sent. `form`: the one that was sent last, or was to be. */
export function heldMessages(request: PreparedRequest, form: Form): HeldMessages {
  const { chat, compacted } = form
  // If the client's own bytes take the place of repaired ones, what was counted is not what is sent.
  const sizes = chat === request.chat ? (request.measure?.counted?.history.sizes ?? null) : null
  const outline = heldOutline(chat, sizes, compacted, form.pieces, aroundOf(request))
  return {
    outline,
    texts: () => textsOf(outline.read(), chat, compacted?.view.messages ?? null),
    opening: () => openingOf(chat),
    // The bytes, and what was made of them.
    bytes: chat.bytes.length + outline.bytes,
  }
}

// --- internal ---

/** What the facts and the size of a message take, about. */
const MESSAGE_BYTES = 500

const unsent: ReadonlySet<MessageTreatment['treatment']> = new Set([
  'folded',
  'dropped',
  'outdated',
  'joined',
])

/** Its own function: what it returns must not keep the body in memory. */
function heldOutline(
  { messages, structure, dialect }: Chat,
  sizes: readonly number[] | null,
  compacted: Form['compacted'],
  pieces: readonly BodyPiece[],
  around: HeldOutline['around'],
): HeldOutline {
  const madeCharacters = sum(pieces.map((piece) => (typeof piece === 'string' ? piece.length : 0)))
  const { entryName } = dialect
  return {
    entryName,
    around,
    byteSizes: () => messages.map(({ facts }) => facts.bytes),
    read: () => outlineOf({ messages, structure, sizes }, compacted),
    bytes: messages.length * MESSAGE_BYTES + 2 * madeCharacters,
  }
}

/** Tools, and what is said as the operator's beside the messages: leading system messages stand among those. */
function aroundOf({ chat, measure }: PreparedRequest): HeldOutline['around'] {
  const { tools, legacyTools, system } = chat.body
  const counted = measure?.counted ?? null
  const leading =
    counted === null ? 0 : sumOf(counted.history.sizes, 0, counted.history.structure.systemCount)
  const systemTokens =
    counted === null ? null : counted.aroundTokens - counted.toolsTokens - PRIMING_TOKENS - leading
  return {
    tools: { tokens: counted?.toolsTokens ?? null, bytes: bytesOf(tools) + bytesOf(legacyTools) },
    system: { tokens: systemTokens, bytes: bytesOf(system) },
  }
}

function bytesOf(span: { readonly start: number; readonly end: number } | null): number {
  return span === null ? 0 : span.end - span.start
}

function textsOf(
  outline: readonly MessageTreatment[],
  { dialect, messages, source }: Chat,
  views: readonly ViewMessage[] | null,
): readonly HeldText[] {
  const sentByIndex = new Map((views ?? []).map((view) => [view.index, view]))
  const standIns = (views ?? []).values().filter(({ index }) => index === null)
  const madeText = (json: string): string => {
    const entry = parseJsonText(json)
    return isJsonObject(entry) ? dialect.entries.parse(entry).text : ''
  }
  return outline.map(({ index, treatment }) => {
    const message = index === null ? undefined : messages[index]
    if (index === null || message === undefined) {
      const item = standIns.next().value?.item
      const json = item?.kind === 'made' ? item.json : null
      const sentText = json === null ? null : madeText(json)
      return { received: null, sent: json, receivedText: null, sentText, calls: [] }
    }
    const received = source.text(message.start, message.end)
    const { text, calls } = parseEntry(dialect, source, message)
    const came = { received, receivedText: text, calls }
    if (unsent.has(treatment)) return { ...came, sent: null, sentText: null }
    const item = sentByIndex.get(index)?.item
    if (item?.kind !== 'made') return { ...came, sent: received, sentText: text }
    return { ...came, sent: item.json, sentText: madeText(item.json) }
  })
}

/** By what a person knows a conversation again: the first words of its task, and the folder that its client works in. */
function openingOf({ dialect, source, body, messages }: Chat): Opening {
  let words: string | null = null
  const beside = body.system === null ? '' : systemText(parseJson(source, body.system))
  let folder = folderIn(beside)
  for (const message of messages.slice(0, LOOKED_AT)) {
    const { role } = message.facts
    if (role !== 'user' && role !== 'system' && role !== 'developer') continue
    const { text } = parseEntry(dialect, source, message)
    folder ??= folderIn(text)
    if (role === 'user') words ??= wordsOf(text)
    if (words !== null && folder !== null) break
  }
  return { words, folder }
}

/** Messages among which the task is looked for: clients send what they know of themselves and the machine first. */
const LOOKED_AT = 20

/** A long text begins with what it is about. */
const READ_CHARS_MAX = 50_000

const WORDS_CHARS_MAX = 100
const FOLDER_CHARS_MAX = 300

/** What a client puts before the user's words: blocks in tags, and a heading above one. */
const besideWords = /^\s*(?:#[^\n]*\s*)?<([a-z][\w-]{0,60})(?:\s[^<>]{0,200})?>[^]*?<\/\1>/i

const folderMarks = [/<cwd>([^<\n]+)<\/cwd>/, /\bworking directory: *([^\n]+)/i]

/** Null if it says nothing beside what the client put there. */
function wordsOf(text: string): string | null {
  let rest = text.slice(0, READ_CHARS_MAX)
  for (let found = besideWords.exec(rest); found !== null; found = besideWords.exec(rest))
    rest = rest.slice(found[0].length)
  const words = rest.slice(0, READ_CHARS_MAX).trim().replaceAll(/\s+/g, ' ')
  if (words.length <= WORDS_CHARS_MAX) return words === '' ? null : words
  // Between two words if there is a place.
  const cut = words.slice(0, WORDS_CHARS_MAX)
  const blank = cut.lastIndexOf(' ')
  return `${(blank > WORDS_CHARS_MAX / 2 ? cut.slice(0, blank) : cut).toWellFormed()}…`
}

function folderIn(text: string): string | null {
  const read = text.slice(0, READ_CHARS_MAX)
  for (const mark of folderMarks) {
    const folder = mark.exec(read)?.[1]?.trim().slice(0, FOLDER_CHARS_MAX)
    if (folder !== undefined && folder !== '') return folder
  }
  return null
}
