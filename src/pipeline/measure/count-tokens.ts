import { lruCache } from '../../caches.ts'
import { spansAround, textWithout } from '../billing-line.ts'
import type { Chat, ConversationTokens, MessageTokens, RecallOffer } from '../request.ts'
import type { LRUCache } from 'lru-cache'
import { isParsedAtOnce } from '../../json/body-scan.ts'
import type { ValueSpan } from '../../json/body-spans.ts'
import { parseJsonText } from '../../json/json-value.ts'
import { referencesIn } from '../../compaction/history/calls/find-references.ts'
import { keptPassages } from '../../compaction/history/kept-passages.ts'
import { readForm, readMessage, textOfForm } from '../../compaction/history/read-message.ts'
import { sum, sumOf } from '../../conversation/sizes.ts'
import type { Message, MessageFacts, Role } from '../../conversation/message.ts'
import { systemText } from '../../formats/content/content-parts.ts'
import { shownTools, toolsInForce } from '../../formats/tool-lists.ts'
import type { Pausable } from '../../json/source.ts'
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
import { hiddenTokens, isSampled, sampledTokens, skippedTokens } from '../../tokens/skipped-tokens.ts'
import { digest } from '../read/read-chat.ts'
import { runInSlices } from '../../scheduling/drive.ts'
import type { History } from '../../compaction/history/history.ts'

/** How a conversation is counted. */
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
  const messageCounts: MessageCounts = lruCache(WAYS_MAX)
  const valueCounts: ValueCounts = lruCache<Weight>(VALUES_MAX)

  return async function count(request) {
    const { chat, counter, encoding, model, scope } = request
    const { dialect, source, messages, structure, grewFrom } = chat
    const perMessage = await runInSlices(countMessages(request, messageCounts))
    const sizes = perMessage.map(({ tokens }) => tokens)
    const tools = await runInSlices(toolsAndSchema(request, valueCounts))
    const beside = await runInSlices(systemBeside(request, valueCounts))
    const memorySpace = `${scope} ${encoding} ${model}`
    const readable = { ...chat, memorySpace, digest, countSteps: counter.countSteps }
    return {
      history: {
        dialect,
        source,
        messages,
        structure,
        grewFrom,
        references: await runInSlices(referencesIn(readable)),
        kept: await runInSlices(keptPassages(readable)),
        omitted: NONE_OMITTED,
        sizes,
        mediaSizes: (index) => (messages[index]?.facts.media ?? []).map((media) => mediaTokens(media, model)),
        boundTokens: (index) => perMessage[index]?.boundTokens ?? 0,
        count: counter.count,
        countSteps: counter.countSteps,
        digest,
        memorySpace,
      },
      aroundTokens: sumOf(sizes, 0, structure.systemCount) + beside + PRIMING_TOKENS + tools.tokens,
      toolsTokens: tools.tokens,
      toolsMarginTokens: tools.marginTokens,
      perMessage,
      sampledMessages: messages.reduce((sampled, message) => sampled + (isSampled(message) ? 1 : 0), 0),
    }
  }
}

/** @internal exported for tests. How much less a message of so many tokens weighs without the thoughts in it that are bound; 0 if it holds none. */
export function* boundTokens(
  history: Pick<History, 'source' | 'dialect'>,
  message: Message,
  tokens: number,
  counter: TokenCounter,
  model: string,
): Pausable<number> {
  if (message.facts.bound !== 'part') return 0
  const form = yield* readForm(history, message, true)
  const skipped = yield* skippedTokens(history.source, message, counter.countSteps)
  const left = yield* messageTokens(form.parsed, message.facts, counter, model)
  return Math.max(0, tokens - left - hiddenTokens(message, skipped, textOfForm(form)))
}

/** Of a message that the model is not shown. */
export const NOTHING_COUNTED: MessageTokens = { tokens: 0, mediaTokens: 0, thoughtTokens: 0, boundTokens: 0 }

// --- internal ---

/** What messages weigh, by the way of counting: of messages there are many, of ways few. */
type MessageCounts = LRUCache<string, WeakMap<MessageFacts, MessageTokens>>

/** Encodings, and for messages with media models. */
const WAYS_MAX = 256

/** What lists of tools, schemas and system prompts weigh that stand beside the history. */
type ValueCounts = LRUCache<string, Weight>

const VALUES_MAX = 1024

type Weight = {
  /** As the model is shown it. */
  readonly tokens: number
  /** How much more it costs where it is put into the prompt as JSON. */
  readonly marginTokens: number
}

/** Whose words are no doing of the model's. */
const givers: ReadonlySet<Role | undefined> = new Set(['system', 'developer', 'user'])

const NONE_NAMED: ReadonlySet<string> = new Set()
const NONE_OMITTED: ReadonlySet<number> = new Set()

/** Known messages looked up between two pauses. */
const MESSAGES_PER_STEP = 4_096

/**
 * The counts of what the model is shown: the server's own compaction stands for all that was done before it. What users and
 * operators have said there it may show beside it.
 */
function* countMessages(request: CountRequest, known: MessageCounts): Pausable<readonly MessageTokens[]> {
  const { chat, encoding, model } = request
  const { unkeyedCount, systemCount } = chat.structure
  const isCompacted = (index: number): boolean =>
    systemCount !== unkeyedCount && index < systemCount - 1 && !givers.has(chat.messages[index]?.facts.role)
  // Only media are counted differently from model to model.
  const plain = countsOf(known, encoding)
  const withMedia = countsOf(known, `${encoding} ${model}`)
  const counts: MessageTokens[] = []
  for (const [index, message] of chat.messages.entries()) {
    const { facts } = message
    const countsByFacts = facts.media.length === 0 ? plain : withMedia
    let counted = countsByFacts.get(facts)
    if (counted === undefined) {
      counted = yield* countMessage(request, message)
      countsByFacts.set(facts, counted)
      yield
    }
    counts.push(isCompacted(index) ? NOTHING_COUNTED : counted)
    if (index % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
  }
  return counts
}

function countsOf(known: MessageCounts, way: string): WeakMap<MessageFacts, MessageTokens> {
  const counts = known.get(way) ?? new WeakMap<MessageFacts, MessageTokens>()
  known.set(way, counts)
  return counts
}

function* countMessage({ chat, counter, model }: CountRequest, message: Message): Pausable<MessageTokens> {
  const { facts } = message
  const { countSteps } = counter
  const parsed = yield* readMessage(chat, message)
  const inline = facts.role === 'assistant' ? yield* inlineThoughts(parsed.text) : ''
  const inlineTokens = yield* countSteps(inline)
  const skipped = yield* skippedTokens(chat.source, message, countSteps)
  const tokens = (yield* messageTokens(parsed, facts, counter, model)) + sum(skipped)
  const uncut = (yield* uncutTokens(parsed, countSteps)) + hiddenTokens(message, skipped, parsed.uncut)
  return {
    tokens,
    mediaTokens: yield* allMediaTokens(facts.media, model),
    thoughtTokens: uncut + inlineTokens,
    boundTokens: yield* boundTokens(chat, message, tokens, counter, model),
  }
}

/** How a value is counted: as the model is shown it, and as JSON. */
type CountValue = {
  readonly shown: (value: unknown, counter: TokenCounter, model: string) => Pausable<number>
  readonly plain: (value: unknown, counter: TokenCounter) => Pausable<number>
}

const asTools: CountValue = { shown: toolsTokens, plain: plainToolsTokens }
const asSchema: CountValue = { shown: schemaTokens, plain: plainSchemaTokens }

function* toolsAndSchema(request: CountRequest, known: ValueCounts): Pausable<Weight> {
  const { tools, legacyTools, schema } = request.chat.body
  const named = toolsInForce(request.chat.messages.flatMap(({ facts }) => facts.toolNames ?? []))
  const weights = [
    yield* countValue(request, tools, asTools, known, named, request.addedTool),
    yield* countValue(request, legacyTools, asTools, known, named),
    yield* countValue(request, schema, asSchema, known, named),
  ]
  return {
    tokens: sum(weights.map(({ tokens }) => tokens)),
    marginTokens: sum(weights.map(({ marginTokens }) => marginTokens)),
  }
}

/** What is said as the operator's beside the history. */
function* systemBeside(request: CountRequest, known: ValueCounts): Pausable<number> {
  const { body } = request.chat
  const count = { shown: countSystem, plain: countSystem }
  return (yield* countValue(request, body.system, count, known)).tokens
}

function countSystem(value: unknown, counter: TokenCounter): Pausable<number> {
  return textSteps(systemText(value), counter.countSteps)
}

function* countValue(
  { chat, counter, encoding, model, scope }: CountRequest,
  span: ValueSpan | null,
  { shown, plain }: CountValue,
  known: ValueCounts,
  named = NONE_NAMED,
  added: RecallOffer | null = null,
): Pausable<Weight> {
  if (span === null) return { tokens: 0, marginTokens: 0 }
  // A line for billing, which is another one each time, would have all of it counted anew.
  const line = span === chat.body.system ? chat.body.billingLine : null
  let hash = ''
  for (const part of spansAround(span, line))
    hash += part === null ? '' : yield* chat.source.hashSteps(part.start, part.end)
  // The model decides how tools are shown to it.
  const key = `${scope} ${encoding} ${model} ${hash} ${added?.name ?? ''} ${[...named].toSorted().join()}`
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  let [tokens, marginTokens] = [0, 0]
  if (isParsedAtOnce(span)) {
    const value = shownTools(parseJsonText(textWithout(line, chat.source, span)), named)
    const whole: unknown = added !== null && Array.isArray(value) ? [...value, added.tool] : value
    tokens = yield* shown(whole, counter, model)
    marginTokens = Math.max(0, (yield* plain(whole, counter)) - tokens)
  } else {
    // Counted as the JSON that it is, in pieces: no model's own way of showing it saves much of so much.
    tokens = yield* sampledTokens(chat.source, span, counter.countSteps)
  }
  const weight = { tokens, marginTokens }
  known.set(key, weight)
  return weight
}
