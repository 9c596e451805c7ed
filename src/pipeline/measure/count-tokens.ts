import { lruCache } from '../../lru-cache.ts'
import { spansAround, textWithout } from '../billing-line.ts'
import type { Chat, ConversationTokens, MessageTokens, RecallOffer } from '../request.ts'
import type { LRUCache } from 'lru-cache'
import { isParsedAtOnce } from '../../json/body-scan.ts'
import type { ValueSpan } from '../../json/body-spans.ts'
import { type JsonObject, parseJson, parseJsonText } from '../../json/json-value.ts'
import { referencesIn } from '../../compaction/history/calls/find-references.ts'
import { keptPassages } from '../../compaction/history/kept-passages.ts'
import { readForm, readMessage, textOfForm } from '../../compaction/history/read-message.ts'
import { sum } from '../../compaction/history/size-sums.ts'
import type { Message, MessageFacts, Role } from '../../conversation/message.ts'
import type { BodyEdit } from '../../formats/contract.ts'
import { shownTools, toolsInForce } from '../../formats/deferred-tools.ts'
import type { Steps } from '../../json/source.ts'
import type { TokenCounter } from '../../tokens/bpe-counter.ts'
import { mediaTokens } from '../../tokens/media-tokens.ts'
import {
  allMediaTokens,
  inlineThoughts,
  messageTokens,
  PRIMING_TOKENS,
  textSteps,
  uncutTokens,
} from '../../tokens/message-tokens.ts'
import { plainSchemaTokens, plainToolsTokens, schemaTokens, toolsTokens } from '../../tokens/tools-tokens.ts'
import { hiddenTokens, isSampled, sampledTokens, unreadTokens } from '../../tokens/unread-tokens.ts'
import { digest } from '../read/body-source.ts'
import { drive } from '../../scheduling/drive.ts'
import type { Subject } from '../../compaction/history/subject.ts'

export type CountRequest = {
  readonly chat: Chat
  readonly counter: TokenCounter
  readonly encoding: string
  readonly model: string
  /** Whose conversation it is. */
  readonly scope: string
  /** A tool that is offered behind the client's; null where none is. */
  readonly addedTool: RecallOffer | null
}

/** Counts conversations; remembers how many tokens a message and a list of tools have. */
export function createTokenCounting(): (request: CountRequest) => Promise<ConversationTokens> {
  const known: KnownCounts = lruCache(WAYS_MAX)
  const lists = new WeakMap<readonly Message[], CountList>()
  const aroundSizes = lruCache<Surroundings>(AROUND_ENTRIES_MAX)

  return async function count(request) {
    const { chat, counter, encoding, model, scope } = request
    const { messages, sizes, sampled } = withoutCompacted(
      await drive(messageCounts(request, known, lists)),
      chat,
    )
    const tools = await drive(toolsAndSchema(request, aroundSizes))
    const beside = await drive(systemBeside(request, aroundSizes))
    const { dialect, source, structure, grewFrom } = chat
    const memorySpace = `${scope} ${encoding} ${model}`
    const readable = { ...chat, memorySpace, digest, countSteps: counter.countSteps }
    const references = await drive(referencesIn(readable))
    const kept = await drive(keptPassages(readable))
    const system = sizes.slice(0, chat.structure.systemCount).reduce((total, tokens) => total + tokens, 0)
    return {
      subject: {
        dialect,
        source,
        messages: chat.messages,
        structure,
        grewFrom,
        references,
        kept,
        omitted: NOTHING_OMITTED,
        sizes,
        mediaSizes: (index) =>
          (chat.messages[index]?.facts.media ?? []).map((media) => mediaTokens(media, model)),
        boundTokens: (index) => messages[index]?.boundTokens ?? 0,
        count: counter.count,
        countSteps: counter.countSteps,
        digest,
        memorySpace,
      },
      aroundTokens: system + beside + PRIMING_TOKENS + tools.tokens,
      toolsTokens: tools.tokens,
      toolsMarginTokens: tools.marginTokens,
      perMessage: messages,
      sampledMessages: sampled.length,
    }
  }
}

/** @internal exported for tests. How much less a message of so many tokens weighs without the thoughts in it that are bound; 0 if it holds none. */
export function* boundTokens(
  subject: Pick<Subject, 'source' | 'dialect'>,
  message: Message,
  tokens: number,
  counter: TokenCounter,
  model: string,
): Steps<number> {
  if (message.facts.bound !== 'part') return 0
  const form = yield* readForm(subject, message, true)
  const unread = yield* unreadTokens(subject.source, message, counter.countSteps)
  const left = yield* messageTokens(form.parsed, message.facts, counter, model)
  return Math.max(0, tokens - left - hiddenTokens(message, unread, textOfForm(form)))
}

// --- internal ---

/** Lists of tools and schemas whose size is remembered. */
const AROUND_ENTRIES_MAX = 1024

/** By the way of counting, and not a list of ways for each message: of those there are many. */
type KnownCounts = LRUCache<string, WeakMap<MessageFacts, MessageTokens>>

/** Encodings, and for messages with media models. */
const WAYS_MAX = 256

/** The counts of a conversation's messages under one encoding and model. */
type CountList = {
  readonly countedAs: string
  readonly messages: readonly MessageTokens[]
  readonly sizes: readonly number[]
  /** Which of them were counted by samples. */
  readonly sampled: readonly number[]
}

/** Whose words are no doing of the model's. */
const givers: ReadonlySet<Role | undefined> = new Set(['system', 'developer', 'user'])

const NONE: readonly never[] = []
const NONE_NAMED: ReadonlySet<string> = new Set()

const NOTHING_OMITTED: ReadonlySet<number> = new Set()

const NOTHING: MessageTokens = { tokens: 0, mediaTokens: 0, thoughtTokens: 0, boundTokens: 0 }

/** Known messages taken over between two pauses. */
const MESSAGES_PER_STEP = 4_096

/**
 * The counts of what the model is shown: the server's own compaction stands for all that was done before it. What users and
 * operators have said there it may show beside it.
 */
function withoutCompacted(counts: CountList, { messages, structure }: Chat): CountList {
  const { unkeyedCount, systemCount } = structure
  if (systemCount === unkeyedCount) return counts
  const isShown = (index: number): boolean =>
    index >= systemCount - 1 || givers.has(messages[index]?.facts.role)
  return {
    ...counts,
    messages: counts.messages.map((each, index) => (isShown(index) ? each : NOTHING)),
    sizes: counts.sizes.map((size, index) => (isShown(index) ? size : 0)),
  }
}

/** Takes over what is known of the conversation that this one grew from. */
function* messageCounts(
  { chat, counter, encoding, model }: CountRequest,
  known: KnownCounts,
  lists: WeakMap<readonly Message[], CountList>,
): Steps<CountList> {
  const { messages, grewFrom } = chat
  const listAs = `${encoding} ${model}`
  const own = lists.get(messages)
  if (own?.countedAs === listAs) return own
  const before = grewFrom === null ? undefined : lists.get(grewFrom.messages)
  const shared = before?.countedAs === listAs ? (grewFrom?.shared ?? 0) : 0
  const perMessage = before?.messages.slice(0, shared) ?? []
  const sizes = before?.sizes.slice(0, shared) ?? []
  const sampled = before?.sampled.filter((index) => index < shared) ?? []
  for (let index = shared; index < messages.length; index += 1) {
    const message = messages[index]
    if (message === undefined) break
    const { facts } = message
    // Only media are counted differently from model to model.
    const countedAs = facts.media.length === 0 ? encoding : `${encoding} ${model}`
    let counted = known.get(countedAs)?.get(facts)
    if (counted === undefined) {
      const parsed = yield* readMessage(chat, message)
      const inline = facts.role === 'assistant' ? yield* inlineThoughts(parsed.text) : ''
      const inlineTokens = yield* counter.countSteps(inline)
      const unread = yield* unreadTokens(chat.source, message, counter.countSteps)
      const tokens = (yield* messageTokens(parsed, facts, counter, model)) + sum(unread)
      counted = {
        tokens,
        mediaTokens: yield* allMediaTokens(facts.media, model),
        thoughtTokens:
          (yield* uncutTokens(parsed, counter.countSteps)) +
          hiddenTokens(message, unread, parsed.uncut) +
          inlineTokens,
        boundTokens: yield* boundTokens(chat, message, tokens, counter, model),
      }
      remember(known, countedAs, facts, counted)
      yield
    }
    perMessage.push(counted)
    sizes.push(counted.tokens)
    if (isSampled(message)) sampled.push(index)
    if (index % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
  }
  const list = { countedAs: listAs, messages: perMessage, sizes, sampled }
  lists.set(messages, list)
  return list
}

function remember(known: KnownCounts, countedAs: string, facts: MessageFacts, counted: MessageTokens): void {
  const ofFacts = known.get(countedAs) ?? new WeakMap<MessageFacts, MessageTokens>()
  known.set(countedAs, ofFacts.set(facts, counted))
}

/** The tokens of tools and of a response schema. */
type Surroundings = {
  /** As the model is shown it. */
  readonly tokens: number
  /** How much more it costs where it is put into the prompt as JSON. */
  readonly marginTokens: number
}

function* toolsAndSchema(request: CountRequest, known: LRUCache<string, Surroundings>): Steps<Surroundings> {
  const { tools, legacyTools, schema } = request.chat.body
  const toolCounts = { shown: toolsTokens, plain: plainToolsTokens }
  const named = toolsInForce(request.chat.messages.flatMap(({ facts }) => facts.toolNames ?? NONE))
  let tokens = 0
  let marginTokens = 0
  for (const [span, counts] of [
    [tools, toolCounts],
    [legacyTools, toolCounts],
    [schema, { shown: schemaTokens, plain: plainSchemaTokens }],
  ] as const) {
    if (span === null) continue
    const added = span === tools ? request.addedTool : null
    const counted = yield* countSpan(request, { span, added, line: null, named }, counts, known)
    tokens += counted.tokens
    marginTokens += counted.marginTokens
  }
  return { tokens, marginTokens }
}

/** How a value is counted: as the model is shown it, and as JSON. */
type CountValue = {
  readonly shown: (value: unknown, counter: TokenCounter, model: string) => Steps<number>
  readonly plain: (value: unknown, counter: TokenCounter) => Steps<number>
}

/** What is said as the operator's beside the history. */
function* systemBeside(request: CountRequest, known: LRUCache<string, Surroundings>): Steps<number> {
  const { body, dialect } = request.chat
  if (body.system === null) return 0
  const count = (value: unknown, counter: TokenCounter): Steps<number> =>
    textSteps(dialect.bodies.systemText(value), counter.countSteps)
  return (yield* countSpan(
    request,
    { span: body.system, added: null, line: body.billingLine },
    { shown: count, plain: count },
    known,
  )).tokens
}

function* countSpan(
  { chat, counter, encoding, model, scope }: CountRequest,
  {
    span,
    added,
    line,
    named = NONE_NAMED,
  }: {
    readonly span: ValueSpan
    readonly added: RecallOffer | null
    readonly line: BodyEdit | null
    readonly named?: ReadonlySet<string>
  },
  { shown, plain }: CountValue,
  known: LRUCache<string, Surroundings>,
): Steps<Surroundings> {
  // The model decides how tools are shown to it.
  let hash = ''
  for (const part of spansAround(span, line))
    hash += part === null ? '' : yield* chat.source.hashSteps(part.start, part.end)
  const key = `${scope} ${encoding} ${model} ${hash} ${added?.name ?? ''} ${[...named].toSorted().join()}`
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const counted = { tokens: 0, marginTokens: 0 }
  if (isParsedAtOnce(span)) {
    // A line for billing, which is another one each time, would have all of it counted anew.
    const parsed =
      line === null ? parseJson(chat.source, span) : parseJsonText(textWithout(line, chat.source, span))
    const value = shownWith(added?.tool ?? null, shownTools(parsed, named))
    counted.tokens = yield* shown(value, counter, model)
    counted.marginTokens = Math.max(0, (yield* plain(value, counter)) - counted.tokens)
  } else {
    // Counted as the JSON that it is, in pieces: no model's own way of showing it saves much of so much.
    counted.tokens = yield* sampledTokens(chat.source, span, counter.countSteps)
  }
  known.set(key, counted)
  return counted
}

function shownWith(added: JsonObject | null, value: unknown): unknown {
  return added !== null && Array.isArray(value) ? [...(value as readonly unknown[]), added] : value
}
