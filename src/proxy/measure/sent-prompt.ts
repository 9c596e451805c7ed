import { writeStride, type Stride } from '../../compaction/stride.ts'
import { expectedTokens } from '../../pressure/calibration/expected.ts'
import type { Anchor, CountedPrompt } from '../../pressure/calibration/prompt.ts'
import { digest } from '../request/body-source.ts'
import type { Chat } from '../request/read-chat.ts'
import type { Prepared } from '../rewrite.ts'
import { bytesIn } from '../send/outgoing-body.ts'
import type { Counted, Measure } from './measure.ts'

/** A prompt that was sent, as far as it is compared with what the provider says of it. Holds nothing of its content. */
export type SentPrompt = {
  /** Under which a longer prompt finds it again. */
  readonly prompt: string
  /** Its beginnings, the longest first, and what the reply to each took in bytes. */
  readonly beginnings: readonly { readonly prompt: string; readonly replyBytes: number }[]
  /** The bytes that were sent, without what media took of them. */
  readonly textBytes: number
  /** Null where it was not counted. */
  readonly counted: SentCount | null
}

export type SentCount = CountedPrompt & {
  /** The provider's tokens for one of ours: as far as is known, and at the least. */
  readonly ratio: number
  readonly ratioMin: number
  /** Tools and schemas, in our tokens. */
  readonly toolsTokens: number
  /** What of it both have counted before; null where nothing. */
  readonly anchor: Anchor | null
}

/** What the provider should count of a prompt of so many of our tokens, in its own. */
export function expectedPromptTokens(
  measure: Measure,
  prepared: Prepared,
  ownTokens = prepared.sentTokens,
): number {
  return expectedTokens(ownTokens, measure.rate, anchorFor(measure, prepared))
}

export function describeSent(chat: Chat, scope: string, measure: Measure, prepared: Prepared): SentPrompt {
  const stride = prepared.compacted?.stride ?? null
  return {
    prompt: promptName(chat, scope, stride, chat.messages.length),
    beginnings: promptBeginnings(chat, scope, stride).map(({ point, prompt }) => {
      const next = chat.messages[point]?.facts
      return { prompt, replyBytes: next?.role === 'assistant' ? next.bytes : 0 }
    }),
    textBytes: bytesIn(prepared.pieces) - mediaCharacters(chat),
    counted: measure.counted === null ? null : countOf(measure, measure.counted, prepared),
  }
}

/** The request points whose prompts are beginnings of what is sent under a stride, the longest first. */
export function promptBeginnings(
  chat: Chat,
  scope: string,
  stride: Stride | null,
): readonly { readonly point: number; readonly prompt: string }[] {
  const under = strideName(chat, scope, stride)
  return chat.structure.requestPoints
    .filter((point) => stride === null || point >= stride.point)
    .slice(-POINTS_BACK_MAX)
    .toReversed()
    .map((point) => ({ point, prompt: `${under} ${chat.keys[point] ?? ''}` }))
}

// --- internal ---

/** How far back a prompt is looked for that the provider has counted: mostly it is the one before. */
const POINTS_BACK_MAX = 16

function countOf(measure: Measure, counted: Counted, prepared: Prepared): SentCount {
  const { rate, familyRatio } = measure
  return {
    ownTokens: prepared.sentTokens,
    aroundTokens: counted.aroundTokens,
    looseTokens: looseTokens(counted, prepared),
    conversationTokens: counted.conversationTokens,
    ratio: rate.ratio,
    ratioMin: Math.min(rate.ratio, familyRatio),
    toolsTokens: counted.toolsTokens,
    anchor: anchorFor(measure, prepared),
  }
}

/** The provider's count is known of the view of the newest stride, and of no other. */
function anchorFor({ counted }: Measure, { compacted }: Prepared): Anchor | null {
  if (counted === null || (compacted?.stride ?? null) !== counted.stride) return null
  return counted.anchor
}

/** Media and thoughts in what was sent: what was folded or made anew holds neither. */
function looseTokens({ weights }: Counted, { compacted }: Prepared): number {
  const kept =
    compacted === null
      ? weights
      : compacted.view.messages.flatMap(({ item }) =>
          item.kind === 'kept' ? (weights[item.index] ?? []) : [],
        )
  return kept.reduce((sum, weight) => sum + weight.mediaTokens + weight.thoughtTokens, 0)
}

/** Names the prompt that is sent for the first `point` messages under a stride; null: as they came. */
function promptName(chat: Chat, scope: string, stride: Stride | null, point: number): string {
  return `${strideName(chat, scope, stride)} ${chat.keys[point] ?? ''}`
}

function strideName(chat: Chat, scope: string, stride: Stride | null): string {
  if (stride === null) return scope
  const written = writeStride(stride, chat.structure.systemCount)
  return `${scope} ${digest(`${chat.keys[stride.point] ?? ''} ${written}`)}`
}

/** How much of a body is base64; a view may hold less of it, which errs on the side of less text. */
function mediaCharacters(chat: Chat): number {
  let bytes = 0
  for (const { facts } of chat.messages) for (const media of facts.media) bytes += media.dataBytes
  return Math.ceil((bytes * 4) / 3)
}
