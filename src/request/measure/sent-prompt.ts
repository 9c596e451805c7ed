import type { Chat, Counted, Measure, Form } from '../request.ts'
import { sumsOf } from '../../compaction/size-sums.ts'
import { writeCompaction, type Compaction } from '../../compaction/compaction.ts'
import {
  expectedTokens,
  type Anchor,
  type SentBeginning,
  type SentCount,
  type SentPrompt,
} from '../../models/counts/prompt.ts'
import { digest } from '../read/body-source.ts'
import { bytesIn } from '../send/outgoing-body.ts'

/** What the provider should count of a prompt of so many of our tokens, in its own. */
export function expectedPromptTokens(measure: Measure, form: Form, ownTokens = form.sentTokens): number {
  return expectedTokens(ownTokens, measure.rate, anchorFor(measure, form))
}

/** The same as far as it was measured: a form that was not is taken at our own count. */
export function promptTokensOf(measure: Measure | null, form: Form, ownTokens = form.sentTokens): number {
  return measure === null ? ownTokens : expectedPromptTokens(measure, form, ownTokens)
}

export function describeSent(chat: Chat, scope: string, measure: Measure, form: Form): SentPrompt {
  const compaction = form.compacted?.compaction ?? null
  return {
    prompt: promptName(chat, scope, compaction, chat.messages.length),
    encoding: measure.counting.encoding,
    beginnings: describeBeginnings(measure.counted, promptBeginnings(chat, scope, compaction)),
    textBytes: bytesIn(form.pieces) - mediaCharacters(chat, form),
    counted: measure.counted === null ? null : countOf(measure, measure.counted, form),
  }
}

/** The request points whose prompts are beginnings of what is sent under a compaction, the longest first. */
export function promptBeginnings(
  chat: Chat,
  scope: string,
  compaction: Compaction | null,
): readonly { readonly point: number; readonly prompt: string }[] {
  const under = compactionName(chat, scope, compaction)
  return chat.structure.requestPoints
    .slice(-POINTS_BACK_MAX)
    .filter((point) => compaction === null || point >= compaction.point)
    .toReversed()
    .map((point) => ({ point, prompt: named(under, chat, point) }))
}

// --- internal ---

/** How far back a prompt is looked for that the provider has counted: mostly it is the one before. */
const POINTS_BACK_MAX = 16

function countOf(measure: Measure, counted: Counted, form: Form): SentCount {
  const { rate, familyRatio } = measure
  return {
    ownTokens: form.sentTokens,
    aroundTokens: counted.aroundTokens,
    looseTokens: looseTokens(counted, form),
    conversationTokens: counted.conversationTokens,
    ratio: rate.ratio,
    ratioMin: Math.min(rate.ratio, familyRatio),
    toolsTokens: counted.toolsTokens,
    messageTokens: messageTokens(counted, form),
    anchor: anchorFor(measure, form),
  }
}

/** The provider's count is known of the view of the newest compaction, and of no other. */
function anchorFor({ counted }: Measure, { compacted }: Form): Anchor | null {
  if (counted === null || (compacted?.compaction ?? null) !== counted.compaction) return null
  return counted.anchor
}

function describeBeginnings(
  counted: Counted | null,
  points: ReturnType<typeof promptBeginnings>,
): readonly SentBeginning[] {
  const loose = looseSums(counted?.weights ?? [])
  const all = sumsOf(counted?.subject.sizes ?? [])
  const text = (until: number): number => (all[until] ?? 0) - (loose[until] ?? 0)
  return points.map(({ point, prompt }) => ({
    prompt,
    counted:
      counted === null
        ? null
        : { addedTextTokens: text(counted.weights.length) - text(point), looseTokens: loose[point] ?? 0 },
  }))
}

/** At each index, what the media and thoughts before it weigh. */
function looseSums(weights: Counted['weights']): Float64Array {
  const sums = new Float64Array(weights.length + 1)
  for (let index = 0; index < weights.length; index += 1)
    sums[index + 1] = (sums[index] ?? 0) + looseOf(weights[index])
  return sums
}

function looseOf(weight: Counted['weights'][number] | undefined): number {
  return weight === undefined ? 0 : weight.mediaTokens + weight.thoughtTokens
}

function messageTokens({ subject }: Counted, { compacted }: Form): readonly number[] {
  const { systemCount } = subject.structure
  if (compacted === null) return subject.sizes.slice(systemCount)
  return compacted.view.messages.slice(systemCount).map(({ tokens }) => tokens)
}

/** Media and thoughts in what was sent: what was folded or made anew holds neither. */
function looseTokens({ weights }: Counted, { compacted }: Form): number {
  const kept =
    compacted === null
      ? weights
      : compacted.view.messages.flatMap(({ item }) =>
          item.kind === 'kept' ? (weights[item.index] ?? []) : [],
        )
  return kept.reduce((sum, weight) => sum + looseOf(weight), 0)
}

/** Names the prompt that is sent for the first `point` messages under a compaction; null: as they came. */
function promptName(chat: Chat, scope: string, compaction: Compaction | null, point: number): string {
  return named(compactionName(chat, scope, compaction), chat, point)
}

function named(under: string, chat: Chat, point: number): string {
  return `${under} ${chat.keys[point] ?? ''}`
}

function compactionName(chat: Chat, scope: string, compaction: Compaction | null): string {
  if (compaction === null) return scope
  const written = writeCompaction(compaction, chat.structure.systemCount)
  return `${scope} ${digest(`${chat.keys[compaction.point] ?? ''} ${written}`)}`
}

/** How much of what was sent is base64. */
function mediaCharacters(chat: Chat, { compacted }: Form): number {
  const kept =
    compacted === null
      ? chat.messages
      : compacted.view.messages.flatMap(({ item }) =>
          item.kind === 'kept' ? (chat.messages[item.index] ?? []) : [],
        )
  let bytes = 0
  for (const { facts } of kept) for (const media of facts.media) bytes += media.dataBytes
  return Math.ceil((bytes * 4) / 3)
}
