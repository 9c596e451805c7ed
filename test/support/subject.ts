import { referencesIn } from '../../src/compaction/history/calls/find-references.ts'
import { keptPassages } from '../../src/compaction/history/kept-passages.ts'
import { boundTokens } from '../../src/pipeline/measure/count-tokens.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import type { History } from '../../src/compaction/history/history.ts'
import type { View } from '../../src/compaction/view/view.ts'
import { createFactsReader } from '../../src/formats/entry-facts.ts'
import { chatCompletions } from '../../src/formats/chat/chat.ts'
import { repairCalls } from '../../src/formats/repair.ts'
import type { Media, Message, MessageFacts } from '../../src/conversation/message.ts'
import { parseMessage, readMessages } from './chat-completions.ts'
import { runAtOnce, type Pausable } from '../../src/json/source.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import type { TokenCounter } from '../../src/tokens/bpe-counter.ts'
import { messageTokens } from '../../src/tokens/message-tokens.ts'
import { skippedTokens } from '../../src/tokens/skipped-tokens.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { entriesOf } from './body-limits.ts'
import { digest, sourceOf } from './source.ts'
import type { TestMessage } from './conversations.ts'

/** Three characters a token: exact enough where only the arithmetic matters, and cheap. */
export const countThirds = (text: string): number => Math.ceil(text.length / 3)

/** The same, with a pause. */
export function* countThirdsSteps(text: string): Pausable<number> {
  yield
  return countThirds(text)
}

const thirds: TokenCounter = { count: countThirds, countSteps: countThirdsSteps }

/** Images and sound weigh little, so that budgets stay small; the JSON of unknown parts weighs what it is. */
const mediumTokens = (media: Media): number => (media.kind === 'other' ? Math.ceil(media.dataBytes / 4) : 85)

/** Each message is read once; a memory of thousands takes longer to make than most conversations of tests to read. */
const REREAD_MAX = 16

/** The messages as compaction works on them, sized with `countThirds` as the proxy sizes them with an encoding. */
export const historyOf = (messages: readonly object[]): History => subjectFrom(JSON.stringify(messages))

/** The same of a JSON array as a client spelt it. */
export function subjectFrom(
  body: string,
  counter: TokenCounter = thirds,
  standIns: ReadonlySet<number> = new Set(),
): History {
  const source = sourceOf(body)
  const read = runAtOnce(
    readMessages(entriesOf(source), source, 'test', createFactsReader(digest, { entriesMax: REREAD_MAX })),
  )
  if (read === null) throw new Error('the test made messages that cannot be read')
  const mediaSizes = (index: number): readonly number[] => (read[index]?.facts.media ?? []).map(mediumTokens)
  const textSizes = read.map((message) => {
    const tokens = runAtOnce(messageTokens(parseMessage(source, message), factsOfText(message), counter, ''))
    const unread = runAtOnce(skippedTokens(source, message, counter.countSteps))
    return unread.reduce((sum, size) => sum + size, tokens)
  })
  const bound = read.map((message, index) => {
    const text = { ...message, facts: factsOfText(message) }
    return runAtOnce(
      boundTokens({ source, dialect: chatCompletions }, text, textSizes[index] ?? 0, counter, ''),
    )
  })
  const structure = runAtOnce(structureOf(read, standIns))
  const grewFrom = null
  const own = {
    dialect: chatCompletions,
    source,
    messages: read,
    structure,
    grewFrom,
    memorySpace: 'test',
    digest,
  }
  return {
    ...own,
    references: runAtOnce(referencesIn({ ...own, countSteps: counter.countSteps })),
    kept: runAtOnce(keptPassages({ ...own, countSteps: counter.countSteps })),
    sizes: textSizes.map((tokens, index) => mediaSizes(index).reduce((sum, size) => sum + size, tokens)),
    mediaSizes,
    boundTokens: (index) => bound[index] ?? 0,
    count: counter.count,
    countSteps: counter.countSteps,
    omitted: new Set(),
  }
}

/** What is counted beside media. */
const factsOfText = ({ facts }: Message): MessageFacts => ({ ...facts, media: [] })

/** A profile whose figures stories can be told with, whatever the defaults are. */
export const profileOf = (settings: object = {}): Profile => ({
  name: 'test',
  ...profileSchema.parse({ ...figures, ...settings }),
})

const figures = { trigger: 0.75, target: 0.5, keep: { recent_messages: 10 }, recap: { max_tokens: 1024 } }

/** The messages of a view as JSON texts, as the upstream receives them. */
export const viewTexts = (history: History, view: View): string[] =>
  view.messages.map(({ item }) => {
    if (item.kind === 'made') return item.json
    const message = history.messages[item.index]
    return message === undefined ? '' : history.source.text(message.start, message.end)
  })

export type Split = ReturnType<typeof splitReplies>

/**
 * The same conversation with each reply in pieces, as in dialects that send its thought, each of its texts and of its calls
 * one by one; sizes are those of the whole. `placeOf` says where each message of the whole begins, and the last one ends.
 */
export function splitReplies(conversation: readonly TestMessage[]) {
  const whole = historyOf(conversation)
  const pieces: TestMessage[] = []
  const bound = new Set<number>()
  const placeOf: number[] = []
  for (const message of conversation) {
    placeOf.push(pieces.length)
    const own = message.role === 'assistant' ? piecesOf(message) : [message]
    for (let at = 0; at < own.length - 1; at += 1) bound.add(pieces.length + at)
    pieces.push(...own)
  }
  placeOf.push(pieces.length)
  const read = historyOf(pieces)
  const messages = read.messages.map((message, index) => ({
    ...message,
    facts: { ...message.facts, joinsNext: bound.has(index) },
  }))
  const sizes = conversation.flatMap((_, index) => {
    const own = read.sizes.slice(placeOf[index], placeOf[index + 1])
    const more = (whole.sizes[index] ?? 0) - own.reduce((sum, size) => sum + size, 0)
    return own.map((size, at) => (at === own.length - 1 ? size + more : size))
  })
  return { history: { ...read, messages, structure: runAtOnce(structureOf(messages)), sizes }, placeOf }
}

/**
 * A conversation, repaired, as JSON texts; a string is a JSON array as a client spelt it. `kept` tells which messages stand
 * as they were, by their places in either; `standIns` the places of user messages that stand for results.
 */
export function repairedOf(conversation: readonly object[] | string) {
  const body = typeof conversation === 'string' ? conversation : JSON.stringify(conversation)
  const { source, messages } = subjectFrom(body)
  const found = runAtOnce(repairCalls(source, messages, chatCompletions.rules))
  const items = found?.items ?? messages.map((_, index) => ({ kind: 'kept', index }) as const)
  const textOf = (index: number): string => {
    const message = messages[index]
    return message === undefined ? '' : source.text(message.start, message.end)
  }
  return {
    texts: items.map((item) => (item.kind === 'made' ? item.json : textOf(item.index))),
    kept: new Map(items.flatMap((item, place) => (item.kind === 'kept' ? [[item.index, place]] : []))),
    standIns: found?.standIns ?? new Set<number>(),
    /** Null where nothing was broken. */
    repairs: found?.repairs ?? null,
  }
}

const piecesOf = ({
  role,
  reasoning_content: thought,
  content,
  tool_calls: calls,
}: TestMessage): TestMessage[] => [
  ...(thought === undefined ? [] : [{ role, content: '', reasoning_content: thought }]),
  ...(typeof content === 'string' ? [{ role, content }] : []),
  ...(Array.isArray(content) ? content.map((part: unknown) => ({ role, content: [part] })) : []),
  ...(Array.isArray(calls)
    ? calls.map((call: unknown) => ({ role, content: null, tool_calls: [call] }))
    : []),
]
