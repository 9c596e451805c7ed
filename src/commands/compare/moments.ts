import type { Explanation, FindWindow } from '../../admin/explain/explanation.ts'
import { spliceMessages } from '../../json/splice.ts'
import { type Dice, openDice } from '../demo/dice.ts'
import type { Dialect } from '../../formats/contract.ts'
import { FoldgateError, InvariantError } from '../../errors.ts'
import type { Profile } from '../../profiles/schema.ts'
import type { Chat } from '../../pipeline/request.ts'
import { bytesOf } from '../../pipeline/send/outgoing-body.ts'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { errorCode } from '../../config/yaml-file.ts'
import { isJsonObject, type JsonObject, parseJsonText } from '../../json/json-value.ts'
import { dialects } from '../../formats/formats.ts'

/** A recorded request that a compaction changes. */
export type RecordedMoment = {
  /** The same for all moments that begin alike. */
  readonly conversation: string
  readonly dialect: Dialect
  readonly model: string
  readonly profile: string
  /** Null for the default one. */
  readonly upstream: string | null
  readonly full: Buffer
  /** What Foldgate would send for it. */
  readonly compacted: Buffer
  /** The sizes of their prompts, in the model's tokens as far as they are known. */
  readonly tokens: { readonly full: number; readonly compacted: number }
  /** Whether nobody knows the window that it has to fit into in full. */
  readonly isGuess: boolean
}

export type FindOptions = {
  /** What would be sent for a body. */
  readonly explain: (body: Buffer) => Promise<Explanation>
  /** As they are set: their windows are those that requests in full have to fit into, replies included. */
  readonly profiles: ReadonlyMap<string, Profile>
  readonly findWindow: FindWindow
  readonly outputTokens: number
  readonly read: (body: Buffer) => Promise<Chat>
  readonly pairs: number
  readonly seed: number
}

/**
 * Finds moments at which a compaction stands between what is recorded and what would be sent: as many as are wanted, where
 * there are so many, of each conversation in turn, in an order by the seed. Nothing is sent. `unread`: what could not be read,
 * and why.
 */
export async function findMoments(recorded: readonly Recorded[], options: FindOptions) {
  const { read, seed, pairs } = options
  const unread: string[] = []
  const conversations = new Map<string, Chat[]>()
  for (const { where, body } of recorded) {
    try {
      const chat = await read(body)
      const key = `${chat.dialect.name} ${chat.keys[chat.structure.requestPoints[0] ?? 0]}`
      conversations.set(key, [...(conversations.get(key) ?? []), chat])
    } catch (error) {
      if (!(error instanceof FoldgateError)) throw error
      unread.push(`${where}: ${error.message}`)
    }
  }
  const dice = openDice(seed)
  const moments: RecordedMoment[] = []
  let drawing = shuffled([...conversations], dice).map(([key, chats]) => momentsOf(key, chats, dice, options))
  while (drawing.length > 0 && moments.length < pairs) {
    const left: typeof drawing = []
    for (const conversation of drawing) {
      if (moments.length === pairs) break
      const { value } = await conversation.next().catch((error: unknown) => {
        if (!(error instanceof InvariantError)) throw error
        // A fault of ours in one conversation is no reason not to compare the others.
        unread.push(`a conversation: Foldgate failed to compact it (${error.message})`)
        return { value: undefined }
      })
      if (value === undefined) continue
      moments.push(value)
      left.push(conversation)
    }
    drawing = left
  }
  return { moments, conversations: conversations.size, unread }
}

/** What stands in files, and in the JSON files of folders; and what of it is of no use, and why. */
export async function readRecorded(
  paths: readonly string[],
  model: string | null,
): Promise<{ readonly recorded: readonly Recorded[]; readonly unread: readonly string[] }> {
  const recorded: Recorded[] = []
  const unread: string[] = []
  for (const path of paths) {
    try {
      const files = (await stat(path)).isDirectory() ? await filesBelow(path) : [path]
      if (files.length === 0) unread.push(`${path}: ${archiveAdvice(path, 'it has no .jsonl or .json file')}`)
      for (const file of files) {
        for (const { where, text } of rowsOf(file, await readFile(file, 'utf8'))) {
          const body = bodyOf(text, model)
          if ('body' in body) recorded.push({ where, ...body })
          else unread.push(`${where}: ${archiveAdvice(file, body.problem)}`)
        }
      }
    } catch (error) {
      const code = errorCode(error)
      const trouble = code === 'ENOENT' ? 'there is no such file or folder' : `it cannot be read (${code})`
      unread.push(`${path}: ${trouble}`)
    }
  }
  return { recorded, unread }
}

// --- internal ---

/** The body of a request, made of what was recorded. */
type Recorded = {
  /** Its file, and its place there. */
  readonly where: string
  readonly body: Buffer
}

type Point = { readonly chat: Chat; readonly index: number }

/** The moments of one conversation, in an order by the dice. They are made one by one: each is two large bodies. */
async function* momentsOf(
  conversation: string,
  chats: readonly Chat[],
  dice: Dice,
  options: FindOptions,
): AsyncGenerator<RecordedMoment, undefined> {
  const explained = (point: Point): Promise<Explanation> => options.explain(bodyAt(point))
  async function fitting(told: Explanation, { chat }: Point) {
    const profile = options.profiles.get(told.profile.name)
    if (profile === undefined) return null
    const { tokens, kind, source } = await options.findWindow(profile, told.model, chat.body.windowTokens)
    const replyTokens = kind === 'total' ? options.outputTokens : 0
    const fullTokens = Math.ceil(told.tokens.received.total * told.ratio)
    if (fullTokens + replyTokens > tokens) return null
    return { fullTokens, upstream: profile.upstream, isGuess: source === 'default' }
  }
  const points = pointsOf(chats)
  // Once compacted a conversation stays so, and it only grows: what is of use is one run of its points.
  const first = await firstAt(points, async (point) => isChanged(await explained(point)))
  const later = points.slice(first)
  const end = await firstAt(later, async (point) => (await fitting(await explained(point), point)) === null)
  for (const point of shuffled(later.slice(0, end), dice)) {
    const told = await explained(point)
    const fit = await fitting(told, point)
    // Branches of a conversation do not grow from each other.
    if (!isChanged(told) || fit === null) continue
    const { upstream, isGuess } = fit
    yield {
      conversation,
      dialect: point.chat.dialect,
      model: told.model,
      profile: told.profile.name,
      upstream,
      isGuess,
      full: bodyAt(point),
      compacted: told.body,
      tokens: { full: fit.fullTokens, compacted: told.would.sent_tokens * told.ratio },
    }
  }
}

const isChanged = ({ would }: Explanation): boolean => would.action === 'compacted' && would.passes.length > 0

/** Where requests were made, the shortest first. One that several recordings have in common is one. */
function pointsOf(chats: readonly Chat[]): readonly Point[] {
  const byKey = new Map<string, Point>()
  for (const chat of chats.toSorted((one, other) => other.messages.length - one.messages.length)) {
    const { requestPoints } = chat.structure
    // Recordings of a growing conversation begin with each other.
    if (byKey.has(chat.keys.at(-1) ?? '')) continue
    for (const index of requestPoints) {
      // Behind its last reply nothing was asked.
      if (chat.messages[index - 1]?.facts.role === 'assistant') continue
      const key = chat.keys[index] ?? ''
      if (!byKey.has(key)) byKey.set(key, { chat, index })
    }
  }
  return [...byKey.values()].toSorted((one, other) => one.index - other.index)
}

/** The request as it was made there: everything around the messages as it is recorded. */
function bodyAt({ chat, index }: Point): Buffer {
  const items = Array.from({ length: index }, (_, at) => ({ kind: 'kept' as const, index: at }))
  return bytesOf(chat.bytes, spliceMessages(chat.messages, items, chat.body.history, chat.bytes.length))
}

/** The first of these points of which something holds, as it does of all behind it; their number if it holds of none. */
async function firstAt(points: readonly Point[], holds: (point: Point) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, points.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const point = points[middle]
    if (point !== undefined && (await holds(point))) high = middle
    else low = middle + 1
  }
  return low
}

function shuffled<Each>(all: readonly Each[], dice: Dice): Each[] {
  const left = [...all]
  return all.flatMap(() => left.splice(dice.below(left.length), 1))
}

const recordings: ReadonlySet<string> = new Set(['.jsonl', '.ndjson', '.json'])

async function filesBelow(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true })
  return names
    .filter((name) => recordings.has(extname(name)))
    .toSorted()
    .map((name) => join(folder, name))
}

/** A file that is one value of JSON, a list of them, or one on each line. */
function rowsOf(file: string, text: string): readonly { readonly where: string; readonly text: string }[] {
  const whole = parseJsonText(text)
  if (Array.isArray(whole))
    return whole.map((row, at) => ({ where: `${file}[${at}]`, text: JSON.stringify(row) }))
  if (whole !== undefined) return [{ where: file, text }]
  return text
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [{ where: `${file}:${at + 1}`, text: line }]))
}

/** A request keeps its bytes. Of what a recorder has made only the fields go along that a request may have. */
function bodyOf(
  text: string,
  model: string | null,
): { readonly body: Buffer } | { readonly problem: string } {
  const row = parseJsonText(text)
  if (!isJsonObject(row)) return { problem: 'it is no JSON object' }
  if (!hasHistory(row)) {
    const inner = [row['body'], row['request']].find((value) => isJsonObject(value) && hasHistory(value))
    if (inner !== undefined) return bodyOf(JSON.stringify(inner), model)
    return { problem: 'it has neither messages nor input, as a conversation or the body of a request has' }
  }
  const named = typeof row['model'] === 'string' ? row['model'] : model
  if (named === null) return { problem: 'it names no model: say which by --model NAME' }
  const fields = Object.entries(row).filter(([key]) => key !== 'model' && isKnownField(key))
  if (row['model'] === named && fields.length === Object.keys(row).length - 1)
    return { body: Buffer.from(text) }
  return { body: Buffer.from(JSON.stringify({ model: named, ...Object.fromEntries(fields) })) }
}

const hasHistory = ({ messages, input }: JsonObject): boolean =>
  Array.isArray(messages) || Array.isArray(input)

/** What a recorder calls usage is that of the answer. */
const isKnownField = (key: string): boolean =>
  key !== 'usage' && dialects.some(({ bodies }) => bodies.knownFields.has(key))

/** The archive is what people think of first, and holds no requests. */
const archiveAdvice = (path: string, problem: string): string =>
  extname(path) === '.md' || /archive/.test(path)
    ? `${problem}. Foldgate’s archive holds what compactions took away, and no whole requests: record those at the client`
    : problem
