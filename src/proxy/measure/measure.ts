import { LRUCache } from 'lru-cache'
import { lowestThresholdTokens } from '../compaction/advance.ts'
import type { Room } from '../compaction/policy.ts'
import type { Subject } from '../compaction/subject.ts'
import type { MessageFacts } from '../conversation/message.ts'
import { parseMessage } from '../conversation/parse.ts'
import type { Span, Steps } from '../conversation/source.ts'
import type { StatedWindow } from '../overflow/classification.ts'
import type { TokenCounter } from '../pressure/bpe-counter.ts'
import { encodingFor, loadCounter } from '../pressure/encodings.ts'
import { mediaTokens } from '../pressure/media-tokens.ts'
import { messageTokens, PRIMING_TOKENS } from '../pressure/message-tokens.ts'
import { budgetOf, needsNoCount, nominalUp, pressureOf, reserveFor } from '../pressure/pressure.ts'
import { startingRatio } from '../pressure/ratio.ts'
import { schemaTokens, toolsTokens } from '../pressure/tools-tokens.ts'
import { resolveWindow, type ResolvedWindow } from '../pressure/window.ts'
import type { Profile } from '../profiles/schema.ts'
import { digest } from './body-source.ts'
import { drive } from './drive.ts'
import type { Chat } from './read-chat.ts'

/** How a request presses against its model's window. */
export type Measure = {
  readonly window: ResolvedWindow
  /** The provider's tokens for one of ours. */
  readonly ratio: number
  /** Window less reserve, in our tokens. */
  readonly budgetTokens: number
  /** The counted conversation; null where counting was not needed. */
  readonly counted: Counted | null
  /** Own count of the prompt as it came in; an upper bound where nothing was counted. */
  readonly incomingTokens: number
  /** Prompt divided by budget. */
  readonly pressure: number
}

/** The window of a measured request; null where it is a guess, by which no answer may be judged. */
export function knownWindow(measure: Measure | null): StatedWindow | null {
  if (measure === null || measure.window.source === 'default') return null
  return { tokens: measure.window.tokens, kind: measure.window.kind }
}

export type Counted = { readonly subject: Subject; readonly nominal: Room; readonly actual: Room }

export type MeasureRequest = {
  readonly chat: Chat
  readonly profile: Profile
  readonly model: string
  readonly learnt: StatedWindow | null
  /** Whose conversation it is. */
  readonly scope: string
  /** Counted whatever the size: a stride stands, or one is asked for. */
  readonly mustCount: boolean
}

export type MeasureOptions = {
  /** Called with a model whose window is not known and had to be guessed. */
  readonly onGuess: (model: string) => void
}

/** Measures requests; remembers what a message and a list of tools weighed. */
export function createMeasure(options: MeasureOptions): (request: MeasureRequest) => Promise<Measure> {
  const sizes = new WeakMap<MessageFacts, Map<string, number>>()
  const aroundSizes = new LRUCache<string, number>({ max: AROUND_ENTRIES_MAX })

  return async function measure(request) {
    const { chat, profile, model } = request
    const configured = { configuredTokens: configuredWindow(profile), maxTokens: profile.window.max, model }
    const window = resolveWindow({ ...configured, learnt: request.learnt })
    if (window.source === 'default') options.onGuess(model)
    const ratio = profile.window.ratio ?? startingRatio(model)
    const reserve = reserveFor({
      requestLimitTokens: chat.completion.outputLimit?.tokens ?? null,
      profileReserveTokens: profile.window.output_reserve,
    })
    const budgetTokens = budgetIn(window, reserve, ratio)
    if (!request.mustCount && isSmall(chat, profile, budgetTokens)) {
      const incomingTokens = chat.bytes.length
      return {
        window,
        ratio,
        budgetTokens,
        counted: null,
        incomingTokens,
        pressure: pressureOf(incomingTokens, budgetTokens),
      }
    }

    const encoding = profile.window.encoding === 'auto' ? encodingFor(model) : profile.window.encoding
    const counter = await loadCounter(encoding)
    const subject = await drive(subjectOf(request, counter, encoding, sizes))
    const system = sum(subject.sizes, 0, chat.structure.systemCount)
    const aroundTokens =
      system +
      PRIMING_TOKENS +
      (await drive(toolsAndSchema(chat, counter, `${request.scope} ${encoding}`, aroundSizes)))
    const actual: Room = { budgetTokens, aroundTokens, slackTokens: 0 }
    const nominal = nominalRoom(resolveWindow({ ...configured, learnt: null }), reserve, ratio, aroundTokens)
    const incomingTokens = aroundTokens + sum(subject.sizes, chat.structure.systemCount, subject.sizes.length)
    return {
      window,
      ratio,
      budgetTokens,
      counted: { subject, nominal, actual },
      incomingTokens,
      pressure: pressureOf(incomingTokens, budgetTokens),
    }
  }
}

// --- internal ---

/** Lists of tools and schemas whose size is remembered. */
const AROUND_ENTRIES_MAX = 1024

function configuredWindow(profile: Profile): number | null {
  return profile.window.tokens === 'auto' ? null : profile.window.tokens
}

function budgetIn(window: ResolvedWindow, reserveTokens: number, ratio: number): number {
  const budget = budgetOf({ windowTokens: window.tokens, kind: window.kind, reserveTokens })
  return Math.max(1, Math.floor(budget / ratio))
}

/**
 * The numbers that past strides are derived with: no learnt window, and reserve and surroundings rounded
 * up, so that one request's odd limit or one more tool moves nothing that lies in the past.
 */
function nominalRoom(window: ResolvedWindow, reserve: number, ratio: number, aroundTokens: number): Room {
  const exact = budgetIn(window, reserve, ratio)
  const budgetTokens = budgetIn(window, nominalUp(reserve, window.tokens), ratio)
  const around = nominalUp(aroundTokens, Math.floor(window.tokens / ratio))
  return { budgetTokens, aroundTokens: around, slackTokens: exact - budgetTokens + around - aroundTokens }
}

/** Whether nothing has to be counted, because the body's bytes alone stay below every threshold. */
function isSmall(chat: Chat, profile: Profile, budgetTokens: number): boolean {
  const { every, limit, preview, render } = profile
  const looksAtEachMessage = preview.at === 0 || (render.enabled && render.at === 0)
  const looksAtCounts = every.turns > 0 || every.tool_calls > 0 || limit.turns > 0 || limit.messages > 0
  if (looksAtEachMessage || looksAtCounts) return false
  return needsNoCount({
    bodyBytes: chat.bytes.length,
    // The budget is in our tokens, so the provider's ratio is in it already.
    ratio: 1,
    triggerTokens: lowestThresholdTokens(profile, budgetTokens, 0),
    hasMedia: chat.messages.some(({ facts }) => facts.media.length > 0),
  })
}

function* subjectOf(
  { chat, model, scope }: MeasureRequest,
  counter: TokenCounter,
  encoding: string,
  known: WeakMap<MessageFacts, Map<string, number>>,
): Steps<Subject> {
  const sizes: number[] = []
  for (const message of chat.messages) {
    const { facts } = message
    // Only media weigh differently from model to model.
    const countedAs = facts.media.length === 0 ? encoding : `${encoding} ${model}`
    const counts = known.get(facts) ?? new Map<string, number>()
    let size = counts.get(countedAs)
    if (size === undefined) {
      size = yield* messageTokens(parseMessage(chat.source, message), facts, counter, model)
      counts.set(countedAs, size)
      known.set(facts, counts)
      yield
    }
    sizes.push(size)
  }
  return {
    source: chat.source,
    messages: chat.messages,
    structure: chat.structure,
    sizes,
    mediaSizes: (index) =>
      (chat.messages[index]?.facts.media ?? []).map((media) => mediaTokens(media, model)),
    count: counter.count,
    digest,
    memorySpace: `${scope} ${encoding} ${model}`,
  }
}

function* toolsAndSchema(
  chat: Chat,
  counter: TokenCounter,
  memorySpace: string,
  known: LRUCache<string, number>,
): Steps<number> {
  const { tools, functions, responseFormat } = chat.completion
  let tokens = 0
  for (const [span, weigh] of [
    [tools, toolsTokens],
    [functions, toolsTokens],
    [responseFormat, schemaTokens],
  ] as const) {
    if (span !== null) tokens += yield* weighed(chat, span, weigh, counter, memorySpace, known)
  }
  return tokens
}

function* weighed(
  chat: Chat,
  span: Span,
  weigh: (value: unknown, counter: TokenCounter) => Steps<number>,
  counter: TokenCounter,
  memorySpace: string,
  known: LRUCache<string, number>,
): Steps<number> {
  const key = `${memorySpace} ${chat.source.hash(span.start, span.end)}`
  const size = known.get(key)
  if (size !== undefined) return size
  const counted = yield* weigh(JSON.parse(chat.source.text(span.start, span.end)), counter)
  known.set(key, counted)
  return counted
}

function sum(sizes: readonly number[], start: number, end: number): number {
  let total = 0
  for (let index = start; index < end; index += 1) total += sizes[index] ?? 0
  return total
}
