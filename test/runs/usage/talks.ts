import { openDice, seedOf } from '../../../src/commands/demo/dice.ts'
import { sampleSource } from '../../../src/commands/demo/tools.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { png } from '../../support/images.ts'
import { longConversation } from '../../support/long-conversation.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import {
  madeRecording,
  OUTPUT_TOKENS,
  rawMessage,
  type RawMessage,
  readRecordings,
  type Recording,
  requestPoints,
  spread,
  textsBefore,
  toolsIn,
} from '../harness/recordings.ts'
import { sumOf } from '../harness/table.ts'
import { keyOf, type Prompt, type UsageKind } from './usage-kinds.ts'

export type Source = { readonly folder: string | null; readonly file: string | null }

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
  const count = Math.min(talksMax, files.flat().length)
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
  const around = { tools: toolsIn({ tools }), toolsKey: keyOf(tools) }
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
  const texts = textsBefore({ messages }, point)
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

const charsOf = (messages: readonly RawMessage[]): number => sumOf(messages, ({ text }) => text.length)

/** At most so many: half of them from the beginning, the others evenly spread, the last one among them. */
function thinned(points: readonly number[], countMax: number): readonly number[] {
  if (points.length <= countMax) return points
  const first = points.slice(0, Math.floor(countMax / 2))
  return [...first, ...spread(points.slice(first.length), countMax - first.length)]
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

/** What is walked where no folder is named: runs of coding agents, a talk about code, one in Chinese. */
const madeTalks = (): readonly Recording[] => [
  madeTalk('made-agent', longRun(60, 11)),
  madeTalk('made-agent', longRun(40, 12, 2)),
  madeTalk('made-talk', longConversation()),
  madeTalk('made-chinese', chineseTalk()),
]

const TURNS = 60

const sentences = [
  '请帮我看一下昨天的订单，客户说包裹还没有送到。',
  '仓库的记录显示货物已经在星期三发出，但是物流公司没有更新状态。',
  '我们可以先联系司机，再决定是否给客户退款。',
  '如果今天下午五点之前没有消息，就按照规定重新发货。',
  '这位客户以前也遇到过类似的问题，所以请语气客气一些。',
  '新的地址是和平路一百二十三号，电话号码没有变化。',
]

function chineseTalk(): readonly TestMessage[] {
  const dice = openDice(13)
  const said = (count: number) =>
    Array.from({ length: count }, () => sentences[dice.below(sentences.length)]).join('')
  const turns = Array.from({ length: TURNS }, (): readonly TestMessage[] => [
    { role: 'user', content: `${dice.hex(4)}：${said(1 + dice.below(3))}` },
    { role: 'assistant', content: said(4 + dice.below(10)) },
  ])
  const system = { role: 'system', content: '你是一家网店的客服。' } as const
  return [system, ...turns.flat(), { role: 'user', content: '谢谢。' }]
}

function madeTalk(file: string, conversation: readonly object[]): Recording {
  const messages = conversation.map((message) => rawMessage(JSON.stringify(message)))
  return madeRecording(file, `${file} of ${messages.length} messages`, messages)
}
