import { openDice, seedOf } from '../../../src/demo/dice.ts'
import { sampleSource } from '../../../src/demo/sample-text.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import {
  OUTPUT_TOKENS,
  rawMessage,
  readRecordings,
  requestPoints,
  type RawMessage,
  type Recording,
} from '../replay/recordings.ts'
import { png } from '../../support/images.ts'
import { madeTalks } from './made-talks.ts'
import { keyOf, type Prompt } from './true-count.ts'
import type { UsageKind } from './usage-kinds.ts'

/** Which conversations there are. */
export type Source = {
  /** Null: made ones. */
  readonly folder: string | null
  readonly file: string | null
}

/** How many of them are walked, and how far. */
export type Sampling = {
  /** So many conversations, files and conversations of a file taking turns. */
  readonly talksMax: number
  /** Of each, so many requests at most: half of them the first ones, where most is yet unknown, the others spread evenly. */
  readonly requestsMax: number
}

/** The conversations of a source by file, each file there, and short ones joined to a long one as a file of their own. */
export function talksBy(source: Source): ReadonlyMap<string, readonly Recording[]> {
  const key = JSON.stringify(source)
  const read = known.get(key) ?? readTalks(source)
  known.set(key, read)
  return read
}

/** Those whose turn it is: one of each file before a second one of any. */
export function chosen(
  talks: ReadonlyMap<string, readonly Recording[]>,
  { talksMax, requestsMax }: Sampling,
  turn: number,
): readonly Recording[] {
  const files = [...talks.values()]
  const count = Math.min(
    talksMax,
    files.reduce((sum, { length }) => sum + length, 0),
  )
  const found = Array.from({ length: count }, (_, index) => {
    const place = turn * count + index
    const file = files[place % files.length] ?? []
    return file[Math.floor(place / files.length) % file.length]
  })
  return [...new Set(found)]
    .filter((talk) => talk !== undefined)
    .map((talk) => ({ ...talk, points: thinned(talk.points, requestsMax) }))
}

/** The same conversation as a client sends it that adds more than text. */
export function withAdded(talk: Recording, added: UsageKind['added']): Recording {
  if (added === null) return talk
  const messages = talk.messages.map(({ text, message }, index): RawMessage => {
    const changed = changedMessage(message, index, added)
    return changed === message ? { text, message } : rawMessage(JSON.stringify(changed))
  })
  return { ...talk, messages }
}

/** What a server would have to count of its requests, by the number of their messages. */
export function promptsOf({ messages, tools }: Recording): (point: number) => Prompt {
  const all = messages.map(({ text, message }) => ({ message, key: keyOf(text) }))
  const around = { tools: tools === '' ? undefined : (JSON.parse(tools) as unknown), toolsKey: keyOf(tools) }
  return (point) => ({ ...around, messages: all.slice(0, point) })
}

/** The request that carries the first so many messages. */
export function requestBody(
  { messages, before, after }: Recording,
  point: number,
  { model, stream }: { readonly model: string; readonly stream: 'no' | 'bare' | 'with-usage' },
): { readonly text: string; readonly outputTokens: number } {
  const recorded: unknown = JSON.parse(`{${before}}`)
  const members: Members = { ...(isObject(recorded) ? recorded : {}), model }
  const texts = messages.slice(0, point).map(({ text }) => text)
  const streaming = {
    stream: stream !== 'no',
    ...(stream === 'with-usage' && { stream_options: { include_usage: true } }),
  }
  const head = JSON.stringify({ ...members, ...streaming }).slice(0, -1)
  const text = `${head},"messages":[${texts.join(',')}],${after}}`
  const isLimited = /"max(_completion)?_tokens":/.test(after)
  const own = Number(members['max_completion_tokens'] ?? members['max_tokens'] ?? 0)
  return { text, outputTokens: isLimited ? OUTPUT_TOKENS : own }
}

// --- internal ---

type Members = Record<string, unknown>

/** Files of which no conversation has more characters are joined as well. */
const SHORT_CHARS_MAX = 80_000
/** About 60,000 tokens of English. */
const JOINED_CHARS_MAX = 240_000
/** Every so many messages of a user carry a picture. */
const PICTURE_EVERY = 3

const picture = {
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${png(1024, 1024).toString('base64')}` },
}

const known = new Map<string, ReadonlyMap<string, readonly Recording[]>>()

function readTalks({ folder, file }: Source): ReadonlyMap<string, readonly Recording[]> {
  const all = folder === null ? madeTalks() : readRecordings(folder, file)
  const byFile = Map.groupBy(all, (talk) => talk.file)
  for (const [name, talks] of byFile) {
    const isShort = talks.length > 1 && talks.every((talk) => charsOf(talk.messages) <= SHORT_CHARS_MAX)
    if (isShort) byFile.set(`${name}, joined`, [joined(talks)])
  }
  return byFile
}

/** One after the other as one conversation, with the first one's system messages and tools. */
function joined(talks: readonly Recording[]): Recording {
  const [first, ...others] = talks
  if (first === undefined) throw new Error('there is nothing to join')
  const messages = [...first.messages]
  for (const talk of others) {
    if (charsOf(messages) > JOINED_CHARS_MAX) break
    messages.push(...talk.messages.filter(({ message }) => message['role'] !== 'system'))
  }
  return { ...first, id: 'joined', messages, points: [...requestPoints(messages), messages.length] }
}

function charsOf(messages: readonly RawMessage[]): number {
  return messages.reduce((sum, { text }) => sum + text.length, 0)
}

/** At most so many: half of them from the beginning, the others evenly spread, the last one among them. */
function thinned(points: readonly number[], countMax: number): readonly number[] {
  if (points.length <= countMax) return points
  const first = points.slice(0, Math.floor(countMax / 2))
  const later = points.slice(first.length)
  const count = countMax - first.length
  const spread = Array.from(
    { length: count },
    (_, index) => later[Math.ceil(((index + 1) * later.length) / count) - 1] ?? 0,
  )
  return [...first, ...spread]
}

function changedMessage(message: Members, index: number, added: NonNullable<UsageKind['added']>): Members {
  const { role, content } = message
  if (added === 'images') {
    if (role !== 'user' || typeof content !== 'string' || index % PICTURE_EVERY !== 0) return message
    return { ...message, content: [{ type: 'text', text: content }, picture] }
  }
  if (role !== 'assistant') return message
  const dice = openDice(seedOf(JSON.stringify(message)))
  const thought = sampleSource(dice, 3 + dice.below(20))
  if (added === 'thoughts') return { ...message, reasoning_content: thought }
  return typeof content === 'string'
    ? { ...message, content: `<think>${thought}</think>${content}` }
    : message
}
